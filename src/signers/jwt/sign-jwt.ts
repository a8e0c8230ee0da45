import { type KeyObject, sign } from 'node:crypto'

/** A JSON Web Token that is to be signed (RFC 7519, RFC 7515). */
export interface JwtContent {
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
 * Signs a token with a private key of RSA, P-256 or Ed25519. Node.js does all of it, so deployments need no further package; the tests
 * verify the tokens with a library for them.
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
