import type { Period } from './rules.ts'

interface Shape {
  /** The length of the rolling period, in ms. */
  readonly lengthMs: number
  /** Spending within one step is counted together, in ms. A longer step makes fewer rows, and releases a budget later. */
  readonly stepMs: number
}

const MINUTE_MS = 60_000

/** The rolling periods. A month has 30 days. */
export const SHAPES: Readonly<Record<Period, Shape>> = {
  hour: { lengthMs: 60 * MINUTE_MS, stepMs: MINUTE_MS },
  day: { lengthMs: 24 * 60 * MINUTE_MS, stepMs: 15 * MINUTE_MS },
  month: { lengthMs: 30 * 24 * 60 * MINUTE_MS, stepMs: 6 * 60 * MINUTE_MS },
}

/** Returns the start of the step in which something is counted. */
export function stepOf(period: Period, at: Date): Date {
  const { stepMs } = SHAPES[period]
  return new Date(Math.floor(at.getTime() / stepMs) * stepMs)
}

/**
 * Returns the start of the first step that counts now. A step counts until its last moment is a whole period ago, so that a budget is never
 * released too early, and up to one step late.
 */
export function firstStep(period: Period, now: Date): Date {
  return stepOf(period, new Date(now.getTime() - SHAPES[period].lengthMs))
}
