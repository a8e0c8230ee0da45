import { createPublicKey, ECDH, generateKeyPairSync, type KeyObject, verify } from 'node:crypto'
import { holdEd25519, holdSecp256k1 } from './held-keys.ts'
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

  function getPrivateKey({ privateKeyId }: Record<string, unknown>): ServiceAnswer {
    const found = { [EVM_KEY]: publicKeys.secp256k1, [ED25519_KEY]: publicKeys.ed25519 }[String(privateKeyId)]
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
    const isEd25519 = signWith === ED25519_KEY
    if (!isEd25519 && signWith !== EVM_KEY && signWith !== EVM_ACCOUNT) return failed(404)
    if (hashFunction !== (isEd25519 ? 'HASH_FUNCTION_NOT_APPLICABLE' : 'HASH_FUNCTION_NO_OP'))
      return failed(400)
    const signature = (isEd25519 ? ed25519 : evm).sign(Buffer.from(payload, 'hex')).toString('hex')
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
    return request.path === '/public/v1/submit/sign_raw_payload' ? signRawPayload(body) : failed(404)
  })
  return {
    ...service,
    apiKey: { publicKey, privateKey: Buffer.from(d, 'base64url').toString('hex') },
    publicKeys,
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
