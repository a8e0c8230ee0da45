import {
  createPublicKey,
  ECDH,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  randomUUID,
  verify,
} from 'node:crypto'
import { type HeldEd25519, type HeldSecp256k1, holdEd25519, holdSecp256k1 } from './held-keys.ts'
import {
  type HttpService,
  type ServiceAnswer,
  type ServiceRequest,
  startHttpService,
} from './http-service.ts'

export const ORGANIZATION = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee'
export const EVM_KEY = '11111111-1111-4111-8111-111111111111'
export const ED25519_KEY = '22222222-2222-4222-8222-222222222222'
/** A wallet account of the same key of secp256k1. */
export const EVM_ACCOUNT = '0x00000000000000000000000000000000000000aa'

/** Turnkey, by its API reference: stamps, queries, and the activity that signs a raw payload. */
export interface Turnkey extends HttpService {
  readonly apiKey: { readonly publicKey: string; readonly privateKey: string }
  readonly publicKeys: { readonly secp256k1: string; readonly ed25519: string }
  /** Sets the state of the next activities. */
  setStatus(status: string): void
  /** The number of private keys that were created. */
  readonly created: () => number
  /** The number of activities that were to create keys. */
  readonly activities: () => number
}

/** A private key that an activity created. */
interface Created {
  readonly name: string
  readonly curve: string
  readonly held: HeldSecp256k1 | HeldEd25519
}

const failed = (status: number, message = 'as Turnkey says it'): ServiceAnswer => ({
  status,
  body: { code: 3, message, details: [] },
})

