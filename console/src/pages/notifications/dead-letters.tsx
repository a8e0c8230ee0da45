import { useLoad } from '../../live/use-load.ts'
import { hrefOf } from '../../routing/routes.ts'
import { useWorkplace } from '../../session/session-context.ts'

/** Counts the dead letters of a notification, and leads to them. */
export function DeadLetters({ notificationId }: { readonly notificationId: string }) {
  const { client } = useWorkplace().session
  const { value } = useLoad(
    (signal) => client.deliveries.list(notificationId, { status: 'dead', per_page: 0, signal }).page(),
    [notificationId],
  )
  const count = value?.pagination?.total_items
  if (!count) return <span class="muted">{count ?? '–'}</span>
  return (
    <a class="bad" href={hrefOf(['notifications', notificationId], { status: 'dead' })}>
      {count} dead
    </a>
  )
}
