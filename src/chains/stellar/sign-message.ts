import { createHash } from 'node:crypto'
import type { Signer } from '../../signers/signer.ts'
import type { MessageSignature } from '../attempt.ts'
import { signDetached, stellarSigner } from './signature.ts'

/** The prefix of SEP-53, "Message format". No signature payload of a transaction begins with it. */
const PREFIX = 'Stellar Signed Message:\n'

/**
 * Signs a message with ed25519 over SHA-256 of the prefix and the message's UTF-8 bytes (SEP-53). The answer adds the signature in base64
 * and the signer's `G…` address to the contract's fields, as tools of that standard exchange them.
 */
export async function signMessage(message: string, signer: Signer): Promise<MessageSignature> {
  const hash = createHash('sha256').update(PREFIX).update(message, 'utf8').digest()
  return signDetached(hash, stellarSigner(signer))
}
