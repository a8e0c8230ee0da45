import { type KeyObject, sign } from 'node:crypto'

/** A token that opens a service for some time. */
export interface AccessToken {
  readonly text: string
  /** Counted from its arrival, in ms. */
  readonly lifeMs: number
}

/** The current token of a service. */
export interface AccessTokens {
  /** Returns the token, a new one when there is none or its life is nearly over. Calls share one login. */
  present(): Promise<string>
  /** Forgets a token that the service did not accept. */
  drop(token: string): Promise<void>
}

/** A token is replaced when this share of its life is over. */
const USED_SHARE = 0.8

interface Kept {
  readonly text: string
  /** In ms of the monotonic clock of the process. */
  readonly endsAt: number
}

/** Keeps the token that `logIn` returns. */
export function createAccessTokens(logIn: () => Promise<AccessToken>): AccessTokens {
  let kept: Promise<Kept> | undefined

  async function make(): Promise<Kept> {
    const { text, lifeMs } = await logIn()
    return { text, endsAt: performance.now() + lifeMs * USED_SHARE }
  }

  async function present(): Promise<string> {
    const known = kept
    const token = await known
    if (token !== undefined && performance.now() < token.endsAt) return token.text
    // Several calls can find the same old token; the first of them replaces it.
    if (kept === known) kept = replaced()
    return (await kept)?.text ?? present()
  }

  function replaced(): Promise<Kept> {
    const made = make()
    made.catch(() => {
      if (kept === made) kept = undefined
    })
    return made
  }

  return {
    present,
    drop: async (refused) => {
      const known = kept
      const token = await known?.catch(() => undefined)
      if (kept === known && token?.text === refused) kept = undefined
    },
  }
}

/** A JSON Web Token that is to be signed (RFC 7519, RFC 7515). */
interface JwtContent {
  /** The header, without the algorithm. */
  readonly header: Readonly<Record<string, string>>
  readonly claims: Readonly<Record<string, unknown>>
}

/** The algorithms by type of key (RFC 7518, RFC 8037). Node.js hashes inside the signature of Ed25519. */
const ALGORITHMS: Readonly<Record<string, { readonly alg: string; readonly hash: string | null }>> = {
  rsa: { alg: 'RS256', hash: 'sha256' },
  ec: { alg: 'ES256', hash: 'sha256' },
  ed25519: { alg: 'EdDSA', hash: null },
}

/**
 * Signs a token with a private key of RSA, P-256 or Ed25519. Node.js does all of it, so deployments need no
 * further package; the tests verify the tokens with a library for them.
 */
export function signJwt({ header, claims }: JwtContent, key: KeyObject): string {
  const algorithm = ALGORITHMS[key.asymmetricKeyType ?? '']
  if (algorithm === undefined) throw new Error(`A key of the type ${key.asymmetricKeyType} signs no tokens.`)
  const content = `${encode({ typ: 'JWT', ...header, alg: algorithm.alg })}.${encode(claims)}`
  const signature = sign(algorithm.hash, Buffer.from(content), { key, dsaEncoding: 'ieee-p1363' })
  return `${content}.${signature.toString('base64url')}`
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}
