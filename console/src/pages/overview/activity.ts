import type { Schemas } from '../../../../clients/typescript/src/index.ts'

type ActivityRow = Schemas['ActivityRow']

/** The length of a step. */
export type Step = 'hour' | 'day'

/** A period that can be chosen. */
export interface Period {
  readonly name: string
  readonly step: Step
  readonly steps: number
}

/** The periods, each with as many steps as a chart shows well. */
export const PERIODS = {
  day: { name: 'Last 24 hours', step: 'hour', steps: 24 },
  week: { name: 'Last 7 days', step: 'hour', steps: 168 },
  month: { name: 'Last 30 days', step: 'day', steps: 30 },
} as const satisfies Readonly<Record<string, Period>>

const STEP_MS = { hour: 3_600_000, day: 86_400_000 } as const

/**
 * Returns the starts of all steps of a period, which ends with the step of now. Steps are those of UTC, as
 * the service counts.
 */
export function stepsOf({ step, steps }: Period, now: number): readonly number[] {
  const last = Math.floor(now / STEP_MS[step]) * STEP_MS[step]
  return Array.from({ length: steps }, (_, index) => last - (steps - 1 - index) * STEP_MS[step])
}

/** Returns the period as the service takes it. */
export function rangeOf(period: Period, now: number): { readonly from: string; readonly to: string } {
  const steps = stepsOf(period, now)
  const [first = now] = steps
  const last = steps.at(-1) ?? now
  return { from: new Date(first).toISOString(), to: new Date(last + STEP_MS[period.step]).toISOString() }
}

/** One step of one group. */
export interface ActivityStep {
  /** In ms since 1970. */
  readonly start: number
  readonly sent: number
  /** Those that failed or expired. */
  readonly failed: number
  readonly fees: bigint
  /** The median wait for a block, in ms, and what 95 % waited at most; undefined without a block. */
  readonly median: number | undefined
  readonly p95: number | undefined
}

/** The activity of one relayer or key on one network, with every step of the period. */
export interface ActivityGroup {
  readonly network: string
  /** Its name; undefined where everything of the network is counted together. */
  readonly name: string | undefined
  readonly steps: readonly ActivityStep[]
  readonly sent: number
  readonly failed: number
  readonly fees: bigint
}

/** Arranges rows in groups, the largest first, and fills steps in which nothing happened. */
export function groupsOf(
  rows: readonly ActivityRow[],
  starts: readonly number[],
  by: 'network' | 'relayer' | 'api_key',
): readonly ActivityGroup[] {
  const groups = Map.groupBy(rows, ({ network, name, others }) =>
    JSON.stringify([network, name, others ?? false]),
  )
  return [...groups.values()]
    .flatMap((ofGroup): ActivityGroup[] => {
      const [first] = ofGroup
      if (first === undefined) return []
      const byStart = new Map(ofGroup.map((row) => [Date.parse(row.start), row]))
      const steps = starts.map((start) => stepOf(start, byStart.get(start)))
      return [
        {
          network: first.network,
          name: by === 'network' ? undefined : nameOf(first),
          steps,
          sent: sum(steps, ({ sent }) => sent),
          failed: sum(steps, ({ failed }) => failed),
          fees: steps.reduce((total, { fees }) => total + fees, 0n),
        },
      ]
    })
    .sort((one, other) => other.sent - one.sent)
}

function nameOf({ name, others }: ActivityRow): string {
  return others ? 'all others' : (name ?? 'the service itself')
}

function stepOf(start: number, row: ActivityRow | undefined): ActivityStep {
  if (row === undefined) return { start, sent: 0, failed: 0, fees: 0n, median: undefined, p95: undefined }
  return {
    start,
    sent: row.accepted,
    failed: row.failed + row.expired,
    fees: BigInt(row.fees),
    median: row.wait_median_ms,
    p95: row.wait_p95_ms,
  }
}

function sum(steps: readonly ActivityStep[], of: (step: ActivityStep) => number): number {
  return steps.reduce((total, step) => total + of(step), 0)
}

/** Writes a wait: with tenths below ten seconds. */
export function formatWait(ms: number): string {
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`
  if (ms < 120_000) return `${Math.round(ms / 1_000)} s`
  return `${Math.round(ms / 60_000)} min`
}
