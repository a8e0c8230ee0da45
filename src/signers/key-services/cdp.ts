import { createHash, createPrivateKey, type KeyObject, randomBytes } from 'node:crypto'
import { type FieldType, text } from '../../lib/fields.ts'
import type { HttpClient, PostAnswer } from '../../lib/http/http-client.ts'
import type { Secret } from '../../security/secrets.ts'
import type { RemoteProvider } from '../providers/provider.ts'
import { signJwt } from '../remote/access-token.ts'
import { answered, readJsonObject, textIn } from '../remote/answers.ts'
import { type PublicKeys, RemoteFault, type RemoteKey } from '../remote/remote-key.ts'
import { evmAddress, libsecp256k1 } from '../secp256k1.ts'
import type { CdpClient } from './cdp-solana.ts'

interface CdpConfig extends CdpSecrets {
  readonly accountAddress: string
}

const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/
const SOLANA_ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/

const account: FieldType<string> = {
  expected: 'the address of an EVM account (0x and 40 hex digits) or of a Solana account (base58)',
  read: (value) =>
    typeof value === 'string' && (EVM_ADDRESS.test(value) || SOLANA_ADDRESS.test(value)) ? value : undefined,
  blank: '',
}

/**
 * An account of the Coinbase Developer Platform, of EVM or Solana. The platform signs transactions and texts
 * of Solana as it reads them, so the key of a Solana account cannot sign the hashes of Stellar.
 */
export const cdp: RemoteProvider<CdpConfig> = {
  kind: 'remote',
  curves: ['secp256k1', 'ed25519'],
  notFor: ['stellar'],
  read: (fields) => ({
    apiKeyId: fields.get('api_key_id', text),
    apiKeySecret: fields.secret('api_key_secret'),
    walletSecret: fields.secret('wallet_secret'),
    accountAddress: fields.get('account_address', account),
  }),
  show: ({ apiKeyId, accountAddress }) => ({ api_key_id: apiKeyId, account_address: accountAddress }),
  connect: async (config, context) => {
    const authorizer = createCdpAuthorizer(config)
    const options = { ...config, cdp: createCdpClient({ ...context, authorizer }) }
    if (EVM_ADDRESS.test(config.accountAddress)) return connectCdp(options)
    const { connectCdpSolana } = await import('./cdp-solana.ts')
    return connectCdpSolana(options)
  },
}

interface CdpKeyOptions {
  readonly cdp: CdpClient
  /** The address of an EVM account. */
  readonly accountAddress: string
}

/**
 * The signature of this text reveals the public key. It is neither a hash nor the encoding of a transaction.
 */
const QUESTION = Buffer.from('multichain-relayer: who are you?')

const SIGNATURE_BYTES = 64

/**
 * Connects to an EVM account of the Coinbase Developer Platform. The platform returns only addresses, so the
 * public key is recovered from one signature; later checks only read the account, because signatures cost
 * money.
 */
