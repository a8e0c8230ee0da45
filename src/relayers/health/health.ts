import type { Logger } from 'pino'
import type { Answer, EndpointReport } from '../../chains/answer.ts'
import type { OwnTransaction } from '../../chains/capabilities.ts'
import { type Chain, type SourceAccount, toWholeUnits, type Unit } from '../../chains/chain.ts'
import { FAMILIES } from '../../chains/families.ts'
import type { Db } from '../../database/db.ts'
import { omitUndefined } from '../../lib/object.ts'
import type { Clock } from '../../lib/time.ts'
import type { NetworkType } from '../../networks/network.ts'
import type { SignerHealth } from '../../signers/signer.ts'
import { wayOut } from '../chain-reset.ts'
import { minBalanceOf } from '../policies/policy.ts'
import type { DisabledReason, Relayer } from '../relayer.ts'
import type { HealthSubject } from './health-store.ts'

/** The facts of one check: the answers of the chain, and the service's own records. */
export interface HealthFacts {
  /** Ok when the endpoints serve the relayer's network. The other facts count only then. */
  readonly network: Answer<void>
  readonly endpoints: readonly EndpointReport[]
  /** The spendable balance of the account. */
  readonly balance: Answer<bigint>
  /**
   * The balances of the fee tokens that have a `max_token_balance`, in base units, as far as a node returned
   * them.
   */
  readonly tokens?: ReadonlyMap<string, bigint> | undefined
  /** The accounts whose nonces the relayer uses; empty on chains without nonces. */
  readonly sourceAccounts: readonly SourceAccountFacts[]
  /** Those whose chain has used nonces that the records do not explain. */
  readonly unexplained: readonly UnexplainedNonces[]
  /** The comparison of the account's transactions with the records; `explained` on chains with nonces. */
  readonly history: HistoryCheck
  /** The states of the keys in key services; empty if all keys are in this process. */
  readonly signers: readonly SignerHealth[]
}

/** The nonces of one source account. */
export interface SourceAccountFacts {
  readonly address: string
  /** The highest nonce of its confirmed transactions; undefined if none is confirmed. */
  readonly confirmed: bigint | undefined
  /** The next one on the chain. */
  readonly next: Answer<bigint>
}

/** The next nonce of an account, as nodes tell it. */
export interface SeenNonce {
  readonly address: string
  /** The next nonce on the chain. */
  readonly chainNonce: bigint
  /** It counts what waits in the pool of a node. */
  readonly inPool?: boolean
}

/** An account whose chain has used nonces that the records do not explain. */
export interface UnexplainedNonces extends SeenNonce {
  /** The records explain the nonces below this one. */
  readonly explained: bigint
}

/**
 * The comparison of the transactions of an account on the chain with the records. `unexplained`: the account
 * alone signed some that no record has, after the slot `explainedTo` · `unknown`: no endpoint returned all of
 * them, which never means none (I6).
 */
export type HistoryCheck =
  | { readonly kind: 'explained' }
  | {
      readonly kind: 'unexplained'
      readonly transactions: readonly OwnTransaction[]
      readonly explainedTo: bigint
    }
  | { readonly kind: 'unknown'; readonly detail: string }

/**
 * The findings of earlier checks: some faults need more than one check as a proof, and an account at rest is
 * not read again.
 */
export interface HealthMemory {
  /** The number of checks in a row without any answer, and the time of the first, in ms since the epoch. */
  readonly silence?: { readonly checks: number; readonly since: number }
  /** The number of checks in a row that found a nonce out of step. */
  readonly outOfStep: number
  /**
   * The last check that found everything about the account in order; absent if the next one must look at
   * everything.
   */
  readonly looked?: Looked
}

/** A complete look at an account, and what it read. */
export interface Looked {
  /** In ms of the monotonic clock. */
  readonly at: number
  /** The balance then. While it stays the same, the account has paid for nothing. */
  readonly balance: bigint
  readonly reading: HealthReading
}

/**
 * Returns true if a check must read more of an account than its balance: what it has used on the chain, and
 * what waits in pools. What an account sends costs a fee, so a balance that has not changed says that it was
 * at rest. Without a balance, the answer is what is known before. Pure.
 */
export function needsLook(
  { relayer, memory }: Pick<HealthTarget, 'relayer' | 'memory'>,
  balance?: Answer<bigint>,
): boolean {
  const { looked } = memory
  const { systemDisabled, disabledReason } = relayer
  if (looked === undefined || (systemDisabled && disabledReason?.type !== 'BalanceCheckFailed')) return true
  if (balance?.kind !== 'ok') return false
  // The nonces that it has used decide nothing while it has too little to spend.
  return balance.value !== looked.balance || (systemDisabled && balance.value >= minBalanceOf(relayer))
}

