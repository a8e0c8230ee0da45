import { createHash, createPrivateKey, type KeyObject, randomBytes } from 'node:crypto'
import type { Secret } from '../../security/secret.ts'
import { signJwt } from '../jwt/sign-jwt.ts'
import { RemoteFault } from '../remote/remote-key.ts'

/** The secrets of a project of the Coinbase Developer Platform. */
export interface CdpSecrets {
  readonly apiKeyId: string
  /** 64 bytes of Ed25519 in base64, or a key of P-256 in PEM. */
  readonly apiKeySecret: Secret
  /** A key of P-256: PKCS #8 in base64. */
  readonly walletSecret: Secret
}

/** A request that tokens are made for. */
export interface CdpRequest {
  readonly method: 'GET' | 'POST'
  readonly host: string
  readonly path: string
  /** Absent for a request without a body. Its keys are in the order of the alphabet, as the hash demands. */
  readonly body?: string
}

/** Makes the headers that prove who asks. */
export type CdpAuthorizer = (request: CdpRequest) => Record<string, string>

/** Coinbase's own library gives tokens this life, in seconds. */
const LIFE_S = 120

/** Creates the authorizer. The first call throws a RemoteFault for secrets that are no keys. */
export function createCdpAuthorizer({ apiKeyId, apiKeySecret, walletSecret }: CdpSecrets): CdpAuthorizer {
  let keys: { readonly api: KeyObject; readonly wallet: KeyObject } | undefined
  return ({ method, host, path, body }) => {
    keys ??= { api: openApiKey(apiKeySecret), wallet: openWalletKey(walletSecret) }
    const now = Math.floor(Date.now() / 1000)
    const common = { uris: [`${method} ${host}${path}`], iat: now, nbf: now }
    const bearer = signJwt(
      {
        header: { kid: apiKeyId, nonce: randomText() },
        claims: { sub: apiKeyId, iss: 'cdp', ...common, exp: now + LIFE_S },
      },
      keys.api,
    )
    const authorization = { authorization: `Bearer ${bearer}` }
    if (body === undefined) return authorization
    const reqHash = createHash('sha256').update(body).digest('hex')
    const wallet = signJwt({ header: {}, claims: { ...common, reqHash, jti: randomText() } }, keys.wallet)
    return { ...authorization, 'x-wallet-auth': wallet }
  }
}

function randomText(): string {
  return randomBytes(16).toString('hex')
}

const SEED_BYTES = 32

/** The messages of the parsers could quote keys, so they are dropped. */
function openApiKey(secret: Secret): KeyObject {
  const text = secret.reveal()
  const bytes = Buffer.from(text, 'base64')
  try {
    if (text.includes('-----BEGIN ')) return ofP256(createPrivateKey(text.replaceAll('\\n', '\n')))
    if (bytes.length === 2 * SEED_BYTES) {
      const [d, x] = [bytes.subarray(0, SEED_BYTES), bytes.subarray(SEED_BYTES)].map((half) =>
        half.toString('base64url'),
      )
      return createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d: d ?? '', x: x ?? '' }, format: 'jwk' })
    }
  } catch {}
  throw new RemoteFault(
    'refused',
    'cannot be asked: api_key_secret is neither 64 bytes of Ed25519 in base64 nor a P-256 key in PEM',
  )
}

function openWalletKey(secret: Secret): KeyObject {
  try {
    const key = Buffer.from(secret.reveal(), 'base64')
    return ofP256(createPrivateKey({ key, format: 'der', type: 'pkcs8' }))
  } catch {
    throw new RemoteFault('refused', 'cannot be asked: wallet_secret is not a P-256 key in base64')
  }
}

function ofP256(key: KeyObject): KeyObject {
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') throw new Error('the key is of another curve')
  return key
}
