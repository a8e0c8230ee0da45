import { AppError } from '../../errors.ts'
import type { Signer } from '../../signers/signer.ts'
import type { MessageSignature } from '../attempt.ts'
import { presentSignature, solanaSigner } from './signature.ts'
import { encodeBase58 } from './wire/base58.ts'
import { decodeMessage } from './wire/message.ts'

/**
 * Signs the UTF-8 bytes unchanged, like wallets do (`signMessage` of the wallet standard). There is no prefix, so a text whose bytes are a
 * transaction would sign that transaction.
 * @throws AppError 400 for such a text
 */
export async function signMessage(message: string, signer: Signer): Promise<MessageSignature> {
  const key = solanaSigner(signer)
  const bytes = Buffer.from(message, 'utf8')
  if (decodeMessage(Uint8Array.from(bytes)) !== undefined)
    throw new AppError('invalid_request', 'message: a text is expected; these bytes are a transaction.')
  const signature = await key.sign(bytes)
  return {
    ...presentSignature(signature),
    signature: encodeBase58(signature),
    publicKey: encodeBase58(key.publicKey),
  }
}
