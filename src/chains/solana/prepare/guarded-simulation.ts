import { larger } from '../../../lib/bigint.ts'
import { fingerprintOf } from '../../../lib/hash.ts'
import type { Answer, Refusal } from '../../answer.ts'
import { isNear, secondHighest } from '../../rpc/agreement.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import { dependsOnState, type SimulationOpinion } from '../../simulations.ts'
import type { FeePayment } from '../../sponsoring.ts'
import type { SolanaRequest } from '../content.ts'
import { rentIn } from '../effects/token-rent.ts'
import { type AccountState, MAX_ACCOUNTS_ASKED, readAccountsEverywhere } from '../read/accounts.ts'
import { encodeBase58, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../wire/addresses.ts'
import { isMultiSigner, type Message } from '../wire/message.ts'
import type { Case, PrepareContext } from './context.ts'
import { feeOf } from './fees.ts'
import { type Opinion, type Simulation, simulate, simulateEverywhere, type Trial } from './simulate.ts'

/** The results of a simulation that the service uses. */
export interface Outcome {
  readonly units: bigint
  /** The lamports that leave the relayer's account besides the fee. */
  readonly taken: bigint
}

/**
 * A repeated refusal is final after this many finalized slots although another endpoint is silent: a minute,
 * as long as a blockhash lives. More slots delay transactions while an endpoint is dead; fewer let a late
 * node end good transactions.
 */
export const FINAL_AFTER_SLOTS = 150n

/** The parts of the context that a guarded simulation uses. */
type GuardTools = Pick<PrepareContext, 'client' | 'timeouts' | 'simulations'>

/**
 * Simulates the message. Where the relayer only pays, neither lamports beyond the fee, and the rent of token
 * accounts that it may open, nor tokens of its accounts may leave. No instruction receives its authority, but
 * some tokens can be taken without it (Token-2022 has permanent delegates). Where users pay, their payment
 * must arrive in full. A node that lacks the newest slots may refuse a good transaction, so a refusal that
 * depends on the state of the accounts needs the opinions of all endpoints.
 */
export async function guardedSimulation(
  tools: GuardTools,
  one: Case,
  message: Message,
): Promise<Answer<Outcome>> {
  const { client, simulations, timeouts } = tools
  const { subject, request, spends, nonceAccount } = one
  const tokens = spends ? OK_NONE : await tokenAccountsAmong(client, subject)
  if (tokens.kind !== 'ok') return tokens
  const watched = [subject.self, ...tokens.value]
  // A transaction that others have signed is simulated unchanged: only then does the node report that it was
  // already included.
  const anyBlockhash = nonceAccount === undefined && !isMultiSigner(message)
  const trial = { message, watched, anyBlockhash, exact: !spends }
  const decide = (answer: Answer<Simulation>) => guard(one, trial, answer)
  if (client.states().length < 2) {
    const answer = decide(await simulate(tools, trial))
    const isDoubtful = answer.kind === 'refused' && dependsOnState(answer.refusal)
    if (!isDoubtful) return answer
  }
  const opinions = await simulateEverywhere(tools, trial, decide)
  const content = contentOf(subject.self, request)
  const loss = { isOver: () => timeouts.isOver(`loss ${fingerprintOf(content)}`) }
  return simulations.settle(content, agreedOutcome(heedLoss(opinions, loss)))
}

type OutcomeOpinion = SimulationOpinion<Outcome> & Opinion<Outcome>

/**
 * Gives every success the same outcome: the units are the highest that a second endpoint comes near, because
 * content runs out of fewer, and one of two that differ must not fail what the other would execute.
 */
function agreedOutcome(opinions: readonly OutcomeOpinion[]): readonly OutcomeOpinion[] {
  const outcomes = opinions.flatMap(({ answer }) => (answer.kind === 'ok' ? [answer.value] : []))
  if (outcomes.length < 2) return opinions
  const units = outcomes.map((outcome) => outcome.units)
  const counted = units.length === 2 ? units.reduce(larger) : (secondHighest(units) ?? 0n)
  const agreed: Outcome = {
    units: units.filter((one) => isNear(one, counted)).reduce(larger, counted),
    taken: secondHighest(outcomes.map(({ taken }) => taken)) ?? 0n,
  }
  return opinions.map((opinion) =>
    opinion.answer.kind === 'ok' ? { ...opinion, answer: { kind: 'ok', value: agreed } } : opinion,
  )
}

/**
 * Heeds an endpoint that sees the relayer lose something, like `refuseIfAnySeesLoss`; but one that sees it
 * alone, where two or more at the same slot do not, has to be ahead of them, and they have some time to catch
 * up.
 */
function heedLoss(
  opinions: readonly OutcomeOpinion[],
  loss: { readonly isOver: () => boolean },
): readonly OutcomeOpinion[] {
  const [seer, ...seers] = opinions.filter(seesHarm)
  const safe = opinions.filter(({ answer, behind }) => answer.kind === 'ok' && !behind)
  if (seer === undefined) return opinions
  if (seers.length > 0 || safe.length < 2) return refuseIfAnySeesLoss(opinions)
  const reached = safe.every(({ slot }) => slot !== undefined && seer.slot !== undefined && slot >= seer.slot)
  return reached || loss.isOver() ? safe : refuseIfAnySeesLoss(opinions)
}

/** Blockhash and compute budget differ each time, so the request identifies the content. */
function contentOf(self: string, { transaction, instructions }: SolanaRequest): object {
  return { self, transaction, instructions }
}

/** Refuses a simulation in which the relayer loses something that it must keep. */
function guard(
  { subject, policies, spends, request: { payment } }: Case,
  { message, watched }: Trial,
  answer: Answer<Simulation>,
): Answer<Outcome> {
  if (answer.kind !== 'ok') return answer
  const { units } = answer.value
  const taken = lamportsBeyond(feeOf(message), answer.value)
  if (spends) return { kind: 'ok', value: { units, taken } }
  const rent = rentIn(subject, policies)
  const harm =
    taken > rent
      ? `${taken - rent} lamports would leave the relayer's account`
      : (tokenHarm(watched, answer.value) ?? (payment && underpaid(payment, watched, answer.value)))
  return harm === undefined
    ? { kind: 'ok', value: { units, taken: rent } }
    : { kind: 'refused', refusal: drained(subject.at, harm) }
}

const OK_NONE: Answer<readonly string[]> = { kind: 'ok', value: [] }

/** Finds the accounts that the transaction could change and that hold tokens of the relayer. */
async function tokenAccountsAmong(
  client: PooledClient,
  { accounts, self }: Case['subject'],
): Promise<Answer<readonly string[]>> {
  const writable = accounts.filter((account) => account.writable && account.address !== self)
  const addresses = writable.map(({ address }) => address)
  if (addresses.length === 0) return OK_NONE
  if (addresses.length > MAX_ACCOUNTS_ASKED) throw new Error('more accounts than a transaction can lock')
  const answer = await readAccountsEverywhere(client, addresses)
  if (answer.kind !== 'ok') return answer
  // An account counts if any endpoint shows it: one that hides it would let its tokens go.
  const isOwn = (index: number) => answer.value.some(({ accounts }) => holdsTokensOf(accounts[index], self))
  return { kind: 'ok', value: addresses.filter((_, index) => isOwn(index)) }
}

function changesIn(watched: readonly string[], { before, after }: Simulation) {
  return watched.map((address, index) => ({ address, before: before[index], after: after[index] }))
}

/** Nodes also charge the fee in a simulation. */
function lamportsBeyond(fee: bigint, { before, after }: Simulation): bigint {
  const taken = lamportsTaken({ address: '', before: before[0], after: after[0] })
  return taken > fee ? taken - fee : 0n
}

function tokenHarm(watched: readonly string[], simulation: Simulation): string | undefined {
  return changesIn(watched, simulation)
    .slice(1)
    .map(tokensTaken)
    .find((harm) => harm !== undefined)
}

/**
 * The layout of a token account (`spl_token::state::Account`, which Token-2022 keeps and extends): mint,
 * owner, amount, delegate, state, native, delegated amount, close authority.
 */
const OWNER = { from: 32, to: 64 } as const
const AMOUNT_AT = 64
const BASE_BYTES = 165
/** Token-2022 stores the kind of account after the base (`AccountType`). */
const TOKEN_ACCOUNT_TYPE = 2

/**
 * The fields that decide who may move the tokens: mint and owner; delegate, state and native; delegated
 * amount and close authority.
 */
const RIGHTS = [
  [0, 64],
  [72, 121],
  [121, BASE_BYTES],
] as const

/** Returns true if an account holds tokens of this owner. */
function holdsTokensOf(account: AccountState | undefined, owner: string): boolean {
  if (account === undefined || !isTokenProgram(account.owner)) return false
  const { data } = account
  if (data.length < BASE_BYTES) return false
  if (data.length > BASE_BYTES && data[BASE_BYTES] !== TOKEN_ACCOUNT_TYPE) return false
  return encodeBase58(data.subarray(OWNER.from, OWNER.to)) === owner
}

function isTokenProgram(program: string): boolean {
  return program === TOKEN_PROGRAM || program === TOKEN_2022_PROGRAM
}

/**
 * Explains why the payment is not made in full, whatever the reason: a second transfer, a fee of the token, a
 * program of the mint.
 */
function underpaid(
  { receiver, amount }: FeePayment,
  watched: readonly string[],
  simulation: Simulation,
): string | undefined {
  const change = changesIn(watched, simulation).find(({ address }) => address === receiver)
  const gained =
    change?.before === undefined || change.after === undefined
      ? 0n
      : amountIn(change.after) - amountIn(change.before)
  return gained >= amount
    ? undefined
    : `the relayer would be paid ${gained} of ${amount} base units of the fee token`
}

/** One account before and after a simulation. */
interface Change {
  readonly address: string
  readonly before: AccountState | undefined
  readonly after: AccountState | undefined
}

/** Returns the lamports that left the account; 0 when it received some. */
function lamportsTaken({ before, after }: Change): bigint {
  const taken = (before?.lamports ?? 0n) - (after?.lamports ?? 0n)
  return taken > 0n ? taken : 0n
}

/** Explains why the tokens of the relayer are not safe; undefined if they are. */
function tokensTaken({ address, before, after }: Change): string | undefined {
  if (before === undefined) return undefined
  if (after === undefined || after.owner !== before.owner || after.data.length < BASE_BYTES)
    return `the relayer's token account ${address} would be closed`
  if (amountIn(after) < amountIn(before))
    return `the relayer's token account ${address} would lose ${amountIn(before) - amountIn(after)} of its tokens`
  const changed = RIGHTS.some(([from, to]) => !part(after, from, to).equals(part(before, from, to)))
  return changed ? `another account would get rights in the relayer's token account ${address}` : undefined
}

/** Refuses a transaction that takes from an account that only pays. */
function drained(at: string, what: string): Refusal {
  return {
    code: 'fee_payer_at_risk',
    detail: `${at}: in the simulation ${what}; the relayer only pays the fee.`,
  }
}

function amountIn({ data }: AccountState): bigint {
  return Buffer.from(data).readBigUInt64LE(AMOUNT_AT)
}

function part({ data }: AccountState, from: number, to: number): Buffer {
  return Buffer.from(data.subarray(from, to))
}

/**
 * An endpoint that sees the relayer lose something forbids the successes of the others: their state may be
 * some slots older, and a loss cannot be undone. The transaction is not signed while any current endpoint
 * sees a loss. Pure.
 */
export function refuseIfAnySeesLoss<O extends SimulationOpinion<unknown>>(
  opinions: readonly O[],
): readonly (O | (O & { readonly answer: Answer<never> }))[] {
  if (!opinions.some(seesHarm)) return opinions
  return opinions.map((opinion) =>
    opinion.answer.kind === 'ok' ? { ...opinion, answer: FORBIDDEN } : opinion,
  )
}

function seesHarm({ answer, behind }: SimulationOpinion<unknown>): boolean {
  return !behind && answer.kind === 'refused' && answer.refusal.code === 'fee_payer_at_risk'
}

const FORBIDDEN: Answer<never> = {
  kind: 'unknown',
  detail: 'another endpoint sees the relayer lose something',
}
