import type { Answer, EndpointReport } from '../../chains/answer.ts'
import type { Unit } from '../../chains/chain.ts'
import type { NetworkType } from '../../networks/network.ts'
import { minBalanceOf } from '../policy.ts'
import type { DisabledReason, Relayer } from '../relayer.ts'

/** What one look at the chain, and at what we know, told about a relayer. */
export interface HealthFacts {
  /** Whether the endpoints serve the relayer's network. Only where they do, the rest means anything. */
  readonly network: Answer<void>
  readonly endpoints: readonly EndpointReport[]
  /** What the account can spend. */
  readonly balance: Answer<bigint>
  /** Of the lines that have a confirmed transaction. */
  readonly sourceAccounts: readonly SourceAccountFacts[]
}

/** The numbers of one account that a relayer takes nonces of. */
export interface SourceAccountFacts {
  readonly address: string
  /** The highest nonce of its confirmed transactions. */
  readonly confirmed: bigint
  /** The next one on the chain. */
  readonly next: Answer<bigint>
}

/** What earlier checks found. Of some things one look is no proof. */
export interface HealthMemory {
  /** Checks in a row to which no endpoint answered, and when the first of them was, in ms since the epoch. */
  readonly silence?: { readonly checks: number; readonly since: number }
  /** Checks in a row that found a nonce out of step. */
  readonly outOfStep: number
}

/** Of a relayer that was not checked before. */
export const NO_MEMORY: HealthMemory = { outOfStep: 0 }

/** How a check judges a relayer. */
export interface HealthEvaluation {
  /** What is certainly wrong. */
  readonly reason?: DisabledReason
  /** Something that nobody could tell, or that has to be seen once more. */
  readonly unsure: boolean
}

/** Silence is believed after so many checks in a row, and not before it has lasted so long, in ms: endpoints are restarted. */
const SILENT_CHECKS = 3
const SILENT_MS = 30_000

/** A nonce is out of step when so many checks in a row find it so: one may have asked an endpoint that nobody knew to be behind. */
const OUT_OF_STEP_CHECKS = 2

/** Pauses before the checks of a disabled relayer, in s; the last one repeats. */
const RETRY_SECONDS = [10, 20, 30, 45, 60]

/** Who is judged, by the rules of which chain, and when, in ms since the epoch. */
export interface HealthCase {
  readonly relayer: Relayer
  readonly unit: Unit
  readonly now: number
}

/** Pure: from the facts to the verdict, and to what the next check has to know of this one. */
export function evaluateHealth(
  subject: HealthCase,
  facts: HealthFacts,
  before: HealthMemory,
): { readonly evaluation: HealthEvaluation; readonly memory: HealthMemory } {
  const { network } = facts
  if (network.kind === 'unknown') return evaluateSilence(subject, facts, before)
  if (network.kind === 'refused') {
    const reason: DisabledReason = { type: 'RpcValidationFailed', details: network.refusal.detail }
    return { evaluation: { reason, unsure: false }, memory: { outOfStep: before.outOfStep } }
  }
  const balance = evaluateBalance(subject, facts.balance)
  const nonces = evaluateNonces(subject, facts.sourceAccounts, before.outOfStep)
  const reasons = [...balance.reasons, ...nonces.reasons]
  return {
    evaluation: { ...reasonOf(reasons), unsure: balance.unsure || nonces.unsure },
    memory: { outOfStep: nonces.outOfStep },
  }
}

/** Everything else is left open by it, too (I6). */
function evaluateSilence(
  { relayer, now }: HealthCase,
  { endpoints }: HealthFacts,
  before: HealthMemory,
): { evaluation: HealthEvaluation; memory: HealthMemory } {
  const { checks, since } = before.silence ?? { checks: 0, since: now }
  const memory = { ...before, silence: { checks: checks + 1, since } }
  if (checks + 1 < SILENT_CHECKS || now - since < SILENT_MS) return { evaluation: { unsure: true }, memory }
  const hosts = [...new Set(endpoints.map(({ host }) => host))].join(', ')
  const details = `No endpoint of network ${relayer.network} (${hosts}) has answered since ${new Date(since).toISOString()}.`
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
  const details = `The account can spend ${balance.value} ${unit}, and min_balance is ${keep}.`
  return { reasons: [{ type: 'BalanceCheckFailed', details }], unsure: false }
}

