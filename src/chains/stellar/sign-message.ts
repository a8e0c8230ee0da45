import { createHash } from 'node:crypto'
import type { Signer } from '../../signers/signer.ts'
import type { MessageSignature } from '../attempt.ts'
import { addressOf, presentSignature, stellarSigner } from './signature.ts'

/** SEP-53, "Message format": what no transaction's signature payload begins with. */
const PREFIX = 'Stellar Signed Message:\n'

/**
 * SEP-53: ed25519 over SHA-256 of the prefix and the message's UTF-8 bytes. Besides the contract's own fields the answer has
 * the signature in base64 and the signer's `G…` address, as that standard's tools exchange them.
 */
export async function signMessage(message: string, signer: Signer): Promise<MessageSignature> {
  const key = stellarSigner(signer)
  const bytes = await key.sign(createHash('sha256').update(PREFIX).update(message, 'utf8').digest())
  return {
    ...presentSignature(bytes),
    signature: Buffer.from(bytes).toString('base64'),
    publicKey: addressOf(key),
  }
}
