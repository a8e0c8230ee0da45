import type { Answer, Refusal } from '../../answer.ts'
import { askEveryone, isNear } from '../../rpc/agreement.ts'
import type { EndpointReply, PooledClient, RpcCall } from '../../rpc/rpc.ts'
import type { SimulationOpinion } from '../../simulations.ts'
import { ABOUT_TABLES, INVALID_PARAMS, UNREADABLE } from '../broadcast.ts'
import { type AccountStates, accountsCall, accountsIn, readList } from '../read/accounts.ts'
import {
  contextualOf,
  fieldsOf,
  freshOf,
  readInteger,
  recentSlot,
  type Timeouts,
  TOLERATED_SLOTS,
} from '../read/replies.ts'
import { readFailure, type TransactionFailure } from '../read/transaction-error.ts'
import { SYSTEM_PROGRAM, tablesOf } from '../wire/addresses.ts'
import { type Message, programOf, writeUnsigned } from '../wire/message.ts'

/** The effect of a transaction on some accounts, and its compute units. */
export interface Simulation {
  readonly units: bigint
  readonly before: AccountStates['accounts']
  readonly after: AccountStates['accounts']
}

/** A transaction to simulate. */
export interface Trial {
  readonly message: Message
  /** The accounts whose state is reported, before and after. */
  readonly watched: readonly string[]
  /**
   * The node may replace the blockhash by one that it knows: not where a durable nonce or a signature depends
   * on it.
   */
  readonly anyBlockhash: boolean
  /**
   * Both states must be of the same slot. Otherwise the simulation tries that, and a difference between them
   * does no harm.
   */
  readonly exact: boolean
}

/**
 * The simulation tries this often to read both states from the same slot. Two consecutive calls mostly hit
 * the same one.
 */
const MAX_TRIES = 3

/** The reason of a failure is cut at this length, in characters. */
const MAX_REASON = 512

/** The tools of a simulation. */
export interface SimulationTools {
  readonly client: PooledClient
  readonly timeouts: Timeouts
}

/**
 * Runs a transaction on a node without sending it; refuses one that would fail. When both states are of the
 * same confirmed slot, nothing but this transaction lies between them.
 */
export async function simulate(tools: SimulationTools, trial: Trial): Promise<Answer<Simulation>> {
  for (let tries = 1; tries < MAX_TRIES; tries += 1) {
    const answer = await tryOnce(tools, trial)
    if (answer.kind !== 'ok' || answer.value.sameSlot) return answer
  }
  return requireSameSlot(await tryOnce(tools, trial), trial)
}

/** What one endpoint says of a simulation, and the confirmed slot of it, if it told one. */
export interface Opinion<T> {
  readonly answer: Answer<T>
  readonly slot: bigint | undefined
}

/**
 * Calls every endpoint, and reads the opinions of those at the head by `decide`. Two that say the same are
 * enough. Endpoints that said nothing are `unknown`. When no two states are of the same slot, it tries again.
 */
export async function simulateEverywhere<T extends { readonly units: bigint }>(
  tools: SimulationTools,
  trial: Trial,
  decide: (answer: Answer<Simulation>) => Answer<T>,
): Promise<readonly (SimulationOpinion<T> & Opinion<T>)[]> {
  for (let tries = 1; ; tries += 1) {
    const opinions = await askOpinions(tools, trial, decide)
    if (tries === MAX_TRIES || opinions.some(({ answer }) => answer.kind !== 'unknown')) return opinions
  }
}

async function askOpinions<T extends { readonly units: bigint }>(
  { client, timeouts }: SimulationTools,
  trial: Trial,
  decide: (answer: Answer<Simulation>) => Answer<T>,
): Promise<readonly (SimulationOpinion<T> & Opinion<T>)[]> {
  const { told, silence } = await askEveryone<Opinion<T>>(client, {
    calls: callsOf(trial),
    read: (replies) => {
      const [ran, read] = replies.map((reply): EndpointReply => ({ ...reply, behind: false }))
      const answer = decide(requireSameSlot(readAttempt({ timeouts, trial }, ran, read), trial))
      if (answer.kind === 'unknown') return answer
      const slot = contextualOf(ran?.reply)
      return { kind: 'ok', value: { answer, slot: slot.kind === 'ok' ? slot.value.slot : undefined } }
    },
    isSame: isSameOpinion,
    toleratedBlocks: TOLERATED_SLOTS,
  })
  const silent: SimulationOpinion<T> & Opinion<T> = {
    answer: { kind: 'unknown', detail: silence },
    slot: undefined,
    head: undefined,
    behind: true,
  }
  const others = client.states().slice(told.length)
  return [...told.map(({ value, ...rest }) => ({ ...value, ...rest })), ...others.map(() => silent)]
}

function isSameOpinion<T extends { readonly units: bigint }>(one: Opinion<T>, other: Opinion<T>): boolean {
  if (one.answer.kind === 'ok' && other.answer.kind === 'ok')
    return isNear(one.answer.value.units, other.answer.value.units)
  return (
    one.answer.kind === 'refused' &&
    other.answer.kind === 'refused' &&
    one.answer.refusal.code === other.answer.refusal.code
  )
}

