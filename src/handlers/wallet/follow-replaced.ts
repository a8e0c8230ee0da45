import type { RpcCall, RpcReply } from '../../chains/rpc/rpc.ts'
import type { Db } from '../../database/schema.ts'
import type { TransactionWithAttempts } from '../../transactions/model/transaction.ts'
import { findByHash, includedAttempt } from './attempts-by-hash.ts'
import type { WalletRequest } from './wallet-call.ts'

/** Reads of a transaction by its hash, with the attempt to ask for in the place of one that no node knows. */
const READS: Readonly<Record<string, (item: TransactionWithAttempts) => string | undefined>> = {
  eth_getTransactionReceipt: (item) => includedAttempt(item)?.signed.hash,
  eth_getTransactionByHash: (item) => (includedAttempt(item) ?? item.attempts.at(-1))?.signed.hash,
}

/**
 * Asks once more where a node does not know the hash of an attempt: for the attempt that the chain includes instead. Without the scope that shows
 * transactions, the replies stay as they are.
 */
export async function followReplaced(
  db: Db,
  request: WalletRequest,
  { calls, replies }: { readonly calls: readonly RpcCall[]; readonly replies: readonly RpcReply[] },
): Promise<readonly RpcReply[]> {
  if (!request.context.principal.may('transactions:read')) return replies
  const asked = calls.map((call, at) => (isNothing(replies[at]) ? hashOf(call) : undefined))
  const items = await findByHash(db, request.relayer, [
    ...new Set(asked.filter((hash) => hash !== undefined)),
  ])
  const further = calls.flatMap(({ method }, at) => {
    const hash = asked[at]
    const item = hash === undefined ? undefined : items.get(hash)
    const shown = item && READS[method]?.(item)
    return shown === undefined || shown === hash ? [] : [{ at, call: { method, params: [shown] } }]
  })
  if (further.length === 0) return replies
  const answers = await request.runtime.chain.forward(further.map(({ call }) => call))
  const answerAt = new Map(further.map(({ at }, place) => [at, answers[place]]))
  return replies.map((reply, at) => answerAt.get(at) ?? reply)
}

function isNothing(reply: RpcReply | undefined): boolean {
  return reply?.kind === 'result' && reply.result === null
}

function hashOf({ method, params }: RpcCall): string | undefined {
  if (!Object.hasOwn(READS, method) || !Array.isArray(params)) return undefined
  const [hash]: readonly unknown[] = params
  return typeof hash === 'string' && /^0x[0-9a-f]{64}$/i.test(hash) ? hash.toLowerCase() : undefined
}
