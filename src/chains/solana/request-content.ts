import type { SolanaRequest } from './content.ts'
import { composeMessage } from './prepare/compose.ts'
import { accountsOf } from './wire/accounts.ts'
import { isMultiSigner, type Message } from './wire/message.ts'
import { SYSTEM_PROGRAM } from './wire/programs.ts'
import { openOutflow } from './wire/system-instruction.ts'
import { openTransaction } from './wire/transaction.ts'

/** The message that a request means, and the field that brought it. For what was checked. */
export function contentOf(
  { transaction, instructions = [] }: SolanaRequest,
  self: string,
): { readonly message: Message; readonly at: 'transaction' | 'instructions' } {
  return transaction === undefined
    ? { message: composeMessage(self, instructions), at: 'instructions' }
    : { message: openTransaction(transaction).message, at: 'transaction' }
}

/** Whether the service can sign the content again with another blockhash: not when others have signed it too. */
export function isReSignable({ transaction }: SolanaRequest): boolean {
  return transaction === undefined || !isMultiSigner(openTransaction(transaction).message)
}

/** The lamports that the request openly moves out of the account that pays for it, before any fee is known. */
export function amountOutOf(request: SolanaRequest): bigint {
  const payer = payerOf(request)
  if (payer === undefined) return 0n
  const { message } = contentOf(request, payer)
  return openOutflow(message, accountsOf(message), payer)
}

/** Only the relayer signs instructions, so whoever they name as a signer, or let the system program take from, is the relayer. */
function payerOf({ transaction, instructions = [] }: SolanaRequest): string | undefined {
  if (transaction !== undefined) return openTransaction(transaction).message.staticAccounts[0]
  const signer = instructions.flatMap(({ accounts }) => accounts).find(({ isSigner }) => isSigner)
  const source = instructions.find(({ programId }) => programId === SYSTEM_PROGRAM)?.accounts[0]
  return (signer ?? source)?.pubkey
}

/** The request that does nothing: it only pays its fee. */
export function noop(): SolanaRequest {
  return { type: 'solana', instructions: [], speed: 'average' }
}

/** Whether it is the service's own request that does nothing. */
export function isNoop({ instructions }: SolanaRequest): boolean {
  return instructions?.length === 0
}
