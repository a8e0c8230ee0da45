import { isDeepStrictEqual } from 'node:util'
import type { Answer } from '../../chains/answer.ts'
import type { Chain, SourceAccount } from '../../chains/chain.ts'
import { tokenId } from '../../chains/sponsoring.ts'
import type { Tx } from '../../database/db.ts'
import { transact } from '../../database/locks/transact.ts'
import type { Clock } from '../../lib/time.ts'
import type { SignerHealth } from '../../signers/signer.ts'
import { sharesAccount, sponsoringPoliciesOf } from '../policies/policy.ts'
import type { Relayer } from '../relayer.ts'
import { findHistoryMark, findRelayer, setSystemDisabled } from '../store.ts'
import {
  evaluateHealth,
  type HealthCheckerDeps,
  type HealthEvaluation,
  type HealthFacts,
  type HealthMemory,
  type HealthReading,
  type HealthStep,
  type HealthTarget,
  NO_MEMORY,
  nextStep,
  readingOf,
  type SeenNonce,
  type SourceAccountFacts,
} from './health.ts'
import { countFailedChecks, findSubjects, type HealthSubject, lockForHealth } from './health-store.ts'
import { readPoolNonces } from './pool-nonces.ts'

/** A check without an answer by then counts as silence, in ms: far more than a node needs on the slowest chain. */
const LONGEST_MS = 60_000

/** A caller who changes a relayer waits for its check for at most this long, in ms. */
const MAX_CALLER_WAIT_MS = 5_000

/** The outcome of a check. */
export interface Checked {
  readonly id: string
  readonly memory: HealthMemory
  /** The number of checks that failed in a row, this one included; 0 for an enabled relayer. */
  readonly failedChecks: number
  readonly reading: HealthReading
}

/** Checks relayers, and disables and enables them. */
export interface HealthChecker {
  /** Checks relayers of one chain. An aborted check writes nothing and returns nothing. */
  check(chain: Chain, targets: readonly HealthTarget[], signal: AbortSignal): Promise<Checked[]>
  /**
   * Checks a relayer that a caller has just created or changed, for 5 s at most, and returns it as it is then. Never rejects: the next
   * check repeats a failed one.
   */
  checkNow(relayer: Relayer): Promise<Relayer>
}

/** Creates the checker of this database's relayers. */
export function createHealthChecker(deps: HealthCheckerDeps): HealthChecker {
  return {
    check: (chain, targets, signal) => check(deps, targets, { chain, signal, timeoutMs: LONGEST_MS }),
    checkNow: async (relayer) => {
      try {
        return (await checkOne(deps, relayer.id)) ?? relayer
      } catch (error) {
        deps.log.error({ err: error, relayer: relayer.id }, 'relayer check failed; retrying')
        return relayer
      }
    },
  }
}

/** Returns the relayer after the check; undefined if it was deleted. */
async function checkOne(deps: HealthCheckerDeps, id: string): Promise<Relayer | undefined> {
  const [subject] = await findSubjects(deps.db, [id])
  if (subject === undefined) return undefined
  const { chain, sourceAccounts } = await deps.prepare(subject.relayer)
  const target = { ...subject, chain, sourceAccounts, memory: NO_MEMORY }
  await check(deps, [target], { chain, timeoutMs: MAX_CALLER_WAIT_MS, looksIntoPools: true })
  return findRelayer(deps.db, id)
}

interface Occasion {
  readonly chain: Chain
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  /** Asks for what waits in pools also for relayers that are enabled: before it signs, the service asks itself. */
  readonly looksIntoPools?: boolean
}

async function check(
  deps: HealthCheckerDeps,
  targets: readonly HealthTarget[],
  { chain, timeoutMs, signal, looksIntoPools = false }: Occasion,
): Promise<Checked[]> {
  const asked = targets.map((target) => ({
    ...target,
    looksIntoPool: looksIntoPools || target.relayer.systemDisabled,
  }))
  const heard = await waitWithin(deps.clock, askHealth(chain, asked, deps), {
    ms: timeoutMs,
    signal,
  })
  if (signal?.aborted) return []
  const decided = targets.map((target, index) => {
    const subject = { relayer: target.relayer, unit: chain.unit, now: deps.clock.now() }
    const facts = heard?.[index] ?? nothingHeard(chain)
    const evaluated = evaluateHealth(subject, facts, target.memory)
    const reading = readingOf(target, facts, chain.unit)
    return { target, facts, ...evaluated, reading, step: nextStep(target.relayer, evaluated.evaluation) }
  })
  await countFailedChecks(
    deps.db,
    decided.flatMap(({ target: { relayer }, step }) =>
      step.kind === 'remain' ? { id: relayer.id, ...(step.reason && { reason: step.reason }) } : [],
    ),
  )
  for (const { target, facts, evaluation, step } of decided)
    if (step.kind === 'disable' || step.kind === 'enable')
      await recordHealth(deps, target, { facts, evaluation })
  return decided.map(({ target, memory, reading, step }) => ({
    id: target.relayer.id,
    memory,
    reading,
    failedChecks: failuresAfter(target, step),
  }))
}

