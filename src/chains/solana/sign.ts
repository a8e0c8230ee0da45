import type { SignedDraft } from '../attempt.ts'
import type { SigningContext } from '../chain.ts'
import type { SolanaDraft } from './content.ts'
import { presentSignature, solanaSigner } from './signature.ts'
import { addressBytes, encodeBase58 } from './wire/base58.ts'
import { openTransaction, writeTransaction } from './wire/transaction.ts'

/**
 * Signs a draft. The network identifies a transaction by its first signature, that of the fee payer, so the hash is the relayer's own
 * signature.
 * @throws Error for a draft with another fee payer, which is a fault of the service
 */
export async function signDraft(
  { transaction }: SolanaDraft,
  { account }: SigningContext,
): Promise<SignedDraft> {
  const signer = solanaSigner(account.signer)
  const { message, messageBytes, signatures } = openTransaction(transaction)
  const [payer = ''] = message.staticAccounts
  if (!Buffer.from(addressBytes(payer)).equals(signer.publicKey))
    throw new Error(`the transaction is paid by ${payer}, which the signer has no key of`)
  const own = await signer.sign(messageBytes)
  return {
    raw: writeTransaction([own, ...signatures.slice(1)], messageBytes),
    hash: encodeBase58(own),
    signature: presentSignature(own),
  }
}
