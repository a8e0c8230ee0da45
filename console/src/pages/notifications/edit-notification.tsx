import type { Body, Schemas } from '../../../../clients/typescript/src/index.ts'
import { hostOf } from '../../format/explorer.ts'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { withoutEmpty } from '../../parts/fields.ts'
import { CheckField, SelectField, useFields } from '../../parts/form.tsx'
import { OVERLAPS } from '../../parts/overlaps.ts'
import { useWorkplace } from '../../session/session-context.ts'
import {
  AddressField,
  AlertFields,
  alertsOf,
  hasIntegrationKey,
  IntegrationKeyField,
  SigningKeyField,
} from './create-notification.tsx'

interface NotificationDialogProps {
  readonly notification: Schemas['Notification']
  readonly onDone: () => void
  readonly onClose: () => void
}

/** Changes where events go and which, or ends the signing. */
export function EditNotificationDialog({ notification, onDone, onClose }: NotificationDialogProps) {
  const { client } = useWorkplace().session
  const { type, url, alerts } = notification
  const fields = useFields(Object.fromEntries((alerts ?? []).map((kind) => [`alerts.${kind}`, 'true'])))
  const save = () => {
    const recipients = fields.list('recipients')
    const changes = {
      ...withoutEmpty({
        url: recipients ? `mailto:${recipients.join(',')}` : fields.text('url'),
        integration_key: fields.text('integration_key'),
      }),
      ...(type !== 'webhook' && { alerts: alertsOf(fields) ?? null }),
      ...(fields.text('unsigned') && { signing_key: null }),
    }
    return client.notifications.update(notification.id, changes as Body<'updateNotification'>)
  }
  return (
    <ActionDialog title="Edit the notification" confirm="Save" act={save} onDone={onDone} onClose={onClose}>
      <AddressField
        fields={fields}
        type={type}
        hint={
          type === 'email'
            ? `Now ${url.replace('mailto:', '').replaceAll(',', ', ')}. Leave empty to keep them.`
            : `Now on ${hostOf(url)}, of which the rest is a secret. Write the full url of another receiver; it stays when empty.`
        }
      />
      {hasIntegrationKey(type) && <IntegrationKeyField fields={fields} isRequired={false} />}
      {type !== 'webhook' && <AlertFields fields={fields} />}
      {notification.has_signing_key && (
        <CheckField
          fields={fields}
          path="unsigned"
          label="Stop signing: the receiver can no longer verify requests"
        />
      )}
    </ActionDialog>
  )
}

/**
 * Gives a notification another signing key, beside which the present one also signs for a while; or its first
 * one.
 */
export function SigningKeyDialog({ notification, onDone, onClose }: NotificationDialogProps) {
  const { client } = useWorkplace().session
  const { id, has_signing_key: rotates } = notification
  const fields = useFields()
  const save = () => {
    const signing_key = fields.text('signing_key') ?? ''
    const overlap = Number(fields.text('overlap_seconds') ?? OVERLAPS[0][0])
    return rotates
      ? client.deliveries.rotateSigningKey(id, { signing_key, overlap_seconds: overlap })
      : client.notifications.update(id, { signing_key })
  }
  return (
    <ActionDialog
      title={rotates ? 'Rotate the signing key' : 'Set a signing key'}
      confirm={rotates ? 'Sign with the new key' : 'Sign with the key'}
      act={save}
      onDone={onDone}
      onClose={onClose}
    >
      <SigningKeyField fields={fields} isRequired />
      {rotates && (
        <SelectField
          fields={fields}
          path="overlap_seconds"
          label="Keep signing with the current key"
          of={OVERLAPS}
          hint="Update the receiver within this time and no event is rejected."
          isRequired
        />
      )}
    </ActionDialog>
  )
}
