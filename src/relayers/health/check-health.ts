import { isDeepStrictEqual } from 'node:util'
import { type Answer, NO_REPLY } from '../../chains/answer.ts'
import type { Chain, SourceAccount } from '../../chains/chain.ts'
import { tokenId } from '../../chains/sponsoring.ts'
import type { Tx } from '../../database/db.ts'
import { transact } from '../../database/locks/transact.ts'
import { omitUndefined } from '../../lib/object.ts'
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
  type Looked,
  NO_MEMORY,
  needsLook,
  nextStep,
  readingOf,
  type SeenNonce,
  type SourceAccountFacts,
} from './health.ts'
import { countFailedChecks, findSubjects, type HealthSubject, lockForHealth } from './health-store.ts'
import { readPoolNonces } from './pool-nonces.ts'

/**
 * A check without an answer by then counts as silence, in ms: far more than a node needs on the slowest
 * chain.
 */
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
   * Checks a relayer that a caller has just created or changed, for 5 s at most, and returns it as it is
   * then. Never rejects: the next check repeats a failed one.
   */
  checkNow(relayer: Relayer): Promise<Relayer>
}

/** Creates the checker of this database's relayers. */
export function createHealthChecker(deps: HealthCheckerDeps): HealthChecker {
  const sweeps = new WeakMap<Chain, Sweep>()

  /**
   * Relayers of one chain that are checked one group after the other share what was asked about the chain,
   * unless something is wrong.
   */
  function sweepOf(chain: Chain, targets: readonly HealthTarget[]): Sweep {
    const now = deps.clock.monotonic()
    const present = sweeps.get(chain)
    if (present !== undefined && now - present.at < SWEEP_MS) return present
    const sweep = startSweep(chain, targets, deps)
    sweeps.set(chain, sweep)
    const forget = () => {
      if (sweeps.get(chain) === sweep) sweeps.delete(chain)
    }
    sweep.network.then(({ kind }) => kind === 'ok' || forget(), forget)
    return sweep
  }

  return {
    check: (chain, targets, signal) =>
      check(deps, targets, { chain, signal, timeoutMs: LONGEST_MS, sweep: sweepOf(chain, targets) }),
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
  await check(deps, [target], {
    chain,
    timeoutMs: MAX_CALLER_WAIT_MS,
    looksIntoPools: true,
    sweep: startSweep(chain, [target], deps),
  })
  return findRelayer(deps.db, id)
}

/**
 * Groups of relayers whose checks start within this time belong together, in ms: what was heard about the
 * chain counts for all.
 */
const SWEEP_MS = 5_000

/** The questions about a chain that are asked once for all of its relayers. */
interface Sweep {
  /** The time of its start in ms of the monotonic clock. */
  readonly at: number
  readonly network: Promise<Answer<void>>
  /**
   * The query for the head, which makes the height of every endpoint known, so that the pool ignores one that
   * lags.
   */
  head?: Promise<unknown>
}

function startSweep(
  chain: Chain,
  targets: readonly Pick<HealthTarget, 'relayer'>[],
  { clock, findChainReset }: Pick<HealthCheckerDeps, 'clock' | 'findChainReset'>,
): Sweep {
  return { at: clock.monotonic(), network: verifyChain(chain, targets, findChainReset) }
}

interface Occasion {
  readonly chain: Chain
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  readonly sweep: Sweep
  /**
   * Asks for what waits in pools also for relayers that are enabled: before it signs, the service asks
   * itself.
   */
  readonly looksIntoPools?: boolean
}

async function check(
  deps: HealthCheckerDeps,
  targets: readonly HealthTarget[],
  { chain, timeoutMs, signal, sweep, looksIntoPools = false }: Occasion,
): Promise<Checked[]> {
  const asked = targets.map((target) => ({
    ...target,
    isWhole: looksIntoPools || target.inTurn === true,
    looksIntoPool: looksIntoPools || target.relayer.systemDisabled,
  }))
  const heard = await waitWithin(deps.clock, askHealth(chain, { all: asked, sweep }, deps), {
    ms: timeoutMs,
    signal,
  })
  if (signal?.aborted) return []
  const decided = targets.map((target, index) => {
    const subject = { relayer: target.relayer, unit: chain.unit, now: deps.clock.now() }
    const facts = heard?.[index] ?? nothingHeard(chain)
    const { evaluation, memory: found } = evaluateHealth(subject, facts, target.memory)
    const { nonceGap, tokens } = facts.looked ? {} : (target.memory.looked?.reading ?? {})
    const reading = { ...omitUndefined({ nonceGap, tokens }), ...readingOf(target, facts, chain.unit) }
    const present = { at: deps.clock.monotonic(), found, reading }
    const memory = omitUndefined({ ...found, looked: lookedAt(target, { facts, evaluation }, present) })
    return { target, facts, evaluation, memory, reading, step: nextStep(target.relayer, evaluation) }
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

/**
 * Returns the last complete look at an account that found it in order, as far as the next check may rely on
 * it.
 */
function lookedAt(
  { memory: before }: HealthTarget,
  { facts: { network, looked, balance }, evaluation: { reason, unsure } }: Finding,
  {
    at,
    found,
    reading,
  }: { readonly at: number; readonly found: HealthMemory; readonly reading: HealthReading },
): Looked | undefined {
  if (network.kind === 'refused') return undefined
  if (!looked) return before.looked
  const isInOrder = reason === undefined || reason.type === 'BalanceCheckFailed'
  if (balance.kind !== 'ok' || unsure || !isInOrder || found.outOfStep > 0) return undefined
  return { at, balance: balance.value, reading }
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
interface Asked
  extends Pick<HealthSubject, 'relayer' | 'confirmed' | 'explained'>,
    Pick<HealthTarget, 'memory'> {
  readonly sourceAccounts: readonly SourceAccount[]
  /** The check looks at the whole account although it may be at rest. */
  readonly isWhole: boolean
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
function nothingHeard(chain: Chain): Heard {
  const network = { kind: 'unknown', detail: 'no answer in time' } as const
  return { network, endpoints: chain.endpoints(), balance: NOT_ASKED, ...NOT_LOOKED, signers: [] }
}

const NOT_ASKED = { kind: 'unknown', detail: 'not asked' } as const

/** The facts that a look at the whole account has read. */
interface Look extends Pick<HealthFacts, 'tokens' | 'sourceAccounts' | 'unexplained' | 'history'> {
  /** False if only the balance of the account was read. */
  readonly looked: boolean
}

type Heard = HealthFacts & Look

const NOT_LOOKED: Look = { looked: false, sourceAccounts: [], unexplained: [], history: NOT_ASKED }

/**
 * Queries one chain about all of its relayers, in order. Read the confirmed nonces before, so that the chain
 * has included them. The identity of the chain is queried once and first; the other queries go out together,
 * so that they share batches. All balances take few calls, and only accounts that are not at rest take more.
 * Keys in key services are checked at the same time.
 */
async function askHealth(
  chain: Chain,
  { all, sweep }: { readonly all: readonly Asked[]; readonly sweep: Sweep },
  deps: Pick<HealthCheckerDeps, 'findUnexplained' | 'checkHistory'>,
): Promise<Heard[]> {
  const [network, signers] = await Promise.all([sweep.network, Promise.all(all.map(checkSigners))])
  const common = { network, endpoints: chain.endpoints() }
  if (network.kind !== 'ok')
    return signers.map((own) => ({ ...common, balance: NOT_ASKED, ...NOT_LOOKED, signers: own }))
  sweep.head ??= chain.head()
  const early = all.map((asked) => asked.isWhole || needsLook(asked))
  const [balances, first] = await Promise.all([
    chain.balances(all.map(({ relayer }) => relayer.address)),
    lookAt(
      chain,
      all.filter((_, index) => early[index]),
      deps,
    ),
    sweep.head,
  ])
  const woken = all.filter((asked, index) => !early[index] && needsLook(asked, balances[index]))
  const looks = new Map([...first, ...(await lookAt(chain, woken, deps))])
  return all.map((asked, index) => ({
    ...common,
    balance: balances[index] ?? NO_REPLY,
    ...(looks.get(asked) ?? NOT_LOOKED),
    signers: signers[index] ?? [],
  }))
}

/** Reads everything but the balances of accounts. */
async function lookAt(
  chain: Chain,
  all: readonly Asked[],
  { findUnexplained, checkHistory }: Pick<HealthCheckerDeps, 'findUnexplained' | 'checkHistory'>,
): Promise<Map<Asked, Look>> {
  const nonces = readAllNonces(chain, all)
  const looks = all.map(async (asked): Promise<[Asked, Look]> => {
    const [next, inPools, history, tokens] = await Promise.all([
      nonces,
      asked.looksIntoPool ? readPoolNonces(chain, asked.relayer, asked.sourceAccounts) : [],
      checkHistory(asked.relayer, chain),
      askTokens(chain, asked.relayer),
    ])
    const sourceAccounts = chain.sequencing ? factsOf(asked, next) : []
    const seen = new Map(readNonces(sourceAccounts).map((one) => [one.address, one]))
    for (const one of inPools)
      if (one.chainNonce > (seen.get(one.address)?.chainNonce ?? -1n)) seen.set(one.address, one)
    const unexplained = await findUnexplained(asked.relayer, [...seen.values()].filter(isBeyond(asked)))
    return [asked, { looked: true, tokens, sourceAccounts, unexplained, history }]
  })
  return new Map(await Promise.all(looks))
}

/**
 * Reads the next nonces of all source accounts of these relayers, by address; none on chains without nonces.
 */
async function readAllNonces(
  { sequencing }: Chain,
  all: readonly Asked[],
): Promise<ReadonlyMap<string, Answer<bigint>>> {
  const addresses = all.flatMap(({ sourceAccounts }) => sourceAccounts.map(({ address }) => address))
  if (sequencing === undefined || addresses.length === 0) return new Map()
  const next = await sequencing.nonces(addresses)
  return new Map(addresses.map((address, index) => [address, next[index] ?? NO_REPLY]))
}

function factsOf(
  { sourceAccounts, confirmed }: Asked,
  next: ReadonlyMap<string, Answer<bigint>>,
): SourceAccountFacts[] {
  return sourceAccounts.map(({ address }) => ({
    address,
    confirmed: confirmed.get(address),
    next: next.get(address) ?? NO_REPLY,
  }))
}

/** Checks each key once that another service holds. */
async function checkSigners({ sourceAccounts }: Asked): Promise<SignerHealth[]> {
  const checks = new Set(sourceAccounts.flatMap(({ signer }) => signer?.check ?? []))
  return Promise.all([...checks].map((check) => check()))
}

/** Refuses an endpoint of another network, and a chain that was reset. */
async function verifyChain(
  chain: Chain,
  [first]: readonly Pick<HealthTarget, 'relayer'>[],
  findChainReset: HealthCheckerDeps['findChainReset'],
): Promise<Answer<void>> {
  const verified = await chain.verify()
  if (verified.kind !== 'ok' || first === undefined) return verified
  const detail = await findChainReset(first.relayer)
  return detail === undefined ? verified : { kind: 'refused', refusal: { code: 'invalid_request', detail } }
}

function readNonces(sourceAccounts: readonly SourceAccountFacts[]): SeenNonce[] {
  return sourceAccounts.flatMap(({ address, next }) =>
    next.kind === 'ok' ? [{ address, chainNonce: next.value }] : [],
  )
}

/**
 * Spares idle relayers a query each: a nonce needs one only beyond the numbers that were read with the
 * relayer.
 */
function isBeyond({ explained }: Asked) {
  return ({ address, chainNonce }: { readonly address: string; readonly chainNonce: bigint }): boolean =>
    chainNonce > (explained.get(address) ?? -1n)
}

/**
 * Writes the result of a check, and logs it. Never rejects: a failure for one relayer does not affect the
 * others, and the next check repeats the finding.
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
 * Decides under a lock on the relayer as it is now: of two processes with the same finding, one writes and
 * records the event. A finding about a relayer that has changed since then does not count.
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
  readonly facts: Heard
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