function failuresAfter({ relayer, failedChecks }: HealthTarget, { kind }: HealthStep): number {
  if (kind === 'none' || kind === 'enable') return 0
  return relayer.systemDisabled ? failedChecks + 1 : 1
}

/** Returns undefined if the answer takes too long, or the check is aborted. */
async function waitWithin<T>(
  clock: Clock,
  answer: Promise<T>,
  { ms, signal }: { readonly ms: number; readonly signal: AbortSignal | undefined },
): Promise<T | undefined> {
  const over = new AbortController()
  const late = clock.sleep(ms, signal ? AbortSignal.any([signal, over.signal]) : over.signal)
  try {
    return await Promise.race([answer, late.then(() => undefined)])
  } finally {
    over.abort()
  }
}

/** A relayer with the accounts whose nonces it takes. */
interface Asked extends Pick<HealthSubject, 'relayer' | 'confirmed' | 'explained'> {
  readonly sourceAccounts: readonly SourceAccount[]
  readonly looksIntoPool: boolean
}

/** Reads the balances of the fee tokens for which there is an alert; undefined if there are none. */
async function askTokens(chain: Chain, relayer: Relayer): Promise<ReadonlyMap<string, bigint> | undefined> {
  const { sponsoring } = chain
  const watched = (sponsoringPoliciesOf(relayer).allowedTokens ?? []).filter(
    ({ max_token_balance }) => max_token_balance !== undefined,
  )
  if (sponsoring === undefined || watched.length === 0) return undefined
  const balances = await Promise.all(
    watched.map(async (token) => {
      const balance = await sponsoring.tokenBalance(tokenId(token), relayer.address)
      return balance.kind === 'ok' ? [[tokenId(token), balance.value] as const] : []
    }),
  )
  return new Map(balances.flat())
}

/** Returns the facts of a check without any answer in time. */
function nothingHeard(chain: Chain): HealthFacts {
  const network = { kind: 'unknown', detail: 'no answer in time' } as const
  return { network, endpoints: chain.endpoints(), balance: NOT_ASKED, ...NO_NONCES, signers: [] }
}

const NOT_ASKED = { kind: 'unknown', detail: 'not asked' } as const
const NO_NONCES = { sourceAccounts: [], unexplained: [], history: NOT_ASKED } as const

/**
 * Queries one chain about all of its relayers, in order. Read the confirmed nonces before, so that the chain has included them. The
 * identity of the chain is queried once and first; the other queries go out together, so that they share batches. Keys in key services are
 * checked at the same time.
 */
async function askHealth(
  chain: Chain,
  all: readonly Asked[],
  {
    findChainReset,
    findUnexplained,
    checkHistory,
  }: Pick<HealthCheckerDeps, 'findChainReset' | 'findUnexplained' | 'checkHistory'>,
): Promise<HealthFacts[]> {
  const [network, signers] = await Promise.all([
    verifyChain(chain, all, findChainReset),
    Promise.all(all.map(checkSigners)),
  ])
  const common = { network, endpoints: chain.endpoints() }
  if (network.kind !== 'ok')
    return signers.map((own) => ({ ...common, balance: NOT_ASKED, ...NO_NONCES, signers: own }))
  const answers = all.map(async (asked, index) => {
    const [balance, sourceAccounts, inPools, history, tokens] = await Promise.all([
      chain.balance(asked.relayer.address),
      askSourceAccounts(chain, asked),
      asked.looksIntoPool ? readPoolNonces(chain, asked.relayer, asked.sourceAccounts) : [],
      checkHistory(asked.relayer, chain),
      askTokens(chain, asked.relayer),
    ])
    const nonces = new Map(readNonces(sourceAccounts).map((one) => [one.address, one]))
    for (const one of inPools)
      if (one.chainNonce > (nonces.get(one.address)?.chainNonce ?? -1n)) nonces.set(one.address, one)
    const unexplained = await findUnexplained(asked.relayer, [...nonces.values()].filter(isBeyond(asked)))
    return { ...common, balance, tokens, sourceAccounts, unexplained, history, signers: signers[index] ?? [] }
  })
  // The head makes the height of every endpoint known, so that the pool ignores an endpoint that lags.
  const [facts] = await Promise.all([Promise.all(answers), chain.head()])
  return facts
}

