import { AMOUNT, type PayerKind, type Relayed } from './front-chain.ts'

/** What the facilitator said. */
export interface Answer {
  readonly success?: boolean
  readonly errorReason?: string
  readonly transaction?: string
}

/** The bounds that the operator has set (`failures` of the plugin). */
export interface Bounds {
  readonly payer: number
  readonly all: number
  readonly open: number
}

/** A payment, all that was said about it, and what the chain has. */
export interface Judged {
  readonly payer: string
  readonly kind: PayerKind
  /** The facilitator that was asked; each has bounds of its own. */
  readonly mount: string
  /** The payer has less money than he has signed. */
  readonly competes: boolean
  /** The operator lists the token, and no stranger's code decides. */
  readonly isListed: boolean
  /** A seller asked for what the payer has not signed. */
  readonly isForged: boolean
  /** What the payer and strangers did that can make it fail. */
  readonly acts: number
  /**
   * The answer to the only one who asked during the history; undefined if several asked, or if there was no
   * answer.
   */
  readonly told: Answer | undefined
  /** The transaction in which it was paid when everything was at rest, and before anybody asked again. */
  readonly paidAtRest: string | undefined
  /** Everything that was said, and at last twice what everybody was told who asked again. */
  readonly answers: readonly Answer[]
  /** The transactions of successes that were told while no block had the payment. */
  readonly unproved: readonly string[]
  readonly paidIn: string | undefined
}

/** A history with its end. */
export interface Evidence {
  readonly purchases: readonly Judged[]
  readonly relayed: readonly Relayed[]
  /** What the payee got of the listed token. */
  readonly received: bigint
  /** The fees that the budget of the relayer has counted. */
  readonly spentFees: bigint
  readonly bounds: Bounds
  readonly maxFee: bigint
}

/** Reasons after which a payment may still be made. A failure of the service has none. */
const NOT_FINAL: readonly (string | undefined)[] = [
  'settlement_pending',
  'unexpected_settle_error',
  'unexpected_verify_error',
  undefined,
]

/** Reasons that nobody may hear whose payment is in order and competes with no other. */
const WRONG_FOR_HONEST: readonly (string | undefined)[] = [
  'duplicate_settlement',
  'insufficient_funds',
  'limit_exceeded',
  'invalid_payload',
]

/** True for an answer that no later one may contradict. */
export function isFinal({ success, errorReason }: Answer): boolean {
  return success === true || !NOT_FINAL.includes(errorReason)
}

/**
 * True for an answer after which the clients of npm do not ask again: a failure, or one that names no
 * transaction to ask for.
 */
function isNo({ success, errorReason, transaction }: Answer): boolean {
  if (success !== false) return false
  return !NOT_FINAL.includes(errorReason) || (errorReason === 'settlement_pending' && transaction === '')
}

/** Compares what was said, and what it cost, with the chain. Returns what is wrong. Pure. */
export function judge(evidence: Evidence): string[] {
  return [
    ...evidence.purchases.flatMap((purchase) =>
      answersOf(purchase, evidence).map((what) => about(purchase, what)),
    ),
    ...moneyOf(evidence),
    ...lossOf(evidence),
  ]
}

function about({ payer, kind }: Judged, what: string): string {
  return `the payment of ${payer} (${kind}) ${what}`
}

function answersOf(purchase: Judged, { relayed }: Evidence): string[] {
  const { answers, unproved, paidIn, isForged, isListed, told, paidAtRest, acts, competes } = purchase
  const [before, last] = [answers.at(-2) ?? {}, answers.at(-1) ?? {}]
  const text = JSON.stringify(last)
  const successes = answers.filter(({ success }) => success === true)
  const wrong: string[] = []
  if (isForged) return successes.length > 0 ? ['was told success for what its payer has not signed'] : []
  if (unproved.length > 0) wrong.push(`was told success in ${unproved[0]} before a block had it`)
  const others = successes.filter(({ transaction }) => transaction !== paidIn)
  if (others.length > 0)
    wrong.push(`was told success in ${others[0]?.transaction}, and the chain says ${paidIn ?? 'no'}`)
  if (paidIn !== undefined && last.success !== true) wrong.push(`is made in ${paidIn}, and is told ${text}`)
  if (!isFinal(last)) wrong.push(`has no answer when everything is at rest: ${text}`)
  if (before.success === true && (last.success !== true || before.transaction !== last.transaction))
    wrong.push(`was told ${JSON.stringify(before)}, and then ${text}`)
  const isOurs = relayed.some(({ hash }) => hash === paidAtRest)
  if (told !== undefined && isNo(told) && isOurs)
    wrong.push(`was told ${JSON.stringify(told)}, and then the relayer made it`)
  const isInOrder = isListed && acts === 0 && !competes
  if (isInOrder && WRONG_FOR_HONEST.includes(last.errorReason)) wrong.push(`is in order, and is told ${text}`)
  return wrong
}

function moneyOf({ purchases, relayed, received, spentFees }: Evidence): string[] {
  const wrong: string[] = []
  const paid = new Set(purchases.flatMap(({ kind, paidIn }) => (kind === 'token' ? [] : (paidIn ?? []))))
  if (received !== BigInt(paid.size) * AMOUNT)
    wrong.push(`${paid.size} payments are made, and the payee got ${received}`)
  const fees = relayed.reduce((sum, { fee }) => sum + fee, 0n)
  if (fees !== spentFees) wrong.push(`the chain took fees of ${fees}, and the budget counted ${spentFees}`)
  return wrong
}

/** Returns what the relayer has lost beyond the bounds: transactions that no payment was made in. */
function lossOf({ purchases, relayed, bounds, maxFee }: Evidence): string[] {
  const wrong = relayed.flatMap(({ problem }) => problem ?? [])
  const paid = new Set(purchases.map(({ paidIn }) => paidIn))
  const lost = relayed.filter(({ hash, payer }) => payer !== undefined && !paid.has(hash))
  for (const { hash, fee } of lost) if (fee > maxFee) wrong.push(`${hash} failed and cost ${fee}`)
  let uncertain = 0
  for (const [payer, failures] of Map.groupBy(lost, (each) => each.payer)) {
    const ofPayer = purchases.filter((purchase) => purchase.payer === payer && !purchase.isForged)
    const isHonest = ofPayer.every(({ isListed }) => isListed)
    const acts = ofPayer.reduce((sum, each) => sum + each.acts, 0)
    const bound = bounds.payer * new Set(ofPayer.map(({ mount }) => mount)).size
    const most = isHonest ? Math.min(acts, bound) : bound
    if (!isHonest) uncertain += failures.length
    if (failures.length > most)
      wrong.push(`${payer} made ${failures.length} payments fail at the relayer's cost; ${most} are allowed`)
  }
  const most = bounds.all + bounds.open
  if (uncertain > most) wrong.push(`${uncertain} payments of strangers' code failed; ${most} are allowed`)
  return wrong
}