function evaluateNonces(
  { relayer }: HealthCase,
  sourceAccounts: readonly SourceAccountFacts[],
  before: number,
): PartialEvaluation & { readonly outOfStep: number } {
  const late = sourceAccounts.filter(({ next, confirmed }) => next.kind === 'ok' && next.value <= confirmed)
  const unknown = sourceAccounts.some(({ next }) => next.kind === 'unknown')
  // What cannot be told now does not clear what was seen before.
  const outOfStep = late.length > 0 ? before + 1 : unknown ? before : 0
  if (outOfStep < OUT_OF_STEP_CHECKS) return { reasons: [], unsure: unknown || late.length > 0, outOfStep }
  const numbering = NUMBERINGS[relayer.networkType]
  if (numbering === undefined) return { reasons: [], unsure: unknown, outOfStep }
  const { type, number } = numbering
  const reasons = late.flatMap(({ address, next, confirmed }): DisabledReason[] =>
    next.kind !== 'ok'
      ? []
      : [
          {
            type,
            details: `${address} has ${number} ${next.value} next on network ${relayer.network}, but ${number} ${confirmed} of it is confirmed: the chain was reset, or it is another one.`,
          },
        ],
  )
  return { reasons, unsure: unknown, outOfStep }
}

/** The names of an account's numbers on each network type; undefined where accounts have no numbers. */
const NUMBERINGS: Readonly<
  Record<NetworkType, { readonly type: DisabledReason['type']; readonly number: string } | undefined>
> = {
  evm: { type: 'NonceSyncFailed', number: 'nonce' },
  solana: undefined,
  stellar: { type: 'SequenceSyncFailed', number: 'sequence number' },
}

/** Several as one: of the same type, or `Multiple`. */
function reasonOf(reasons: readonly DisabledReason[]): Pick<HealthEvaluation, 'reason'> {
  const [first] = reasons
  if (first === undefined) return {}
  const type = reasons.every((reason) => reason.type === first.type) ? first.type : 'Multiple'
  return { reason: { type, details: reasons.map(({ details }) => details).join(' ') } }
}

/**
 * What a verdict means for a relayer as it is. `disable`: also when it was disabled for another type of reason · `remain`: it failed
 * once more, with a reason where that has been told anew.
 */
export type HealthStep =
  | { readonly kind: 'none' | 'enable' }
  | { readonly kind: 'disable'; readonly reason: DisabledReason }
  | { readonly kind: 'remain'; readonly reason?: DisabledReason }

/** Pure. What is not sure disables nobody, and it neither heals nor renames a reason. */
export function nextStep(
  { systemDisabled, disabledReason }: Pick<Relayer, 'systemDisabled' | 'disabledReason'>,
  { reason, unsure }: HealthEvaluation,
): HealthStep {
  if (!systemDisabled) return reason === undefined ? { kind: 'none' } : { kind: 'disable', reason }
  if (reason === undefined) return { kind: unsure ? 'remain' : 'enable' }
  if (reason.type === disabledReason?.type) return { kind: 'remain', reason }
  return unsure ? { kind: 'remain' } : { kind: 'disable', reason }
}

/** How long until the next check, in ms. `failedChecks`: how many failed in a row; 0 for a relayer that is enabled. */
export function untilNextCheck(failedChecks: number, intervalMs: number): number {
  if (failedChecks === 0) return intervalMs
  const last = RETRY_SECONDS.length - 1
  return (RETRY_SECONDS[Math.min(failedChecks - 1, last)] ?? 0) * 1000
}
