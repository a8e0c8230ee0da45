import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto'
import {
  getBase58Decoder,
  getTransactionDecoder,
  getTransactionEncoder,
  signatureBytes,
  address as solana,
} from '@solana/kit'
import { jwtVerify } from 'jose'
import { holdEd25519, holdSecp256k1 } from './held-keys.ts'
import {
  type HttpService,
  type ServiceAnswer,
  type ServiceRequest,
  startHttpService,
} from './http-service.ts'

export const API_KEY_ID = 'aaaaaaaa-bbbb-4ccc-8ddd-ffffffffffff'

/** The Coinbase Developer Platform, by its OpenAPI description: an EVM and a Solana account, the bearer token and the wallet token. */
export interface Cdp extends HttpService {
  /** The secrets, as Coinbase shows them to users. `pem` is an API key of P-256, `ed25519` one of Ed25519. */
  readonly secrets: { readonly ed25519: string; readonly pem: string; readonly wallet: string }
  readonly signatures: () => number
}

const failed = (status: number, errorType: string): ServiceAnswer => ({
  status,
  body: { errorType, errorMessage: 'as Coinbase says it' },
})

/** Starts a server with an EVM account of this address, and a Solana account of the same secret. */
export async function startCdp(secret: string, address: string): Promise<Cdp> {
  const [ed25519, api, wallet] = [
    generateKeyPairSync('ed25519'),
    generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ]
  const account = holdSecp256k1(secret)
  const own = holdEd25519(secret)
  const base58 = getBase58Decoder()
  const solanaAddress = base58.decode(own.point)
  let signatures = 0

  /** Signs a text, and a transaction that has a place for the account. The other places stay as they are. */
  function askSolana({ method, path, body }: ServiceRequest): ServiceAnswer {
    const found = new RegExp(`^/platform/v2/solana/accounts/${solanaAddress}(/sign/\\w+)?$`).exec(path)
    if (found === null) return failed(404, 'not_found')
    if (method === 'GET') return { status: 200, body: { address: solanaAddress } }
    const { message, transaction, ...unknown } = JSON.parse(body)
    if (Object.keys(unknown).length > 0) return failed(400, 'invalid_request')
    signatures += 1
    if (found[1] === '/sign/message' && typeof message === 'string')
      return { status: 200, body: { signature: base58.decode(own.sign(Buffer.from(message, 'utf8'))) } }
    if (found[1] !== '/sign/transaction') return failed(404, 'not_found')
    const read = getTransactionDecoder().decode(Buffer.from(transaction, 'base64'))
    if (!Object.hasOwn(read.signatures, solanaAddress)) return failed(400, 'malformed_transaction')
    const signature = signatureBytes(Uint8Array.from(own.sign(Uint8Array.from(read.messageBytes))))
    const signed = { ...read, signatures: { ...read.signatures, [solana(solanaAddress)]: signature } }
    const bytes = Buffer.from(getTransactionEncoder().encode(signed))
    return { status: 200, body: { signedTransaction: bytes.toString('base64') } }
  }

  async function isAuthorized(request: ServiceRequest): Promise<boolean> {
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
    const { alg } = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString() || '{}')
    const found = await verified(token, alg === 'EdDSA' ? ed25519.publicKey : api.publicKey, request)
    const isBearer =
      found?.header.kid === API_KEY_ID && found.claims.sub === API_KEY_ID && found.claims.iss === 'cdp'
    if (!isBearer || Number(found?.claims.exp) - Number(found?.claims.iat) !== 120) return false
    if (request.method === 'GET') return true
    const own = await verified(String(request.headers['x-wallet-auth']), wallet.publicKey, request)
    return own?.claims.reqHash === hashOf(request.body) && typeof own.claims.jti === 'string'
  }

  const service = await startHttpService(async (request) => {
    if (!(await isAuthorized(request))) return failed(401, 'unauthorized')
    if (request.path.includes('/solana/')) return askSolana(request)
    const path = `/platform/v2/evm/accounts/${address}`
    if (request.method === 'GET' && request.path === path)
      return { status: 200, body: { address, name: 'relayer' } }
    if (request.method !== 'POST' || request.path !== `${path}/sign`) return failed(404, 'not_found')
    const { hash, ...unknown } = JSON.parse(request.body)
    if (!/^0x[0-9a-f]{64}$/.test(hash) || Object.keys(unknown).length > 0)
      return failed(400, 'invalid_request')
    signatures += 1
    const signature = account.sign(Buffer.from(hash.slice(2), 'hex')).toString('hex')
    return { status: 200, body: { signature: `0x${signature}1b` } }
  })
  const seed = ed25519.privateKey.export({ format: 'jwk' })
  return {
    ...service,
    secrets: {
      ed25519: Buffer.concat(
        [seed.d ?? '', seed.x ?? ''].map((half) => Buffer.from(half, 'base64url')),
      ).toString('base64'),
      pem: api.privateKey.export({ format: 'pem', type: 'sec1' }).toString(),
      wallet: wallet.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
    },
    signatures: () => signatures,
  }
}

/** Hashes a body as the platform does: with its keys in the order of the alphabet. */
function hashOf(body: string): string {
  const sorted = Object.fromEntries(
    Object.entries(JSON.parse(body)).sort(([one], [other]) => (one < other ? -1 : 1)),
  )
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex')
}

/** Verifies a token for exactly this request. */
async function verified(token: string, key: KeyObject, { method, path }: ServiceRequest) {
  try {
    const { payload, protectedHeader } = await jwtVerify(token, key, {
      algorithms: ['ES256', 'EdDSA'],
      requiredClaims: ['iat', 'nbf'],
      maxTokenAge: '2 minutes',
    })
    const isOfRequest =
      JSON.stringify(payload.uris) === JSON.stringify([`${method} api.cdp.coinbase.com${path}`])
    return isOfRequest ? { claims: payload, header: protectedHeader } : undefined
  } catch {
    return undefined
  }
}
