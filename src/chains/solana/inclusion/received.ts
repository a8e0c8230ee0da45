import type { Receipt } from '../../answer.ts'
import type { InclusionDetails } from '../../attempt.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import type { FeePayment } from '../../sponsoring.ts'
import type { SolanaDraft } from '../content.ts'
import { transactionCall } from '../read/receipts.ts'
import { fieldsOf, readInteger, resultOf } from '../read/replies.ts'
import { openTransaction } from '../wire/message.ts'

/** The payment of an included draft. */
interface Paid {
  readonly draft: SolanaDraft
  readonly receipt: Receipt
  readonly payment: FeePayment | undefined
}

/**
 * Reads what a payment brought to its token account; empty where the endpoint does not tell both balances,
 * before and after.
 */
export async function readReceived(
  client: PooledClient,
  { draft, receipt: { hash, blockNumber, success, result }, payment }: Paid,
): Promise<InclusionDetails> {
  if (payment === undefined || !success) return {}
  const [endpointReply] = await client.sendAsOf([transactionCall(hash)])
  const answer = resultOf(endpointReply?.reply)
  const { slot, meta } = fieldsOf(answer.kind === 'ok' ? answer.value : undefined)
  if (readInteger(slot) !== blockNumber) return {}
  // The service added the payment with its accounts, and none of them comes from a table.
  const index = openTransaction(draft.transaction).message.staticAccounts.findIndex(
    (account) => String(account) === payment.receiver,
  )
  const { preTokenBalances, postTokenBalances } = fieldsOf(meta)
  // The account existed before, so a balance that is missing is untold and not zero.
  const before = balanceIn(preTokenBalances, index, payment.token)
  const after = balanceIn(postTokenBalances, index, payment.token)
  if (before === undefined || after === undefined) return {}
  return { result: { ...result, received: after - before } }
}

function balanceIn(balances: unknown, index: number, mint: string): bigint | undefined {
  const all: readonly unknown[] = Array.isArray(balances) ? balances : []
  const own = all.map(fieldsOf).find((balance) => balance.accountIndex === index && balance.mint === mint)
  const { amount } = fieldsOf(own?.uiTokenAmount)
  return typeof amount === 'string' && /^\d{1,20}$/.test(amount) ? BigInt(amount) : undefined
}
