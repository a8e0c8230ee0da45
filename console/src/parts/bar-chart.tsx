/** A bar of a chart, with a part of it in another colour. */
export interface Bar {
  /** Says what the bar shows, when a person points at it. */
  readonly title: string
  readonly value: number
  /** The lower part, up to `value`. */
  readonly part?: number
}

/** The content of a chart. */
export interface BarChartProps {
  /** Says in a sentence what the chart shows: a table beside it has the numbers. */
  readonly label: string
  readonly bars: readonly Bar[]
  /** The colour of the part: `bad` for failures, `own` for what matters more than the rest. */
  readonly partIs: 'bad' | 'own'
}

/** The drawing is as high, and each bar as wide, in its own units. It stretches to the room that it has. */
const HEIGHT = 40
const WIDTH = 4
const GAP = 1

/** A value that is small beside the others can still be seen. */
const LEAST_HEIGHT = 1.5

/** Draws numbers over time as bars, without axes: the highest one is named in the words beside it. */
export function BarChart({ label, bars, partIs }: BarChartProps) {
  const most = Math.max(1, ...bars.map(({ value }) => value))
  const heightOf = (value: number) => (value <= 0 ? 0 : Math.max(LEAST_HEIGHT, (value / most) * HEIGHT))
  return (
    <svg
      class="bars"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${Math.max(1, bars.length) * WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
    >
      {bars.map(({ title, value, part = 0 }, index) => (
        <g key={title}>
          <title>{title}</title>
          {/* The whole column can be pointed at. */}
          <rect class="ground" x={index * WIDTH} y="0" width={WIDTH} height={HEIGHT} />
          <Piece at={index} height={heightOf(value)} of="rest" />
          <Piece at={index} height={heightOf(part)} of={partIs} />
        </g>
      ))}
    </svg>
  )
}

interface PieceProps {
  readonly at: number
  readonly height: number
  readonly of: string
}

function Piece({ at, height, of }: PieceProps) {
  if (height === 0) return null
  return <rect class={of} x={at * WIDTH} y={HEIGHT - height} width={WIDTH - GAP} height={height} />
}
