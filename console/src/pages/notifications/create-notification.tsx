import type { Body } from '../../../../clients/typescript/src/index.ts'
import { DialogButton } from '../../parts/action-button.tsx'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { type Fields, withoutEmpty } from '../../parts/fields.ts'
import { TextField, useFields } from '../../parts/form.tsx'
import { useWorkplace } from '../../session/session-context.ts'

interface CreateNotificationProps {
  readonly onDone: () => void
}

/** Creates a destination for events. */
export function CreateNotificationButton({ onDone }: CreateNotificationProps) {
  return (
    <DialogButton isPrimary name="New notification" scope="notifications:write">
      {(close) => <CreateNotificationDialog onDone={onDone} onClose={close} />}
    </DialogButton>
  )
}

interface CreateNotificationDialogProps extends CreateNotificationProps {
  readonly onClose: () => void
}

function CreateNotificationDialog({ onDone, onClose }: CreateNotificationDialogProps) {
  const { client } = useWorkplace().session
  const fields = useFields()
  const create = () => {
    const { text } = fields
    const body = { id: text('id'), type: 'webhook', url: text('url') ?? '', signing_key: text('signing_key') }
    return client.notifications.create(withoutEmpty(body) as Body<'createNotification'>)
  }
  return (
    <ActionDialog
      title="New notification"
      confirm="Create the notification"
      act={create}
      onDone={onDone}
      onClose={onClose}
    >
      <TextField
        fields={fields}
        path="url"
        label="Url"
        hint="The service sends events here, as POST requests."
        placeholder="https://"
        isRequired
      />
      <TextField fields={fields} path="id" label="Id" hint="A UUID when empty." />
      <SigningKeyField fields={fields} />
    </ActionDialog>
  )
}

interface SigningKeyFieldProps {
  readonly fields: Fields
  readonly isRequired?: boolean
}

/** A field for a signing key, and a button that makes one. */
export function SigningKeyField({ fields, isRequired = false }: SigningKeyFieldProps) {
  return (
    <>
      <TextField
        fields={fields}
        path="signing_key"
        label="Signing key"
        hint="At least 32 characters, by which the receiver knows the service. Nothing shows it again, so keep it for the receiver."
        isRequired={isRequired}
      />
      <button type="button" onClick={() => fields.set('signing_key', randomKey())}>
        Make a signing key
      </button>
    </>
  )
}

/** Random bytes of a signing key, as many as its hash has (HMAC-SHA-256). The key is their hexadecimal digits, as a text. */
const KEY_BYTES = 32

function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
