import { isDeepStrictEqual } from 'node:util'
import { SERVICE } from '../../audit/entry.ts'
import type { ChainRequest } from '../../chains/request.ts'
import type { Tx } from '../../database/schema.ts'
import { AppError } from '../../errors.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { lockRelayer } from '../../relayers/store.ts'
import { acceptNew } from '../accept/accept.ts'
import { admitCandidates } from '../accept/admit.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import type { Transaction } from '../model/transaction.ts'
import { type TopUpHistory, toHistory } from './history.ts'
import { readTopUps } from './top-ups-store.ts'

/** A decided top-up. */
export interface TopUpPayment {
  readonly treasury: Relayer
  /** The relayer that is filled, as it was at the decision. */
  readonly relayer: Relayer
  readonly request: ChainRequest
  /** The earlier top-ups at the decision. */
  readonly history: TopUpHistory
}

/**
 * Makes the treasury accept a top-up, by all of its rules. The decision is checked again in the database transaction that stores it, under
 * the lock of the filled relayer: of two processes with the same decision, one pays.
 * @throws AppError with the reason why the treasury does not pay
 */
export async function payTopUp(
  context: TransactionsContext,
  { treasury, request, ...decided }: TopUpPayment,
): Promise<Transaction> {
  const submission = { relayer: treasury, request, actor: SERVICE, idempotencyKey: undefined }
  const { transaction } = await acceptNew(
    context,
    async (candidate) => {
      const topUp = { ...candidate, transaction: { ...candidate.transaction, topUpOf: decided.relayer.id } }
      const guard = (tx: Tx) => changedSince(context, tx, decided)
      const [decision] = await admitCandidates(context, [topUp], { guard })
      if (decision === undefined) throw new Error('an admission returned fewer decisions than candidates')
      return decision
    },
    submission,
  )
  return transaction
}

/** Returns an error when the decision does not hold any more. Lock order: the filled relayer before the treasury; there are no circles. */
async function changedSince(
  { clock }: TransactionsContext,
  tx: Tx,
  { relayer, history }: Pick<TopUpPayment, 'relayer' | 'history'>,
): Promise<AppError | undefined> {
  const present = await lockRelayer(tx, relayer.id, 'no_key_update')
  if (present === undefined || !isDeepStrictEqual(decisive(present), decisive(relayer))) return CHANGED
  const { newest, open } = toHistory(await readTopUps(tx, present, clock.now()), () => 0n, clock.now())
  return open !== undefined || newest?.id !== history.newest?.id ? CHANGED : undefined
}

/** The refusal of a decision that does not hold any more. The next round decides anew. */
export const CHANGED = new AppError(
  'in_use',
  'The relayer, or its top-ups, changed while this one was decided.',
)

function decisive({ network, networkType, address, paused, policies }: Relayer) {
  return { network, networkType, address, paused, topUp: policies.topUp }
}
