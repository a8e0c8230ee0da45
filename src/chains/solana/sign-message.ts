import { AppError } from '../../errors.ts'
import type { Signer } from '../../signers/signer.ts'
import type { MessageSignature } from '../attempt.ts'
import { presentSignature, solanaSigner } from './signature.ts'
import { encodeBase58 } from './wire/base58.ts'
import { resemblesMessage } from './wire/message.ts'

/** Stellar signs nothing with the key of an account but SHA-256 hashes. */
const STELLAR_PAYLOAD_BYTES = 32

/**
 * Signs the UTF-8 bytes unchanged, like wallets do (`signMessage` of the wallet standard). There is no prefix, so a text whose bytes are a
 * transaction would sign that transaction. About one hash in 2^27 is valid UTF-8, so a text of 32 bytes can be the transaction of a Stellar
 * account that has the same key (docs/signatures.md).
 * @throws AppError 400 for such texts
 */
export async function signMessage(message: string, signer: Signer): Promise<MessageSignature> {
  const key = solanaSigner(signer)
  const bytes = Buffer.from(message, 'utf8')
  const problem = problemOf(bytes)
  if (problem !== undefined) throw new AppError('invalid_request', `message: ${problem}`)
  const signature = await key.sign(bytes)
  return {
    ...presentSignature(signature),
    signature: encodeBase58(signature),
    publicKey: encodeBase58(key.publicKey),
  }
}

function problemOf(bytes: Uint8Array): string | undefined {
  if (bytes.length === STELLAR_PAYLOAD_BYTES)
    return 'a text with more or fewer than 32 bytes is expected; 32 bytes can be the hash of a transaction on Stellar.'
  if (resemblesMessage(bytes)) return 'a text is expected; these bytes are a transaction.'
  return undefined
}
