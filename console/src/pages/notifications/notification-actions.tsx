import type { Schemas } from '../../../../clients/typescript/src/index.ts'
import { ActionButton, DialogButton } from '../../parts/action-button.tsx'
import { hrefOf } from '../../routing/routes.ts'
import { useWorkplace } from '../../session/session-context.ts'
import { EditNotificationDialog, SigningKeyDialog } from './edit-notification.tsx'

interface NotificationActionsProps {
  readonly notification: Schemas['Notification']
  readonly onDone: () => void
}

const MESSAGE = 'The receiver gets a test message.'
const INCIDENT = 'The receiver opens a test incident. Close it by hand: nothing resolves it.'

/** The description of a test, by the type of the notification. */
const TESTS: Readonly<Record<Schemas['NotificationType'], string>> = {
  webhook: 'The receiver gets an event of type notification_test.',
  slack: MESSAGE,
  pagerduty: INCIDENT,
  opsgenie: INCIDENT,
  email: MESSAGE,
}

/** What can be done about a notification. */
export function NotificationActions({ notification, onDone }: NotificationActionsProps) {
  const { deliveries, notifications } = useWorkplace().session.client
  const { id, type, paused } = notification
  const rest = { scope: 'notifications:write', onDone } as const
  return (
    <>
      <DialogButton name="Edit" scope="notifications:write">
        {(close) => <EditNotificationDialog notification={notification} onDone={onDone} onClose={close} />}
      </DialogButton>
      {type === 'webhook' && (
        <DialogButton
          name={notification.has_signing_key ? 'Rotate the signing key' : 'Set a signing key'}
          scope="notifications:write"
        >
          {(close) => <SigningKeyDialog notification={notification} onDone={onDone} onClose={close} />}
        </DialogButton>
      )}
      <ActionButton
        {...rest}
        name="Redeliver all dead letters"
        act={() => deliveries.redeliverAll(id, { status: 'dead' })}
      >
        <p>All dead deliveries are sent again, oldest first, at most 1000 at a time.</p>
      </ActionButton>
      <ActionButton {...rest} name="Send a test" act={() => deliveries.sendTestEvent(id)}>
        <p>{TESTS[type]}</p>
      </ActionButton>
      {paused ? (
        <ActionButton {...rest} name="Resume" act={() => deliveries.resumeNotification(id)}>
          <p>Pending deliveries are sent now.</p>
        </ActionButton>
      ) : (
        <ActionButton {...rest} name="Pause" act={() => deliveries.pauseNotification(id)}>
          <p>The receiver gets nothing until you resume it. Events are kept.</p>
        </ActionButton>
      )}
      <ActionButton
        {...rest}
        name="Delete"
        confirm="Delete the notification"
        isDangerous
        act={() => notifications.delete(id)}
        onDone={() => {
          location.hash = hrefOf(['notifications'])
        }}
      >
        <p>
          Its signing keys and all its deliveries are deleted, including pending ones. Relayers that name it
          must be changed first.
        </p>
      </ActionButton>
    </>
  )
}