type Attempted = Simulation & { readonly sameSlot: boolean }

function requireSameSlot(answer: Answer<Attempted>, { exact }: Trial): Answer<Simulation> {
  if (answer.kind !== 'ok' || answer.value.sameSlot || !exact) return answer
  return { kind: 'unknown', detail: 'the simulation and the accounts were of different slots' }
}

async function tryOnce({ client, timeouts }: SimulationTools, trial: Trial): Promise<Answer<Attempted>> {
  const [ran, read] = await client.sendAsOf(callsOf(trial), recentSlot(client))
  return readAttempt({ timeouts, trial }, ran, read)
}

function callsOf(trial: Trial): RpcCall[] {
  return [simulateCall(trial), accountsCall(trial.watched)]
}

/** Reads the replies to `callsOf`. */
function readAttempt(
  { timeouts, trial }: { readonly timeouts: Timeouts; readonly trial: Trial },
  ran: EndpointReply | undefined,
  read: EndpointReply | undefined,
): Answer<Attempted> {
  const unusable = readUnusable(ran, timeouts, trial.message)
  if (unusable) return unusable
  const before = accountsIn(read)
  const outcome = freshOf(ran)
  if (outcome.kind !== 'ok') return outcome
  const { err, unitsConsumed, accounts, logs } = fieldsOf(outcome.value.value)
  if (err === undefined) return NO_SIMULATION
  if (err !== null) return refuse(trial.message, readFailure(err), logs)
  if (before.kind !== 'ok') return before
  const units = readInteger(unitsConsumed)
  const after = readList(accounts)
  if (units === undefined || after?.length !== trial.watched.length) return NO_SIMULATION
  const sameSlot = before.value.slot === outcome.value.slot
  return { kind: 'ok', value: { units, before: before.value.accounts, after, sameSlot } }
}

const NO_SIMULATION = { kind: 'unknown', detail: 'the endpoint did not answer with a simulation' } as const

/**
 * A node that refuses to process a transaction calls it wrong parameters. Its tables may be too new for the
 * node; a text that is not agave's own can be a rule of the provider, and is treated like a failed
 * simulation; every other reason is permanent.
 */
function readUnusable(
  ran: EndpointReply | undefined,
  timeouts: Timeouts,
  message: Message,
): Answer<never> | undefined {
  if (ran?.reply.kind !== 'error' || ran.reply.code !== INVALID_PARAMS || ran.behind) return undefined
  const detail = ran.reply.message
  const tables = ABOUT_TABLES.test(detail) ? tablesOf(message).join(' ') : undefined
  if (tables !== undefined && !timeouts.isOver(`tables ${tables}`)) return { kind: 'unknown', detail }
  const code = UNREADABLE.test(detail) || tables !== undefined ? 'invalid_request' : 'execution_reverted'
  return { kind: 'refused', refusal: { code, detail: `transaction: ${detail}.` } }
}

function simulateCall({ message, watched, anyBlockhash }: Trial) {
  return {
    method: 'simulateTransaction',
    params: [
      writeUnsigned(message),
      {
        encoding: 'base64',
        sigVerify: false,
        replaceRecentBlockhash: anyBlockhash,
        commitment: 'confirmed',
        accounts: { encoding: 'base64', addresses: watched },
      },
    ],
  }
}

function refuse(message: Message, failure: TransactionFailure, logs: unknown): Answer<never> {
  if (failure.meaning === 'wait' || failure.meaning === 'cluster')
    return { kind: 'unknown', detail: `the node cannot simulate it now (${failure.description})` }
  const code = codeOf(message, failure)
  const detail =
    code === 'already_accepted'
      ? 'transaction: a block already contains it.'
      : `The simulation failed: ${failure.description}${lastLogMessage(logs)}.`
  return { kind: 'refused', refusal: { code, detail } }
}

/** `SystemError::ResultWithNegativeLamports`: the system program would take more than there is. */
const NEGATIVE_LAMPORTS = 1

function codeOf(message: Message, { meaning, instruction, custom }: TransactionFailure): Refusal['code'] {
  if (meaning === 'known') return 'already_accepted'
  if (meaning === 'funds') return 'insufficient_balance'
  const failed = message.instructions[instruction ?? -1]
  const overdrawn = custom === NEGATIVE_LAMPORTS && failed && programOf(message, failed) === SYSTEM_PROGRAM
  return overdrawn ? 'insufficient_balance' : 'execution_reverted'
}

/** Returns the last log message of the program itself. */
function lastLogMessage(logs: unknown): string {
  if (!Array.isArray(logs)) return ''
  const message = logs.findLast(
    (entry) => typeof entry === 'string' && /^Program log: |: insufficient /.test(entry),
  )
  return typeof message === 'string' ? ` (${message.replace(/^Program log: /, '').slice(0, MAX_REASON)})` : ''
}
