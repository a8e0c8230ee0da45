import { createHash } from 'node:crypto'
import { HashIdPreimage, type ScAddress, type SorobanAuthorizedInvocation } from '@stellar/stellar-sdk/xdr'

/** The bytes over whose hash an account authorizes calls of smart contracts (CAP-46-11), as far as the service has to know them. */
export interface AuthorizationPreimage {
  /** SHA-256 of the passphrase of the network for which the signature is. */
  readonly networkId: Uint8Array
  /** The last ledger that accepts the signature. */
  readonly expirationLedger: bigint
  /** The account that authorizes, where the preimage names it (CAP-71); without it, the signature is for any account that has the key. */
  readonly address?: ScAddress
  readonly invocation: SorobanAuthorizedInvocation
  /** SHA-256 of the preimage: what the account signs. */
  readonly hash: Buffer
}

/**
 * Reads a `HashIdPreimage` of an authorization; undefined for other text, and for the preimages of ids, which nobody signs. The first four
 * bytes are its type, where the preimage of a transaction has the id of a network. The SDK reads at most 500 levels, and every byte.
 */
export function readAuthorizationPreimage(base64: string): AuthorizationPreimage | undefined {
  const fields = authorizationIn(base64)
  if (fields === undefined) return undefined
  const { networkId, signatureExpirationLedger, invocation } = fields
  return {
    networkId: networkId.toBytes(),
    expirationLedger: BigInt(signatureExpirationLedger),
    ...('address' in fields && { address: fields.address }),
    invocation,
    hash: createHash('sha256').update(Buffer.from(base64, 'base64')).digest(),
  }
}

function authorizationIn(base64: string) {
  const preimage = decode(base64)
  switch (preimage?.type) {
    case 'envelopeTypeSorobanAuthorization':
      return preimage.sorobanAuthorization
    case 'envelopeTypeSorobanAuthorizationWithAddress':
      return preimage.sorobanAuthorizationWithAddress
    default:
      return undefined
  }
}

function decode(base64: string): HashIdPreimage | undefined {
  try {
    return HashIdPreimage.fromXdr(base64, 'base64')
  } catch {
    return undefined // The SDK throws: not XDR, not of this kind, too deep, or with bytes left over.
  }
}
