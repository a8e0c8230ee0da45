import type { Moment } from './life.ts'

/** The height of a row of the timeline, in px. The style sheet has the same. */
export const ROW_HEIGHT = 34

const LANE_WIDTH = 16
/** Further attempts share lanes, so that many of them do not push the words off the screen. */
const MOST_LANES = 6

/** A dot of the timeline. */
export interface Dot {
  readonly x: number
  readonly y: number
  readonly moment: Moment
}

/** A line from the first to the last dot of an attempt, or of the transaction. */
export interface Line {
  readonly x: number
  readonly fromY: number
  readonly toY: number
  /** Where the line leaves that of the transaction. Absent for the line of the transaction itself. */
  readonly branchX?: number
}

interface Layout {
  readonly width: number
  readonly height: number
  readonly dots: readonly Dot[]
  readonly lines: readonly Line[]
}

/** Places the moments of a life below each other, and each attempt beside the line of its transaction. */
export function layOutTimeline(moments: readonly Moment[]): Layout {
  const dots = moments.map((moment, row) => ({ x: laneOf(moment), y: (row + 0.5) * ROW_HEIGHT, moment }))
  const height = moments.length * ROW_HEIGHT
  const attempts = [...new Set(moments.flatMap(({ attempt }) => attempt ?? []))]
  const width = (Math.min(attempts.length, MOST_LANES) + 1.5) * LANE_WIDTH
  const trunk = dots.filter(({ moment }) => moment.attempt === undefined)
  const branches = attempts.map((attempt) => dots.filter(({ moment }) => moment.attempt === attempt))
  const first = spanOf(dots)
  return {
    width,
    height,
    dots,
    lines: [
      ...(first === undefined ? [] : [{ ...first, x: trunk[0]?.x ?? first.x }]),
      ...branches.flatMap((branch) => {
        const span = spanOf(branch)
        return span === undefined ? [] : [{ ...span, branchX: LANE_WIDTH }]
      }),
    ],
  }
}

function laneOf({ attempt }: Moment): number {
  const lane = attempt === undefined ? 0 : ((attempt - 1) % MOST_LANES) + 1
  return (lane + 1) * LANE_WIDTH - LANE_WIDTH / 4
}

function spanOf(dots: readonly Dot[]): Line | undefined {
  const [first] = dots
  const last = dots.at(-1)
  return first && last && { x: first.x, fromY: first.y, toY: last.y }
}
