import { larger } from '../../../lib/bigint.ts'
import { omitUndefined } from '../../../lib/object.ts'
import type { Answer, Refusal } from '../../answer.ts'
import type { BlockHeight, Slot, SolanaDraft, SolanaRequest } from '../content.ts'
import {
  ACCOUNT_LOCKS,
  checkFeePayer,
  checkPolicies,
  MAX_INSTRUCTIONS,
  maySpend,
  type PolicySubject,
} from '../policies.ts'
import { requireNonce } from '../read/accounts.ts'
import { contentOf } from '../request-content.ts'
import type { SolanaAccount, SolanaPrepared } from '../types.ts'
import { accountsOf, COMPUTE_BUDGET_PROGRAM } from '../wire/addresses.ts'
import { loadAddresses, withInstructions, withLifetime } from '../wire/lookups.ts'
import {
  accountCount,
  isMultiSigner,
  MAX_TRANSACTION_BYTES,
  type Message,
  transactionSize,
  writeUnsigned,
} from '../wire/message.ts'
import { nonceAccountOf, openOutflow } from '../wire/system-instruction.ts'
import { readExternalLifetime } from './blockhash.ts'
import type { Case, PrepareContext } from './context.ts'
import {
  aboveCap,
  askPrice,
  type Bid,
  type Budget,
  chooseBid,
  feeCap,
  feeOf,
  MAX_UNITS,
  readBudget,
  unitLimitFor,
  withUnitsFor,
  writeBudget,
} from './fees.ts'
import { guardedSimulation, type Outcome } from './guarded-simulation.ts'

/**
 * Prepares the content of a new transaction: it reads the tables, checks the rules of the relayer, simulates,
 * sets the price, and adds a blockhash. A transaction that others have signed stays unchanged.
 */
export async function prepareDraft(
  context: PrepareContext,
  request: SolanaRequest,
  account: SolanaAccount,
): Promise<Answer<SolanaPrepared>> {
  const answer = await openCase(context, request, account)
  if (answer.kind !== 'ok') return answer
  return isMultiSigner(answer.value.subject.message)
    ? prepareExternallySigned(context, answer.value)
    : prepareOwn(context, answer.value)
}

/** Prepares a transaction that the caller will send: nothing is added to it. */
export async function prepareAsItIs(
  context: PrepareContext,
  request: SolanaRequest,
  account: SolanaAccount,
): Promise<Answer<SolanaPrepared>> {
  const answer = await openCase(context, request, account)
  return answer.kind === 'ok' ? prepareExternallySigned(context, answer.value) : answer
}

/**
 * An account may occur in a transaction once, wherever it comes from (agave
 * `accounts-db/src/account_locks.rs`).
 */
function checkTwice({ accounts, at }: PolicySubject): Refusal | undefined {
  const names = accounts.map(({ address }) => address)
  const twice = names.find((address, index) => names.indexOf(address) < index)
  return twice === undefined
    ? undefined
    : {
        code: 'invalid_request',
        detail: `${at}: account ${twice} occurs twice, in the message or in its tables.`,
      }
}

/**
 * Reads the tables and checks everything again, because rules may have changed since the request was
 * accepted.
 */
export async function openCase(
  context: PrepareContext,
  request: SolanaRequest,
  { address: self, policies }: SolanaAccount,
): Promise<Answer<Case>> {
  const { message, at } = contentOf(request, self)
  const loaded = await loadAddresses(context, message)
  if (loaded.kind !== 'ok') return loaded
  const accounts = accountsOf(message, loaded.value)
  const subject = { message, accounts, self, at }
  const refusal = checkTwice(subject) ?? checkPolicies(subject, policies) ?? checkFeePayer(subject, policies)
  if (refusal !== undefined) return { kind: 'refused', refusal }
  const nonceAccount = nonceAccountOf(message, accounts)
  return {
    kind: 'ok',
    value: omitUndefined({
      subject,
      request,
      policies,
      spends: request.payment === undefined && maySpend(message, policies),
      nonceAccount,
    }),
  }
}

/**
 * Prepares a transaction that others have not signed yet: the service adds blockhash, compute units and their
 * price.
 */
