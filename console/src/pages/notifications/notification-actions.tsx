import type { Schemas } from '../../../../clients/typescript/src/index.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { useWorkplace } from '../../session/session-context.ts'

interface NotificationActionsProps {
  readonly notification: Schemas['Notification']
  readonly onDone: () => void
}

/** What can be done about a notification. */
export function NotificationActions({ notification: { id, paused }, onDone }: NotificationActionsProps) {
  const { deliveries } = useWorkplace().session.client
  const rest = { scope: 'notifications:write', onDone } as const
  return (
    <>
      <ActionButton
        {...rest}
        name="Redeliver all dead"
        act={() => deliveries.redeliverAll(id, { status: 'dead' })}
      >
        <p>All dead deliveries are sent again, oldest first, at most 1000 at a time.</p>
      </ActionButton>
      <ActionButton {...rest} name="Send a test" act={() => deliveries.sendTestEvent(id)}>
        <p>The receiver gets an event of type notification_test.</p>
      </ActionButton>
      {paused ? (
        <ActionButton {...rest} name="Resume" act={() => deliveries.resumeNotification(id)}>
          <p>Waiting deliveries are sent now.</p>
        </ActionButton>
      ) : (
        <ActionButton {...rest} name="Pause" act={() => deliveries.pauseNotification(id)}>
          <p>The receiver gets nothing until you resume it. Events are kept.</p>
        </ActionButton>
      )}
    </>
  )
}