/** Checks each key once that another service holds. */
async function checkSigners({ sourceAccounts }: Asked): Promise<SignerHealth[]> {
  const checks = new Set(sourceAccounts.flatMap(({ signer }) => signer?.check ?? []))
  return Promise.all([...checks].map((check) => check()))
}

/** Refuses an endpoint of another network, and a chain that was reset. */
async function verifyChain(
  chain: Chain,
  [first]: readonly Asked[],
  findChainReset: HealthCheckerDeps['findChainReset'],
): Promise<Answer<void>> {
  const verified = await chain.verify()
  if (verified.kind !== 'ok' || first === undefined) return verified
  const detail = await findChainReset(first.relayer)
  return detail === undefined ? verified : { kind: 'refused', refusal: { code: 'invalid_request', detail } }
}

async function askSourceAccounts(
  chain: Chain,
  { sourceAccounts, confirmed }: Asked,
): Promise<SourceAccountFacts[]> {
  if (chain.sequencing === undefined) return []
  const next = await chain.sequencing.nonces(sourceAccounts.map(({ address }) => address))
  return sourceAccounts.map(({ address }, index) => ({
    address,
    confirmed: confirmed.get(address),
    next: next[index] ?? NO_REPLY,
  }))
}

function readNonces(sourceAccounts: readonly SourceAccountFacts[]): SeenNonce[] {
  return sourceAccounts.flatMap(({ address, next }) =>
    next.kind === 'ok' ? [{ address, chainNonce: next.value }] : [],
  )
}

/** Spares idle relayers a query each: a nonce needs one only beyond the numbers that were read with the relayer. */
function isBeyond({ explained }: Asked) {
  return ({ address, chainNonce }: { readonly address: string; readonly chainNonce: bigint }): boolean =>
    chainNonce > (explained.get(address) ?? -1n)
}

const NO_REPLY: Answer<never> = { kind: 'unknown', detail: 'no reply' }

/**
 * Writes the result of a check, and logs it. Never rejects: a failure for one relayer does not affect the others, and the next check
 * repeats the finding.
 */
async function recordHealth(deps: HealthCheckerDeps, target: HealthTarget, finding: Finding): Promise<void> {
  const { id } = target.relayer
  try {
    const step = await decideAgain(deps, target, finding)
    if (step.kind === 'disable') deps.log.warn({ relayer: id, reason: step.reason }, 'relayer disabled')
    if (step.kind === 'enable') deps.log.info({ relayer: id }, 'relayer enabled')
  } catch (error) {
    deps.log.error({ err: error, relayer: id }, 'relayer check could not be stored')
  }
}

/**
 * Decides under a lock on the relayer as it is now: of two processes with the same finding, one writes and records the event. A finding
 * about a relayer that has changed since then does not count.
 */
async function decideAgain(
  { db, prepare }: HealthCheckerDeps,
  { relayer, chain }: HealthTarget,
  { facts, evaluation }: Finding,
): Promise<HealthStep> {
  // A caller has changed the urls of its network.
  if ((await prepare(relayer)).chain !== chain) return NO_CHANGE
  return transact(db, async (tx) => {
    const present = await lockForHealth(tx, relayer.id)
    if (present === undefined || !isDeepStrictEqual(tested(present), tested(relayer))) return NO_CHANGE
    const step = nextStep(present, evaluation)
    if (step.kind === 'disable' && (await isAcceptedSince(tx, present, facts))) return NO_CHANGE
    if (step.kind === 'disable') await setSystemDisabled(tx, relayer.id, step.reason)
    if (step.kind === 'enable') await setSystemDisabled(tx, relayer.id, null)
    return step
  })
}

/** What a check has heard, and what follows from it. */
interface Finding {
  readonly facts: HealthFacts
  readonly evaluation: HealthEvaluation
}

/**
 * Returns true if an operator has accepted what the check could not explain, after it had read the records.
 * The next check decides.
 */
async function isAcceptedSince(
  tx: Tx,
  relayer: Relayer,
  { unexplained, history }: HealthFacts,
): Promise<boolean> {
  if (unexplained.length > 0) {
    const [subject] = await findSubjects(tx, [relayer.id])
    return unexplained.some(
      ({ address, chainNonce }) => chainNonce <= (subject?.explained.get(address) ?? -1n),
    )
  }
  if (history.kind !== 'unexplained') return false
  const mark = await findHistoryMark(tx, relayer)
  return mark !== undefined && mark.slot > history.explainedTo
}

const NO_CHANGE: HealthStep = { kind: 'none' }

/** Returns the fields of a relayer that a check depends on. */
function tested(relayer: Relayer) {
  const { networkType, network, address, signerId, customRpcUrls, policies } = relayer
  const { minBalance } = policies
  return {
    networkType,
    network,
    address,
    signerId,
    customRpcUrls,
    minBalance,
    shared: sharesAccount(relayer),
  }
}
