import { larger } from '../../../lib/bigint.ts'
import { omitUndefined } from '../../../lib/omit-undefined.ts'
import type { Answer } from '../../answer.ts'
import { ACCOUNT_LOCKS, MAX_INSTRUCTIONS } from '../check/limits.ts'
import { requireNonce } from '../read/nonce-account.ts'
import { guardedSimulation, type Outcome } from '../simulate/guarded-simulation.ts'
import type { SolanaPrepared } from '../types.ts'
import { withInstructions, withLifetime } from '../wire/edit.ts'
import { accountCount, type Message } from '../wire/message.ts'
import { COMPUTE_BUDGET_PROGRAM } from '../wire/programs.ts'
import { openOutflow } from '../wire/system-instruction.ts'
import { MAX_TRANSACTION_BYTES, transactionSize, writeUnsigned } from '../wire/transaction.ts'
import { type Budget, feeOf, MAX_UNITS, readBudget, writeBudget } from './compute-budget.ts'
import { aboveCap, type Bid, decideBid, feeCap, unitLimitFor } from './fees.ts'
import { askPrice } from './market.ts'
import type { Case, PrepareContext } from './prepare-context.ts'

/** Prepares a transaction that only the relayer signs: the service adds blockhash, compute units and their price. */
export async function prepareOwn(context: PrepareContext, own: Case): Promise<Answer<SolanaPrepared>> {
  const { client } = context
  const { subject, request, policies } = own
  const lifetime = await lifetimeFor(context, own)
  if (lifetime.kind !== 'ok') return lifetime
  const message = withLifetime(subject.message, lifetime.value.token)
  const missing = missingBudget(message, context.loadedBytes())
  const [outcome, price] = await Promise.all([
    guardedSimulation(context, own, complete(message, missing, { unitLimit: MAX_UNITS, unitPrice: 0n })),
    missing.unitPrice === undefined ? FREE : askPrice(client, message, request.speed),
  ])
  if (outcome.kind !== 'ok') return outcome
  if (price.kind !== 'ok') return price
  const unitLimit = readBudget(message).unitLimit ?? unitLimitFor(outcome.value.units)
  const cap = feeCap(policies)
  const bid = decideBid(message, { wanted: price.value, unitLimit, cap })
  if (bid.kind === 'short') return { kind: 'refused', refusal: aboveCap(bid.needed, cap) }
  const priced = complete(message, missing, { unitLimit, unitPrice: bid.unitPrice })
  return {
    kind: 'ok',
    value: toPrepared(own, priced, { outcome: outcome.value, lifetime: lifetime.value, bid }),
  }
}

const FREE: Answer<bigint> = { kind: 'ok', value: 0n }

/** The blockhash or nonce of a transaction, and the end of its life. */
interface OwnLifetime {
  readonly token: string
  readonly expiresAt?: bigint
  readonly preparedAtSlot?: bigint
}

async function lifetimeFor(context: PrepareContext, own: Case): Promise<Answer<OwnLifetime>> {
  if (own.nonceAccount === undefined) {
    const latest = await context.blockhash()
    if (latest.kind !== 'ok') return latest
    return { kind: 'ok', value: { token: latest.value.blockhash, expiresAt: latest.value.expiresAt } }
  }
  const nonce = await requireNonce(context, own.nonceAccount)
  if (nonce.kind !== 'ok') return nonce
  return { kind: 'ok', value: { token: nonce.value.value, preparedAtSlot: nonce.value.slot } }
}

/**
 * Returns the parts of the budget that the content does not set; a zero is a placeholder for a number that is computed later. Where not all
 * parts fit, the part that distinguishes the transaction from another one with the same content comes first; where that does not fit
 * either, the content is sent without it.
 */
function missingBudget(message: Message, loadedBytes: number): Budget {
  const requested = readBudget(message)
  const distinct = omitUndefined({
    loadedBytes: requested.loadedBytes === undefined ? loadedBytes : undefined,
  })
  const limited = omitUndefined({ ...distinct, unitLimit: requested.unitLimit === undefined ? 0 : undefined })
  const priced = omitUndefined({ ...limited, unitPrice: requested.unitPrice === undefined ? 0n : undefined })
  return [priced, limited, distinct].find((missing) => fits(message, missing)) ?? {}
}

/** Returns true when the network accepts the message with these instructions like without them. */
function fits(message: Message, missing: Budget): boolean {
  const widened = withInstructions(message, COMPUTE_BUDGET_PROGRAM, writeBudget(missing))
  const [before, after] = [accountCount(message), accountCount(widened)]
  return (
    transactionSize(widened) <= MAX_TRANSACTION_BYTES &&
    widened.instructions.length <= MAX_INSTRUCTIONS &&
    ACCOUNT_LOCKS.every((most) => before > most || after <= most)
  )
}

function complete(
  message: Message,
  missing: Budget,
  values: { readonly unitLimit: number; readonly unitPrice: bigint },
): Message {
  const budget: Budget = omitUndefined({
    unitLimit: missing.unitLimit === undefined ? undefined : values.unitLimit,
    unitPrice: missing.unitPrice === undefined ? undefined : values.unitPrice,
    loadedBytes: missing.loadedBytes,
  })
  return withInstructions(message, COMPUTE_BUDGET_PROGRAM, writeBudget(budget))
}

interface Findings {
  readonly outcome: Outcome
  readonly lifetime: OwnLifetime
  readonly bid: Extract<Bid, { kind: 'bid' }>
}

function toPrepared(
  { subject, nonceAccount }: Case,
  message: Message,
  { outcome, lifetime, bid }: Findings,
): SolanaPrepared {
  const { accounts, self } = subject
  const unitPrice = readBudget(message).unitPrice ?? 0n
  const draft = omitUndefined({
    type: 'solana' as const,
    transaction: writeUnsigned(message),
    fee: feeOf(message),
    unitPrice,
    spends: larger(outcome.taken, openOutflow(subject.message, accounts, self)),
    expiresAt: lifetime.expiresAt,
    nonceAccount,
    preparedAtSlot: lifetime.preparedAtSlot,
  })
  const logs =
    bid.unitPrice < bid.wanted
      ? [
          `The market price for priority (${bid.wanted} micro-lamports for a compute unit) is above the limit of max_allowed_fee_lamports; the transaction pays ${bid.unitPrice}.`,
        ]
      : []
  return { draft, logs }
}
