import { createECDH, createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { type FieldType, text } from '../../lib/fields.ts'
import type { HttpClient, PostAnswer } from '../../lib/http/http-client.ts'
import type { Secret } from '../../security/secrets.ts'
import type { RemoteProvider, SignerFields } from '../providers/provider.ts'
import { answered, type JsonObject, objectIn, readJsonObject, textIn } from '../remote/answers.ts'
import {
  type PublicKeys,
  RemoteFault,
  type RemoteKey,
  type SignRequest,
  samePublicKeys,
} from '../remote/remote-key.ts'
import { libsecp256k1 } from '../secp256k1.ts'

/** The user of an API key, in an organization. */
export interface TurnkeyApiUser {
  readonly apiPublicKey: string
  readonly apiPrivateKey: Secret
  readonly organizationId: string
}

interface TurnkeyConfig extends TurnkeyApiUser {
  readonly privateKeyId: string
  /** In hex digits. Not in bytes: configurations are frozen, and JavaScript refuses to freeze bytes. */
  readonly publicKey: string
}

const apiPublicKey: FieldType<string> = {
  expected: 'a compressed public key of P-256: 66 hex digits',
  read: (value) => (typeof value === 'string' && /^0[23][0-9a-fA-F]{64}$/.test(value) ? value : undefined),
  blank: '',
}

const publicKey: FieldType<string> = {
  expected: 'a public key in hex digits: 32 bytes of ed25519, or 33 or 65 of secp256k1',
  read: (value) => (typeof value === 'string' && readTurnkeyPublicKey(value) ? value : undefined),
  blank: '',
}

/** A private key or a wallet account of Turnkey. */
export const turnkey: RemoteProvider<TurnkeyConfig> = {
  kind: 'remote',
  curves: ['secp256k1', 'ed25519'],
  read: (fields) => ({
    ...readApiUser(fields),
    privateKeyId: fields.get('private_key_id', text),
    publicKey: fields.get('public_key', publicKey),
  }),
  show: (config) => ({
    api_public_key: config.apiPublicKey,
    organization_id: config.organizationId,
    private_key_id: config.privateKeyId,
    public_key: config.publicKey,
  }),
  connect: async (config, context) =>
    connectTurnkey({
      ...config,
      publicKeys: readTurnkeyPublicKey(config.publicKey) ?? {},
      turnkey: createApiClient(config, context),
    }),
}

/** Reads the user of a signer's API key. */
export function readApiUser(fields: SignerFields): TurnkeyApiUser {
  return {
    apiPublicKey: fields.get('api_public_key', apiPublicKey),
    apiPrivateKey: fields.secret('api_private_key'),
    organizationId: fields.get('organization_id', text),
  }
}

/** Creates a client that calls Turnkey as this user. */
export function createApiClient(
  { apiPublicKey: publicKey, apiPrivateKey: privateKey }: TurnkeyApiUser,
  { http, timeoutMs }: Pick<TurnkeyClientDeps, 'http' | 'timeoutMs'>,
): TurnkeyClient {
  return createTurnkeyClient({ http, timeoutMs, stamper: createStamper({ publicKey, privateKey }) })
}

interface TurnkeyKeyOptions {
  readonly turnkey: TurnkeyClient
  readonly organizationId: string
  /** The id of a private key, or the address of an account of a wallet. */
  readonly privateKeyId: string
  readonly publicKeys: PublicKeys
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** For secp256k1 the digest itself is signed; Ed25519 hashes internally. */
const HASH_FUNCTIONS: Readonly<Record<SignRequest['curve'], string>> = {
  secp256k1: 'HASH_FUNCTION_NO_OP',
  ed25519: 'HASH_FUNCTION_NOT_APPLICABLE',
}

/**
 * Connects to a key of Turnkey. Its public key is configured, because Turnkey returns only that of a private
 * key, not that of a wallet account.
 */
function connectTurnkey({ turnkey, organizationId, privateKeyId, publicKeys }: TurnkeyKeyOptions): RemoteKey {
  async function checkPrivateKey(): Promise<void> {
    const answer = await turnkey('query/get_private_key', { organizationId, privateKeyId })
    const text = textIn(objectIn(answer, 'privateKey'), 'publicKey')
    if (text === '') throw new RemoteFault('unavailable', 'returned a response without a public key')
    const found = readTurnkeyPublicKey(text)
    if (found === undefined || !samePublicKeys(found, publicKeys))
      throw new RemoteFault('refused', 'has another public key than the configured public_key')
  }

  /**
   * A wallet account cannot be queried, so only the API key is checked; each signature is checked against the
   * public key anyway.
   */
  async function checkApiKey(): Promise<void> {
    const answer = await turnkey('query/whoami', { organizationId })
    if (textIn(answer, 'organizationId') !== organizationId)
      throw new RemoteFault('unavailable', 'returned a response about another organization')
  }

  return {
    name: `Turnkey key ${privateKeyId}`,
    publicKeys: async () => {
      await (UUID.test(privateKeyId) ? checkPrivateKey() : checkApiKey())
      return publicKeys
    },
    sign: async ({ curve, payload }) => {
      const answer = await turnkey('submit/sign_raw_payload', {
        type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
        timestampMs: String(Date.now()),
        organizationId,
        parameters: {
          signWith: privateKeyId,
          payload: Buffer.from(payload).toString('hex'),
          encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
          hashFunction: HASH_FUNCTIONS[curve],
        },
      })
      return signatureOf(objectIn(answer, 'activity'))
    },
  }
}

/** The sentences complete "Turnkey key … ", by the state of the activity. */
const REFUSED_ACTIVITIES: Readonly<Record<string, string>> = {
  ACTIVITY_STATUS_CONSENSUS_NEEDED:
    'needs the consent of others: a policy must let the user of the API key sign alone',
  ACTIVITY_STATUS_REJECTED: 'is denied: the activity was rejected',
  ACTIVITY_STATUS_FAILED: 'cannot sign: the activity failed',
}

function signatureOf(activity: JsonObject): Uint8Array {
  const status = textIn(activity, 'status')
  const refusal = REFUSED_ACTIVITIES[status]
  if (refusal !== undefined) throw new RemoteFault('refused', `${refusal} (${status})`)
  if (status !== 'ACTIVITY_STATUS_COMPLETED')
    throw new RemoteFault('unavailable', 'returned no signature yet')
  const result = objectIn(objectIn(activity, 'result'), 'signRawPayloadResult')
  return new Uint8Array(Buffer.from(textIn(result, 'r') + textIn(result, 's'), 'hex'))
}

const ED25519_BYTES = 32

/**
 * Reads a public key in hex digits: 32 bytes of Ed25519, or 33 or 65 of secp256k1. Returns undefined for any
 * other text.
 */
function readTurnkeyPublicKey(text: string): PublicKeys | undefined {
  const digits = /^(?:0x)?((?:[0-9a-fA-F]{2})+)$/.exec(text)?.[1]
  if (digits === undefined) return undefined
  const bytes = new Uint8Array(Buffer.from(digits, 'hex'))
  if (bytes.length === ED25519_BYTES) return { ed25519: bytes }
  try {
    return { secp256k1: libsecp256k1().publicKeyConvert(bytes, false) }
  } catch {
    return undefined
  }
}

/** Calls Turnkey with a stamp. Paths are below `/public/v1/`. */
export type TurnkeyClient = (path: string, body: object) => Promise<JsonObject>

interface TurnkeyClientDeps {
  readonly http: HttpClient
  readonly stamper: Stamper
  /** The limit of one request, in ms. */
  readonly timeoutMs: number
}

const URL_BASE = 'https://api.turnkey.com/public/v1/'

/**
 * Creates a client of the HTTP interface. Turnkey's own client has no way to stop a request, and goes past
 * the limits of this service's connections.
 */
function createTurnkeyClient({ http, stamper, timeoutMs }: TurnkeyClientDeps): TurnkeyClient {
  return async (path, content) => {
    const body = JSON.stringify(content)
    const headers = { 'content-type': 'application/json', 'x-stamp': stamper(body) }
    const answer = await answered(http.post({ url: `${URL_BASE}${path}`, headers, body, timeoutMs }))
    if (answer.status !== 200) throw failureOf(answer)
    return readJsonObject(answer.body)
  }
}

/** The sentences complete "Turnkey key … ", by status. */
const REFUSED_STATUSES: Readonly<Record<number, string>> = {
  400: 'cannot sign in this way, or does not exist in this organization',
  401: 'cannot be used: Turnkey does not accept the API key, or the clock of this machine is wrong',
  403: 'is denied: a policy of the organization must let the user of the API key sign with it',
  404: 'does not exist in this organization',
}

/** Turnkey's message can name users, so only the status is passed on. */
function failureOf({ status }: PostAnswer): RemoteFault {
  if (status === 429) return new RemoteFault('throttled', 'gets too many calls (status 429)')
  const refusal = REFUSED_STATUSES[status]
  if (refusal !== undefined) return new RemoteFault('refused', `${refusal} (status ${status})`)
  return new RemoteFault('unavailable', `returned no usable response (status ${status})`)
}

/** An API key of Turnkey: P-256, in hex digits. */
interface ApiKey {
  /** Compressed, 33 bytes. */
  readonly publicKey: string
  readonly privateKey: Secret
}

/** Makes the header X-Stamp for a body. */
type Stamper = (body: string) => string

const SCHEME = 'SIGNATURE_SCHEME_TK_API_P256'

/**
 * Creates the stamper of an API key, which Node.js does without a package. The tests compare it with
 * Turnkey's own. The first stamp throws a RemoteFault for a key that is none, or that does not belong to its
 * public key.
 */
export function createStamper({ publicKey, privateKey }: ApiKey): Stamper {
  let key: KeyObject | undefined
  return (body) => {
    key ??= openKey({ publicKey, privateKey })
    const signature = sign('sha256', Buffer.from(body), key).toString('hex')
    return Buffer.from(JSON.stringify({ publicKey, scheme: SCHEME, signature })).toString('base64url')
  }
}

const SECRET_BYTES = 32

function openKey({ publicKey, privateKey }: ApiKey): KeyObject {
  const secret = Buffer.from(privateKey.reveal(), 'hex')
  const ecdh = createECDH('prime256v1')
  try {
    if (secret.length !== SECRET_BYTES) throw new Error('a private key has 32 bytes')
    ecdh.setPrivateKey(secret)
  } catch {
    throw new RemoteFault(
      'refused',
      'cannot be used: api_private_key is not 32 bytes of a P-256 key in hex digits',
    )
  }
  if (ecdh.getPublicKey('hex', 'compressed') !== publicKey.toLowerCase())
    throw new RemoteFault('refused', 'cannot be used: api_public_key does not belong to api_private_key')
  const point = ecdh.getPublicKey()
  const encode = (part: Buffer) => part.toString('base64url')
  const [x, y, d] = [encode(point.subarray(1, 33)), encode(point.subarray(33)), encode(secret)]
  return createPrivateKey({ key: { kty: 'EC', crv: 'P-256', x, y, d }, format: 'jwk' })
}