/** The memory of a relayer before its first check. */
export const NO_MEMORY: HealthMemory = { outOfStep: 0 }

/** The result of a check. */
export interface HealthEvaluation {
  /** The proven fault; absent if none is proven. */
  readonly reason?: DisabledReason
  /** True when a fact is unknown, or needs another check as a proof. */
  readonly unsure: boolean
}

/**
 * Silence counts after this many checks in a row, and after this time in ms: endpoints restart now and then.
 */
const SILENT_CHECKS = 3
const SILENT_MS = 30_000

/**
 * A nonce is out of step after this many checks in a row: a single check may have used an endpoint that lags
 * unnoticed.
 */
const OUT_OF_STEP_CHECKS = 2

/** The pauses before the checks of a disabled relayer, in seconds; the last one repeats. */
const RETRY_SECONDS = [10, 20, 30, 45, 60]

/** The relayer under check, the unit of its chain, and the time in ms since the epoch. */
interface HealthCase {
  readonly relayer: Relayer
  readonly unit: Unit
  readonly now: number
}

/** The result of a check, and the memory for the next one. */
interface Evaluated {
  readonly evaluation: HealthEvaluation
  readonly memory: HealthMemory
}

/** Evaluates the facts. Pure: it returns the result, and the memory for the next check. */
export function evaluateHealth(subject: HealthCase, facts: HealthFacts, before: HealthMemory): Evaluated {
  const { evaluation, memory } = evaluateAccount(subject, facts, before)
  const signers = evaluateSigners(facts.signers)
  const reasons = [...(evaluation.reason ? [evaluation.reason] : []), ...signers.reasons]
  return {
    evaluation: { ...reasonOf(reasons), unsure: evaluation.unsure || signers.unsure },
    memory,
  }
}

/** A service that is silent leaves its relayers enabled: what they send waits, and nothing is lost. */
function evaluateSigners(signers: HealthFacts['signers']): PartialEvaluation {
  const details = new Set(signers.flatMap((signer) => (signer.kind === 'refused' ? [signer.detail] : [])))
  return {
    reasons: [...details].map((text) => ({ type: 'SignerCheckFailed', details: text })),
    unsure: signers.some(({ kind }) => kind === 'unknown'),
  }
}

function evaluateAccount(subject: HealthCase, facts: HealthFacts, before: HealthMemory): Evaluated {
  const { network } = facts
  if (network.kind === 'unknown') return evaluateSilence(subject, facts, before)
  if (network.kind === 'refused') {
    const reason: DisabledReason = { type: 'RpcValidationFailed', details: network.refusal.detail }
    return { evaluation: { reason, unsure: false }, memory: { outOfStep: before.outOfStep } }
  }
  const balance = evaluateBalance(subject, facts.balance)
  const nonces = evaluateNonces(subject, facts.sourceAccounts, before.outOfStep)
  const reasons = [
    ...balance.reasons,
    ...nonces.reasons,
    ...facts.unexplained.map(reasonOfUnexplained(subject)),
    ...(facts.history.kind === 'unexplained' ? [reasonOfHistory(subject, facts.history)] : []),
  ]
  const unsure = balance.unsure || nonces.unsure || keepsUnexplained(subject, facts.history)
  return {
    evaluation: { ...reasonOf(reasons), unsure },
    memory: { outOfStep: nonces.outOfStep },
  }
}

/** Silence leaves every other fact open (I6). */
function evaluateSilence(
  { relayer, now }: HealthCase,
  { endpoints }: HealthFacts,
  before: HealthMemory,
): { evaluation: HealthEvaluation; memory: HealthMemory } {
  const { checks, since } = before.silence ?? { checks: 0, since: now }
  const memory = { ...before, silence: { checks: checks + 1, since } }
  if (checks + 1 < SILENT_CHECKS || now - since < SILENT_MS) return { evaluation: { unsure: true }, memory }
  const hosts = [...new Set(endpoints.map(({ host }) => host))].join(', ')
  const lastAnswer = new Date(since).toISOString().slice(0, 19).replace('T', ' ')
  const details = `No endpoint of network ${relayer.network} (${hosts}) has answered since ${lastAnswer} UTC.`
  return { evaluation: { reason: { type: 'RpcValidationFailed', details }, unsure: false }, memory }
}

interface PartialEvaluation {
  readonly reasons: readonly DisabledReason[]
  readonly unsure: boolean
}

