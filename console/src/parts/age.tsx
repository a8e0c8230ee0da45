import { formatDuration, formatTime } from '../format/times.ts'
import { useNow } from '../live/use-now.ts'

/** Shows the age of a timestamp of the service, with the whole time for a pointer. */
export function Age({ of }: { readonly of: string | undefined }) {
  const now = useNow()
  if (of === undefined) return <span class="muted">–</span>
  return (
    <time dateTime={of} title={formatTime(of)}>
      {formatDuration(now - Date.parse(of))} ago
    </time>
  )
}
