import type { AppliedTransaction } from '../chain.ts'
import type { Node } from './node.ts'

/** Over how many ledgers each distribution goes (stellar-rpc `--classic-fee-stats-retention-window`, `--soroban-…`). */
const CLASSIC_LEDGERS = 10
const SOROBAN_LEDGERS = 50
const PERCENTILES = [10n, 20n, 30n, 40n, 50n, 60n, 70n, 80n, 90n, 95n, 99n]

/** stellar-rpc methods/get_fee_stats.go and feewindow/feewindow.go. */
export function getFeeStats(node: Node): unknown {
  const { sequence } = node.latest()
  const recent = (ledgers: number) =>
    node.ledger.chain.ledgers
      .filter((closed) => closed.sequence > sequence - ledgers && closed.sequence <= sequence)
      .map(({ transactions }) => transactions)
  return {
    sorobanInclusionFee: distribute(recent(SOROBAN_LEDGERS), (applied) =>
      applied.effects.contract ? contractInclusionFee(applied, applied.effects.contract) : undefined,
    ),
    inclusionFee: distribute(recent(CLASSIC_LEDGERS), (applied) =>
      applied.frame.transaction.soroban ? undefined : feePerOperation(applied),
    ),
    latestLedger: sequence,
  }
}

/** By the operations that were asked for: those of the inner transaction, one fewer than a fee bump pays for. */
function feePerOperation({ frameResult, frame }: AppliedTransaction): bigint {
  return frameResult.feeCharged / BigInt(frame.transaction.operations.length)
}

function contractInclusionFee(
  { frameResult }: AppliedTransaction,
  { nonRefundableFee, refundableFee }: { nonRefundableFee: bigint; refundableFee: bigint },
): bigint {
  return frameResult.feeCharged - nonRefundableFee - refundableFee
}

function distribute(
  ledgers: readonly (readonly AppliedTransaction[])[],
  feeOf: (applied: AppliedTransaction) => bigint | undefined,
) {
  const fees = ledgers
    .flat()
    .map(feeOf)
    .filter((fee) => fee !== undefined)
    .sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const at = (index: number) => String(fees.at(index) ?? 0n)
  return {
    max: at(-1),
    min: at(0),
    mode: String(modeOf(fees)),
    ...Object.fromEntries(PERCENTILES.map((p) => [`p${p}`, at(nearestRank(p, fees.length))])),
    transactionCount: String(fees.length),
    // An empty window is all zeros there, the number of ledgers, too.
    ledgerCount: fees.length === 0 ? 0 : ledgers.length,
  }
}

function nearestRank(percentile: bigint, count: number): number {
  return count === 0 ? 0 : Number((percentile * BigInt(count) + 99n) / 100n) - 1
}

/** The most frequent; of several the smallest. */
function modeOf(sorted: readonly bigint[]): bigint {
  let [mode, most, run] = [sorted[0] ?? 0n, 0, 0]
  for (const [index, fee] of sorted.entries()) {
    run = index > 0 && sorted[index - 1] === fee ? run + 1 : 1
    if (run > most) [mode, most] = [fee, run]
  }
  return mode
}