/** Starts a server with this secret as a key of each curve. */
export async function startTurnkey(secret: string): Promise<Turnkey> {
  const api = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '', d = '' } = api.privateKey.export({ format: 'jwk' })
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')])
  const publicKey = String(ECDH.convertKey(point, 'prime256v1', undefined, 'hex', 'compressed'))
  const [evm, ed25519] = [holdSecp256k1(secret), holdEd25519(secret)]
  const publicKeys = { secp256k1: evm.point.toString('hex'), ed25519: ed25519.point.toString('hex') }
  let status = 'ACTIVITY_STATUS_COMPLETED'

  const created = new Map<string, Created>()
  /** The activities that create keys, by their body: an equal one is the same activity. */
  const activities = new Map<string, { readonly id: string; readonly keyId: string }>()

  /** Creates a key as `v1CreatePrivateKeysIntentV2` describes it, when the activity has the consent that it needs. */
  function createPrivateKeys(body: Record<string, unknown>): ServiceAnswer {
    const { type, timestampMs, parameters, organizationId: _organization, ...unknown } = body
    const isKnown = type === 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2' && /^\d{13}$/.test(String(timestampMs))
    if (!isKnown || Object.keys(unknown).length > 0) return failed(400)
    const [wanted, ...others] = (parameters as { privateKeys: Record<string, unknown>[] }).privateKeys
    const { privateKeyName, curve, addressFormats, privateKeyTags, ...more } = wanted ?? {}
    if (others.length > 0 || Object.keys(more).length > 0) return failed(400)
    if (!Array.isArray(addressFormats) || !Array.isArray(privateKeyTags)) return failed(400)
    const known = activities.get(JSON.stringify(body))
    const activity = known ?? { id: randomUUID(), keyId: randomUUID() }
    activities.set(JSON.stringify(body), activity)
    const isDone = status === 'ACTIVITY_STATUS_COMPLETED'
    if (isDone && !created.has(activity.keyId)) {
      if ([...created.values()].some(({ name }) => name === privateKeyName)) return failed(400)
      const secret = randomBytes(32).toString('hex')
      const held = curve === 'CURVE_ED25519' ? holdEd25519(secret) : holdSecp256k1(secret)
      created.set(activity.keyId, { name: String(privateKeyName), curve: String(curve), held })
    }
    const privateKeys = [{ privateKeyId: activity.keyId, addresses: [] }]
    const result = { createPrivateKeysResultV2: { privateKeys } }
    return { status: 200, body: { activity: { id: activity.id, type, status, ...(isDone && { result }) } } }
  }

  function listPrivateKeys(): ServiceAnswer {
    const privateKeys = [...created].map(([privateKeyId, { name, curve, held }]) => ({
      ...{ privateKeyId, privateKeyName: name, curve, publicKey: held.point.toString('hex') },
      ...{ addresses: [], privateKeyTags: [], exported: false, imported: false },
    }))
    return { status: 200, body: { privateKeys } }
  }

  function getPrivateKey({ privateKeyId }: Record<string, unknown>): ServiceAnswer {
    const own = created.get(String(privateKeyId))?.held.point.toString('hex')
    const found =
      own ?? { [EVM_KEY]: publicKeys.secp256k1, [ED25519_KEY]: publicKeys.ed25519 }[String(privateKeyId)]
    if (found === undefined) return failed(404)
    return { status: 200, body: { privateKey: { privateKeyId, publicKey: found } } }
  }

  function signRawPayload(body: Record<string, unknown>): ServiceAnswer {
    const { type, timestampMs, parameters, organizationId: _organization, ...unknown } = body
    const isRecent = typeof timestampMs === 'string' && Math.abs(Date.now() - Number(timestampMs)) < 60_000
    if (type !== 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2' || !isRecent || Object.keys(unknown).length > 0)
      return failed(400)
    const { signWith, payload, encoding, hashFunction } = parameters as Record<string, unknown>
    if (encoding !== 'PAYLOAD_ENCODING_HEXADECIMAL' || typeof payload !== 'string') return failed(400)
    if (!/^([0-9a-f]{2})+$/.test(payload)) return failed(400)
    const own = created.get(String(signWith))
    const isEd25519 = signWith === ED25519_KEY || own?.curve === 'CURVE_ED25519'
    if (!own && !isEd25519 && signWith !== EVM_KEY && signWith !== EVM_ACCOUNT) return failed(404)
    if (hashFunction !== (isEd25519 ? 'HASH_FUNCTION_NOT_APPLICABLE' : 'HASH_FUNCTION_NO_OP'))
      return failed(400)
    const held = own?.held ?? (isEd25519 ? ed25519 : evm)
    const signature = held.sign(Buffer.from(payload, 'hex')).toString('hex')
    const result = { signRawPayloadResult: { r: signature.slice(0, 64), s: signature.slice(64), v: '00' } }
    const isDone = status === 'ACTIVITY_STATUS_COMPLETED'
    return { status: 200, body: { activity: { id: '1', type, status, ...(isDone && { result }) } } }
  }

  const service = await startHttpService((request) => {
    if (request.method !== 'POST' || !isStamped(request, api.publicKey, publicKey)) return failed(401)
    const body = JSON.parse(request.body)
    if (body.organizationId !== ORGANIZATION) return failed(403)
    if (request.path === '/public/v1/query/whoami')
      return { status: 200, body: { organizationId: ORGANIZATION, userId: '1', username: 'relayer' } }
    if (request.path === '/public/v1/query/get_private_key') return getPrivateKey(body)
    if (request.path === '/public/v1/query/list_private_keys') return listPrivateKeys()
    if (request.path === '/public/v1/submit/create_private_keys') return createPrivateKeys(body)
    return request.path === '/public/v1/submit/sign_raw_payload' ? signRawPayload(body) : failed(404)
  })
  return {
    ...service,
    apiKey: { publicKey, privateKey: Buffer.from(d, 'base64url').toString('hex') },
    publicKeys,
    created: () => created.size,
    activities: () => activities.size,
    setStatus: (wanted) => {
      status = wanted
    },
  }
}

/** Checks the stamp: the API key's signature in DER over the bytes of the body. */
export function isStamped(
  { headers, body }: Pick<ServiceRequest, 'headers' | 'body'>,
  key: KeyObject,
  publicKey: string,
): boolean {
  const text = Buffer.from(String(headers['x-stamp']), 'base64url').toString()
  if (!text.startsWith('{')) return false
  const stamp = JSON.parse(text) as Record<string, string>
  const isKnown = stamp.publicKey === publicKey && stamp.scheme === 'SIGNATURE_SCHEME_TK_API_P256'
  return isKnown && verify('sha256', Buffer.from(body), key, Buffer.from(stamp.signature ?? '', 'hex'))
}

/** Opens a compressed public key of P-256. */
export function openApiKey(compressed: string): KeyObject {
  const point = Buffer.from(
    ECDH.convertKey(Buffer.from(compressed, 'hex'), 'prime256v1', undefined, 'hex', 'uncompressed') as string,
    'hex',
  )
  const [x, y] = [point.subarray(1, 33).toString('base64url'), point.subarray(33).toString('base64url')]
  return createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' })
}