function connectCdp({ cdp, accountAddress }: CdpKeyOptions): RemoteKey {
  const path = `evm/accounts/${accountAddress}`
  let known: PublicKeys | undefined

  async function sign(digest: Uint8Array): Promise<Buffer> {
    const answer = await cdp(`${path}/sign`, { hash: `0x${Buffer.from(digest).toString('hex')}` })
    const digits = /^0x([0-9a-fA-F]{130})$/.exec(textIn(answer, 'signature'))?.[1]
    if (digits === undefined) throw new RemoteFault('unavailable', 'returned an unreadable signature')
    return Buffer.from(digits, 'hex')
  }

  async function recover(): Promise<PublicKeys> {
    const signature = await sign(QUESTION)
    const found = ([0, 1] as const)
      .map((recovery) => recoverKey(signature, recovery))
      .find((key) => key !== undefined && isSame(evmAddress(key), accountAddress))
    if (found === undefined)
      throw new RemoteFault('refused', 'returned a signature that is not by the account')
    return { secp256k1: found }
  }

  async function check(): Promise<void> {
    if (!isSame(textIn(await cdp(path), 'address'), accountAddress))
      throw new RemoteFault('unavailable', 'returned a response about another account')
  }

  return {
    name: `Coinbase account ${accountAddress}`,
    publicKeys: async () => {
      if (known !== undefined) await check()
      known ??= await recover()
      return known
    },
    sign: async ({ payload }) => new Uint8Array((await sign(payload)).subarray(0, SIGNATURE_BYTES)),
  }
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

function recoverKey(signature: Buffer, recovery: 0 | 1): Uint8Array | undefined {
  try {
    const bytes = Uint8Array.from(signature.subarray(0, SIGNATURE_BYTES))
    return libsecp256k1().ecdsaRecover(bytes, recovery, Uint8Array.from(QUESTION), false)
  } catch {
    return undefined // Not every r is the coordinate of a point.
  }
}

interface CdpClientDeps {
  readonly http: HttpClient
  readonly authorizer: CdpAuthorizer
  /** The limit of one request, in ms. */
  readonly timeoutMs: number
}

const HOST = 'api.cdp.coinbase.com'

/**
 * Creates a client of the HTTP interface. Coinbase's own library would bring further versions of viem and of
 * Solana's libraries.
 */
function createCdpClient({ http, authorizer, timeoutMs }: CdpClientDeps): CdpClient {
  return async (suffix, content) => {
    const path = `/platform/v2/${suffix}`
    const method = content === undefined ? 'GET' : 'POST'
    const body = content === undefined ? undefined : JSON.stringify(content)
    const headers = {
      ...authorizer({ method, host: HOST, path, ...(body !== undefined && { body }) }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    const url = `https://${HOST}${path}`
    const answer = await answered(http.post({ url, method, headers, body: body ?? '', timeoutMs }))
    if (answer.status !== 200) throw failureOf(answer)
    return readJsonObject(answer.body)
  }
}

/** The sentences complete "Coinbase account … ", by status. */
const REFUSED: Readonly<Record<number, string>> = {
  400: 'cannot sign in this way',
  401: 'cannot be used: Coinbase does not accept the API key or the wallet secret, or the clock of this machine is wrong',
  402: 'cannot be used: the project has an unpaid bill',
  403: 'is denied: the API key needs the right to sign, and a policy of the project may forbid it',
  404: 'does not exist in this project',
  422: 'cannot sign in this way',
}

/** Coinbase's message can name other parts of the project, so only the status is passed on. */
function failureOf({ status }: PostAnswer): RemoteFault {
  if (status === 429) return new RemoteFault('throttled', 'gets too many calls (status 429)')
  const refusal = REFUSED[status]
  if (refusal !== undefined) return new RemoteFault('refused', `${refusal} (status ${status})`)
  return new RemoteFault('unavailable', `returned no usable response (status ${status})`)
}

/** The secrets of a project of the Coinbase Developer Platform. */
interface CdpSecrets {
  readonly apiKeyId: string
  /** 64 bytes of Ed25519 in base64, or a key of P-256 in PEM. */
  readonly apiKeySecret: Secret
  /** A key of P-256: PKCS #8 in base64. */
  readonly walletSecret: Secret
}

/** A request that tokens are made for. */
interface CdpRequest {
  readonly method: 'GET' | 'POST'
  readonly host: string
  readonly path: string
  /** Absent for a request without a body. Its keys are in alphabetical order, as the hash requires. */
  readonly body?: string
}

/** Creates the authentication headers. */
type CdpAuthorizer = (request: CdpRequest) => Record<string, string>

/** The lifetime of tokens in Coinbase's own library, in seconds. */
const LIFE_S = 120

/** Creates the authorizer. The first call throws a RemoteFault for secrets that are no keys. */
function createCdpAuthorizer({ apiKeyId, apiKeySecret, walletSecret }: CdpSecrets): CdpAuthorizer {
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
    'cannot be used: api_key_secret is neither 64 bytes of Ed25519 in base64 nor a P-256 key in PEM',
  )
}

function openWalletKey(secret: Secret): KeyObject {
  try {
    const key = Buffer.from(secret.reveal(), 'base64')
    return ofP256(createPrivateKey({ key, format: 'der', type: 'pkcs8' }))
  } catch {
    throw new RemoteFault('refused', 'cannot be used: wallet_secret is not a P-256 key in base64')
  }
}

function ofP256(key: KeyObject): KeyObject {
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') throw new Error('the key is of another curve')
  return key
}
