import { formatDuration, formatTime } from '../../format/times.ts'
import type { Moment } from './life.ts'
import { type Line, layOutTimeline } from './timeline-layout.ts'

/** Draws the life of a transaction: time goes down, and each attempt has a lane beside it. The words are a list, which also stands alone. */
export function Timeline({ moments }: { readonly moments: readonly Moment[] }) {
  const { width, height, dots, lines } = layOutTimeline(moments)
  const begin = moments[0]?.at ?? 0
  return (
    <div class="timeline">
      <svg width={width} height={height} aria-hidden="true">
        {lines.map((line) => (
          <path key={`${line.x} ${line.fromY}`} d={pathOf(line)} />
        ))}
        {dots.map(({ x, y, moment }) => (
          <circle key={y} class={moment.tone} cx={x} cy={y} r={moment.attempt === undefined ? 6 : 4} />
        ))}
      </svg>
      <ol>
        {moments.map(({ at, label, tone, attempt, detail }) => (
          <li key={`${at} ${label}`} class={attempt === undefined ? 'whole' : ''}>
            <span class={`status bare-status ${tone}`}>{label}</span>
            <time dateTime={new Date(at).toISOString()} title={formatTime(new Date(at).toISOString())}>
              {at === begin ? formatTime(new Date(at).toISOString()) : `+${elapsed(at - begin)}`}
            </time>
            {detail && (
              <span class="muted detail" title={detail}>
                {detail}
              </span>
            )}
          </li>
        ))}
      </ol>
    </div>
  )
}

/** Below a second, the milliseconds are what differs. */
function elapsed(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : formatDuration(ms)
}

function pathOf({ x, fromY, toY, branchX }: Line): string {
  if (branchX === undefined) return `M${x} ${fromY}V${toY}`
  return `M12 ${fromY - 17}C12 ${fromY - 4} ${x} ${fromY - 13} ${x} ${fromY}V${toY}`
}