function evaluateBalance({ relayer, unit }: HealthCase, balance: Answer<bigint>): PartialEvaluation {
  if (balance.kind !== 'ok') return { reasons: [], unsure: true }
  const keep = minBalanceOf(relayer)
  if (balance.value >= keep) return { reasons: [], unsure: false }
  const details = `The account can spend ${balance.value} ${unit}; min_balance is ${keep}.`
  return { reasons: [{ type: 'BalanceCheckFailed', details }], unsure: false }
}

function evaluateNonces(
  { relayer }: HealthCase,
  sourceAccounts: readonly SourceAccountFacts[],
  before: number,
): PartialEvaluation & { readonly outOfStep: number } {
  const late = sourceAccounts.filter(
    ({ next, confirmed }) => confirmed !== undefined && next.kind === 'ok' && next.value <= confirmed,
  )
  const unknown = sourceAccounts.some(({ next }) => next.kind === 'unknown')
  // An unknown nonce does not clear earlier findings.
  const outOfStep = late.length > 0 ? before + 1 : unknown ? before : 0
  if (outOfStep < OUT_OF_STEP_CHECKS) return { reasons: [], unsure: unknown || late.length > 0, outOfStep }
  const { numbering: number } = FAMILIES[relayer.networkType]
  if (number === undefined) return { reasons: [], unsure: unknown, outOfStep }
  const type = OUT_OF_STEP[number]
  const reasons = late.flatMap(({ address, next, confirmed }): DisabledReason[] =>
    next.kind !== 'ok'
      ? []
      : [
          {
            type,
            details: `${address} has ${number} ${next.value} next on network ${relayer.network}, but ${number} ${confirmed} of it is confirmed: the chain was reset, or it is another one. ${wayOut({ type: relayer.networkType, name: relayer.network })}`,
          },
        ],
  )
  return { reasons, unsure: unknown, outOfStep }
}

function reasonOfUnexplained({ relayer: { id, network, networkType } }: HealthCase) {
  return ({ address, chainNonce, explained, inPool }: UnexplainedNonces): DisabledReason => {
    const { numbering: number = 'nonce' } = FAMILIES[networkType]
    const [counted, then] = inPool
      ? [', counting what waits in the pool of a node,', 'wait until what waits there is in a block, ']
      : ['', '']
    return {
      type: 'UnexplainedNonces',
      details: `${address} has ${number} ${chainNonce} next on network ${network}${counted || ','} and the records explain those below ${explained}: the database was restored from a backup, or another program uses the key. Waiting transactions may already be paid, so nothing is signed. Compare the transactions with a block explorer, cancel those that were paid, ${then}and then: relayer restore accept ${id} --reason "…"`,
    }
  }
}

function reasonOfHistory(
  { relayer: { id, address, network } }: HealthCase,
  { transactions, explainedTo }: Extract<HistoryCheck, { kind: 'unexplained' }>,
): DisabledReason {
  const named = transactions.map(({ hash, slot }) => `${hash} (slot ${slot})`).join(', ')
  return {
    type: 'UnexplainedTransactions',
    details: `${address} has signed transactions on network ${network} after slot ${explainedTo} that the records do not explain, among them ${named}: the database was restored from a backup, or another program uses the key. Waiting transactions may already be paid, so nothing is signed. Compare the transactions with a block explorer, cancel those that were paid, and then: relayer restore accept ${id} --reason "…"`,
  }
}

/**
 * An unknown history keeps a relayer disabled that was disabled for its history, and no other: an endpoint
 * without history could not enable one again whose account was short of funds.
 */
function keepsUnexplained({ relayer: { disabledReason } }: HealthCase, { kind }: HistoryCheck): boolean {
  const type = disabledReason?.type
  return kind === 'unknown' && (type === 'UnexplainedTransactions' || type === 'Multiple')
}

/** The reason for which a relayer is disabled whose numbers the chain has forgotten. */
const OUT_OF_STEP = { nonce: 'NonceSyncFailed', 'sequence number': 'SequenceSyncFailed' } as const

/** Combines several reasons: into one of the same type, or into `Multiple`. */
function reasonOf(reasons: readonly DisabledReason[]): Pick<HealthEvaluation, 'reason'> {
  const [first] = reasons
  if (first === undefined) return {}
  const type = reasons.every((reason) => reason.type === first.type) ? first.type : 'Multiple'
  return { reason: { type, details: reasons.map(({ details }) => details).join(' ') } }
}

/**
 * The effect of a result on a relayer. `disable`: also for a relayer that is disabled for another type of
 * reason · `remain`: its check failed again, with a reason where the details are new.
 */
