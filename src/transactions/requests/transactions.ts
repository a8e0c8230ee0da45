import type { Actor } from '../../access/principal.ts'
import { inactive } from '../../relayers/policies/policy.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import {
  type Accepted,
  type Acceptor,
  type Batch,
  createAcceptor,
  type OfSchedule,
  type Sending,
} from '../accept/accept.ts'
import { type AccountChooser, createAccountChooser } from '../accept/choose-account.ts'
import type { Approval } from '../approvals/approvals-store.ts'
import { type Deciding, decideApproval } from '../approvals/decide.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import type { Transaction } from '../model/transaction.ts'
import { cancelPending, type PendingCancellation } from '../replace/cancel-pending.ts'
import { type Cancellation, createReplacer, type Replacer } from '../replace/replace.ts'
import type { Replaced, Replacing } from '../replace/replacement.ts'
import { type DryRun, dryApprove, dryReplace, drySend } from './dry-run.ts'

/**
 * Everything that callers do with transactions. The errors of each method are those of the function behind
 * it.
 */
export class Transactions {
  readonly #context: TransactionsContext
  readonly #chooser: AccountChooser
  readonly #acceptor: Acceptor
  readonly #replacer: Replacer

  constructor(context: TransactionsContext) {
    this.#context = context
    this.#chooser = createAccountChooser(context)
    this.#acceptor = createAcceptor(context, this.#chooser)
    this.#replacer = createReplacer(context)
  }

  send(relayer: Relayer, sending: Sending): Promise<Accepted> {
    return this.#acceptor.send(relayer, sending)
  }

  /** Sends the run of a schedule. */
  sendRun(relayer: Relayer, sending: Sending, schedule: OfSchedule): Promise<Accepted> {
    return this.#acceptor.sendRun(relayer, sending, schedule)
  }

  sendBatch(relayer: Relayer, batch: Batch): Promise<readonly Accepted[]> {
    return this.#acceptor.sendBatch(relayer, batch)
  }

  /**
   * Tells what a send would do, with the account that would take it: the next one takes what the first
   * cannot.
   */
  async drySend(relayer: Relayer, sending: Sending): Promise<DryRun> {
    const refused = new Map<unknown, DryRun>()
    const choice = { lane: sending.lane, requests: [sending.request] }
    try {
      return await this.#chooser.withAccount(relayer, choice, async (account) => {
        const dryRun = await drySend(this.#context, account, sending)
        if (dryRun.refusal === undefined) return dryRun
        refused.set(dryRun.refusal, dryRun)
        throw dryRun.refusal
      })
    } catch (error) {
      const dryRun = refused.get(error)
      if (dryRun === undefined && inactive(relayer) === undefined) throw error
      return dryRun ?? drySend(this.#context, relayer, sending)
    }
  }

  /** Replaces the content of a transaction. */
  replace(replacing: Replacing): Promise<Replaced> {
    return this.#replacer.replace(replacing)
  }

  /** Tells what `replace` would do. */
  dryReplace(replacing: Replacing): Promise<DryRun> {
    return dryReplace(this.#context, replacing)
  }

  cancel(cancellation: Cancellation): Promise<Replaced> {
    return this.#replacer.cancel(cancellation)
  }

  /** Cancels the open requests of a relayer until `signal` is aborted. */
  cancelPending(relayer: Relayer, actor: Actor, signal: AbortSignal): Promise<PendingCancellation> {
    return cancelPending(this.#context, this.#replacer, { relayer, actor, signal })
  }

  /** Decides about a transaction that waits for an approval. */
  decideApproval(deciding: Deciding): Promise<Approval> {
    return decideApproval(this.#context, deciding)
  }

  /** Tells what would happen if a transaction that waits for an approval were approved now. */
  dryApprove(relayer: Relayer, transaction: Transaction): Promise<DryRun> {
    return dryApprove(this.#context, relayer, transaction)
  }
}