export async function prepareOwn(context: PrepareContext, own: Case): Promise<Answer<SolanaPrepared>> {
  const { client } = context
  const { subject, request, policies } = own
  const lifetime = await ownLifetimeFor(context, own)
  if (lifetime.kind !== 'ok') return lifetime
  const content = withLifetime(subject.message, lifetime.value.token)
  const missing = missingBudget(content, context.loadedBytes())
  // Where the caller names a price for each unit, more units would cost more than the caller allows.
  const message = (readBudget(content).unitPrice ?? 0n) > 0n ? content : withUnitsFor(content, missing)
  const [outcome, price] = await Promise.all([
    guardedSimulation(context, own, complete(message, missing, { unitLimit: MAX_UNITS, unitPrice: 0n })),
    missing.unitPrice === undefined ? FREE : askPrice(client, message, request.speed),
  ])
  if (outcome.kind !== 'ok') return outcome
  if (price.kind !== 'ok') return price
  const unitLimit = readBudget(message).unitLimit ?? unitLimitFor(outcome.value.units)
  const cap = feeCap(policies)
  const bid = chooseBid(message, { wanted: price.value, unitLimit, cap })
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
  readonly expiresAt?: BlockHeight
  readonly preparedAtSlot?: Slot
}

async function ownLifetimeFor(context: PrepareContext, own: Case): Promise<Answer<OwnLifetime>> {
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
 * Returns the parts of the budget that the content does not set; a zero is a placeholder for a number that is
 * computed later. Where not all parts fit, the part that distinguishes the transaction from another one with
 * the same content comes first; where that does not fit either, the content is sent without it.
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

/** Returns true if the network accepts the message with these instructions like without them. */
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

/**
 * Prepares a transaction that others have signed: it is sent unchanged or not at all, because blockhash,
 * price and instructions are theirs.
 */
async function prepareExternallySigned(
  context: PrepareContext,
  externallySigned: Case,
): Promise<Answer<SolanaPrepared>> {
  const { subject, request, nonceAccount } = externallySigned
  const { message } = subject
  const [lifetime, outcome] = await Promise.all([
    externalLifetimeFor(context, message, nonceAccount),
    guardedSimulation(context, externallySigned, message),
  ])
  if (lifetime.kind !== 'ok') return lifetime
  if (outcome.kind !== 'ok') return outcome
  const draft = omitUndefined({
    type: 'solana' as const,
    transaction: request.transaction ?? '',
    fee: feeOf(message),
    unitPrice: readBudget(message).unitPrice ?? 0n,
    spends: outcome.value.taken,
    expiresAt: lifetime.value.expiresAt,
    preparedAtSlot: lifetime.value.preparedAtSlot,
    nonceAccount: lifetime.value.expiresAt === undefined ? nonceAccount : undefined,
  })
  return { kind: 'ok', value: { draft, logs: [] } }
}

/** The end of its life, or its beginning with a durable nonce. */
type ExternalLifetime = Pick<SolanaDraft, 'expiresAt' | 'preparedAtSlot'>

async function externalLifetimeFor(
  context: PrepareContext,
  { lifetimeToken }: Message,
  nonceAccount: string | undefined,
): Promise<Answer<ExternalLifetime>> {
  return nonceAccount === undefined
    ? readExternalLifetime(context, lifetimeToken)
    : checkNonce(context, nonceAccount, lifetimeToken)
}

/**
 * A durable nonce is valid until its authority advances it. The value in its place may also be a blockhash,
 * which counts first (agave `runtime/src/bank/check_transactions.rs`), or a value that the endpoint does not
 * know yet.
 */
async function checkNonce(
  context: PrepareContext,
  nonceAccount: string,
  value: string,
): Promise<Answer<ExternalLifetime>> {
  const nonce = await requireNonce(context, nonceAccount)
  if (nonce.kind !== 'ok') return nonce
  if (nonce.value.value === value) return { kind: 'ok', value: { preparedAtSlot: nonce.value.slot } }
  const lifetime = await readExternalLifetime(context, value)
  if (lifetime.kind !== 'refused') return lifetime
  const detail = `transaction: its durable nonce is no longer that of ${nonceAccount}; sign it with the current one.`
  return { kind: 'refused', refusal: { code: 'invalid_request', detail } }
}