export type HealthStep =
  | { readonly kind: 'none' | 'enable' }
  | { readonly kind: 'disable'; readonly reason: DisabledReason }
  | { readonly kind: 'remain'; readonly reason?: DisabledReason }

/**
 * Decides the effect of a result. Pure: an unsure result neither disables nor enables a relayer, and keeps
 * the type of its reason.
 */
export function nextStep(
  { systemDisabled, disabledReason }: Pick<Relayer, 'systemDisabled' | 'disabledReason'>,
  { reason, unsure }: HealthEvaluation,
): HealthStep {
  if (!systemDisabled) return reason === undefined ? { kind: 'none' } : { kind: 'disable', reason }
  if (reason === undefined) return { kind: unsure ? 'remain' : 'enable' }
  if (reason.type === disabledReason?.type) return { kind: 'remain', reason }
  return unsure ? { kind: 'remain' } : { kind: 'disable', reason }
}

/**
 * Returns the time until the next check, in ms. `failedChecks` counts failures in a row; it is 0 for an
 * enabled relayer.
 */
export function untilNextCheck(failedChecks: number, intervalMs: number): number {
  if (failedChecks === 0) return intervalMs
  const last = RETRY_SECONDS.length - 1
  return (RETRY_SECONDS[Math.min(failedChecks - 1, last)] ?? 0) * 1000
}

/** The numbers that a check read. A number is absent if the check did not learn it. */
export interface HealthReading {
  readonly relayerId: string
  readonly network: string
  readonly networkType: NetworkType
  /** The spendable balance in whole coins. */
  readonly balance?: number
  /** The same, exactly, in the smallest unit. */
  readonly spendable?: bigint
  /** The balances of the fee tokens that have a `max_token_balance`, in base units. */
  readonly tokens?: ReadonlyMap<string, bigint>
  /**
   * The next nonce that the service assigns minus the next one of the chain, of the source account where they
   * differ the most: positive while nonces wait for a block, negative when another program uses the account.
   */
  readonly nonceGap?: number
}

/** Takes the numbers of a relayer from the facts of its check. */
export function readingOf(
  { relayer, assigned }: Pick<HealthSubject, 'relayer' | 'assigned'>,
  { balance, sourceAccounts, tokens }: HealthFacts,
  unit: Unit,
): HealthReading {
  return omitUndefined({
    relayerId: relayer.id,
    network: relayer.network,
    networkType: relayer.networkType,
    balance: balance.kind === 'ok' ? toWholeUnits(balance.value, unit) : undefined,
    spendable: balance.kind === 'ok' ? balance.value : undefined,
    tokens,
    nonceGap: widestGap(sourceAccounts, assigned),
  })
}

function widestGap(
  sourceAccounts: readonly SourceAccountFacts[],
  assigned: HealthSubject['assigned'],
): number | undefined {
  const gaps = sourceAccounts.flatMap(({ address, next }) => {
    const own = assigned.get(address)
    return own === undefined || next.kind !== 'ok' ? [] : [Number(own - next.value)]
  })
  return gaps.length === 0
    ? undefined
    : gaps.reduce((one, other) => (Math.abs(other) > Math.abs(one) ? other : one))
}

/** A relayer under check, with its chain. */
export interface HealthTarget extends HealthSubject {
  readonly chain: Chain
  /** The accounts whose nonces it takes. */
  readonly sourceAccounts: readonly SourceAccount[]
  /** The memory of its last check on this chain. */
  readonly memory: HealthMemory
  /** It is its turn: the check looks at the whole account although it may be at rest. */
  readonly inTurn?: boolean
}

/** The parts of the service that checks work with. */
export interface HealthCheckerDeps {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
  /** Returns a sentence when the chain of a prepared relayer was reset; undefined if that is not proved. */
  readonly findChainReset: (relayer: Relayer) => Promise<string | undefined>
  /**
   * Finds the accounts of a relayer whose chain has used nonces that the records do not explain. Read the
   * nonces of the chain before.
   */
  readonly findUnexplained: (
    relayer: Relayer,
    sourceAccounts: readonly SeenNonce[],
  ) => Promise<UnexplainedNonces[]>
  /**
   * Compares the transactions of the relayer's account with the records, on chains without nonces. Never
   * rejects.
   */
  readonly checkHistory: (relayer: Relayer, chain: Chain) => Promise<HistoryCheck>
  /** Returns the current chain and accounts of a relayer. */
  readonly prepare: (relayer: Relayer) => Promise<Pick<HealthTarget, 'chain' | 'sourceAccounts'>>
}
