import type { SolanaRequest } from './content.ts'
import { composeMessage } from './prepare/compose.ts'
import { accountsOf } from './wire/accounts.ts'
import { isMultiSigner, type Message } from './wire/message.ts'
import { SYSTEM_PROGRAM } from './wire/programs.ts'
import { openOutflow } from './wire/system-instruction.ts'
import { openTransaction } from './wire/transaction.ts'

/** Returns the message of a checked request, and the field that contains it. */
export function contentOf(
  { transaction, instructions = [] }: SolanaRequest,
  self: string,
): { readonly message: Message; readonly at: 'transaction' | 'instructions' } {
  return transaction === undefined
    ? { message: composeMessage(self, instructions), at: 'instructions' }
    : { message: openTransaction(transaction).message, at: 'transaction' }
}

/** Returns true when the service can sign the content again with another blockhash: not when others have signed it too. */
export function isReSignable({ transaction }: SolanaRequest): boolean {
  return transaction === undefined || !isMultiSigner(openTransaction(transaction).message)
}

/** Returns the lamports that the request openly moves out of the fee payer's account, before any fee is known. */
export function amountOutOf(request: SolanaRequest): bigint {
  const payer = payerOf(request)
  if (payer === undefined) return 0n
  const { message } = contentOf(request, payer)
  return openOutflow(message, accountsOf(message), payer)
}

/** Only the relayer signs instructions, so every signer in them, and every source of a system transfer, is the relayer. */
function payerOf({ transaction, instructions = [] }: SolanaRequest): string | undefined {
  if (transaction !== undefined) return openTransaction(transaction).message.staticAccounts[0]
  const signer = instructions.flatMap(({ accounts }) => accounts).find(({ isSigner }) => isSigner)
  const source = instructions.find(({ programId }) => programId === SYSTEM_PROGRAM)?.accounts[0]
  return (signer ?? source)?.pubkey
}

/** Returns the request that does nothing except pay its fee. */
export function noop(): SolanaRequest {
  return { type: 'solana', instructions: [], speed: 'average' }
}

/** Returns true for the service's own request that does nothing. */
export function isNoop({ instructions }: SolanaRequest): boolean {
  return instructions?.length === 0
}
