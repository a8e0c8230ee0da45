import type { Answer } from '../../answer.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import { dependsOnState } from '../../simulation-refusals.ts'
import type { SolanaRequest } from '../content.ts'
import { feeOf } from '../prepare/compute-budget.ts'
import type { Case, PrepareContext } from '../prepare/prepare-context.ts'
import { MAX_ACCOUNTS_ASKED, readAccounts } from '../read/account-state.ts'
import { isMultiSigner, type Message } from '../wire/message.ts'
import { drained, holdsTokensOf, lamportsTaken, tokensTaken } from './drain.ts'
import { withHarmVeto } from './harm-veto.ts'
import { type Simulation, simulate, simulateEverywhere, type Trial } from './simulate.ts'

/** The results of a simulation that the service uses. */
export interface Outcome {
  readonly units: bigint
  /** The lamports that leave the relayer's account besides the fee. */
  readonly taken: bigint
}

/**
 * A repeated refusal is final after this many finalized slots although another endpoint is silent: a minute, as long as a blockhash lives.
 * More slots delay transactions while an endpoint is dead; fewer let a late node end good transactions.
 */
export const FINAL_AFTER_SLOTS = 150n

/** The parts of the context that a guarded simulation uses. */
type GuardTools = Pick<PrepareContext, 'client' | 'timeouts' | 'simulations'>

/**
 * Simulates the message. Where the relayer only pays, neither lamports beyond the fee nor tokens of its accounts may leave. No instruction
 * receives its authority, but some tokens can be taken without it (Token-2022 has permanent delegates). A node that lacks the newest slots
 * may refuse a good transaction, so a refusal that depends on the state of the accounts asks for the opinions of all endpoints.
 */
export async function guardedSimulation(
  tools: GuardTools,
  one: Case,
  message: Message,
): Promise<Answer<Outcome>> {
  const { client, simulations } = tools
  const { subject, request, spends, nonceAccount } = one
  const tokens = spends ? OK_NONE : await tokenAccountsAmong(client, subject)
  if (tokens.kind !== 'ok') return tokens
  const watched = [subject.self, ...tokens.value]
  // A transaction that others have signed is simulated unchanged: only then the node tells that it was included already.
  const anyBlockhash = nonceAccount === undefined && !isMultiSigner(message)
  const trial = { message, watched, anyBlockhash, exact: !spends }
  const answer = guard(one, trial, await simulate(tools, trial))
  const isDoubtful = answer.kind === 'refused' && dependsOnState(answer.refusal)
  if (!isDoubtful) return answer
  const endpoints = await simulateEverywhere(tools, trial)
  const opinions = endpoints.map((opinion) => ({ ...opinion, answer: guard(one, trial, opinion.answer) }))
  return simulations.settle(contentOf(subject.self, request), withHarmVeto(opinions))
}

/** Blockhash and compute budget differ each time, so the request identifies the content. */
function contentOf(self: string, { transaction, instructions }: SolanaRequest): object {
  return { self, transaction, instructions }
}

/** Refuses a simulation in which the relayer loses something that it must keep. */
function guard(
  { subject, spends }: Case,
  { message, watched }: Trial,
  answer: Answer<Simulation>,
): Answer<Outcome> {
  if (answer.kind !== 'ok') return answer
  const { units } = answer.value
  const taken = lamportsBeyond(feeOf(message), answer.value)
  if (spends) return { kind: 'ok', value: { units, taken } }
  const harm =
    taken > 0n ? `${taken} lamports would leave the relayer's account` : tokenHarm(watched, answer.value)
  return harm === undefined
    ? { kind: 'ok', value: { units, taken: 0n } }
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
  const answer = await readAccounts(client, addresses)
  if (answer.kind !== 'ok') return answer
  const states = answer.value.accounts
  return { kind: 'ok', value: addresses.filter((_, index) => holdsTokensOf(states[index], self)) }
}

function changesIn(watched: readonly string[], { before, after }: Simulation) {
  return watched.map((address, index) => ({ address, before: before[index], after: after[index] }))
}

/** Nodes charge the fee in a simulation, too. */
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
