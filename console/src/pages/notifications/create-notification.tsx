import type { Body, Schemas } from '../../../../clients/typescript/src/index.ts'
import { DialogButton } from '../../parts/action-button.tsx'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { type Fields, withoutEmpty } from '../../parts/fields.ts'
import { CheckField, Fault, SelectField, TextField, useFields } from '../../parts/form.tsx'
import { useWorkplace } from '../../session/session-context.ts'
import { ALERT_WORDS } from '../overview/alert-list.tsx'

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
  const type = typeOf(fields)
  const create = () => client.notifications.create(requestOf(fields) as Body<'createNotification'>)
  return (
    <ActionDialog
      title="New notification"
      confirm="Create the notification"
      act={create}
      onDone={onDone}
      onClose={onClose}
    >
      <SelectField fields={fields} path="type" label="Type" of={TYPES} />
      <AddressField fields={fields} type={type} />
      <TextField fields={fields} path="id" label="ID" hint="Leave empty to use a UUID." />
      {type === 'webhook' ? (
        <SigningKeyField fields={fields} />
      ) : (
        <>
          {hasIntegrationKey(type) && <IntegrationKeyField fields={fields} />}
          <AlertFields fields={fields} />
        </>
      )}
    </ActionDialog>
  )
}

type NotificationType = Schemas['NotificationType']

/** The types of notifications, with what they are for. */
const TYPES = [
  ['webhook', 'Webhook: every event of the relayers that use it'],
  ['slack', 'Slack: alerts'],
  ['pagerduty', 'PagerDuty: alerts'],
  ['opsgenie', 'Opsgenie: alerts'],
  ['email', 'E-mail: alerts'],
] as const satisfies readonly (readonly [NotificationType, string])[]

function typeOf({ values }: Pick<Fields, 'values'>): NotificationType {
  return TYPES.find(([type]) => type === values.type)?.[0] ?? 'webhook'
}

/** Says that a type authenticates with a key of the service. */
export function hasIntegrationKey(type: NotificationType): boolean {
  return type === 'pagerduty' || type === 'opsgenie'
}

/** Only what belongs to the type: what was written for another one before stays out. */
function requestOf(fields: Fields): object {
  const { text } = fields
  const type = typeOf(fields)
  const recipients = fields.list('recipients')
  const own =
    type === 'webhook'
      ? { signing_key: text('signing_key') }
      : {
          integration_key: hasIntegrationKey(type) ? text('integration_key') : undefined,
          alerts: alertsOf(fields),
        }
  const url = type === 'email' ? recipients && `mailto:${recipients.join(',')}` : text('url')
  return withoutEmpty({ id: text('id'), type, url, ...own })
}

interface TypedFieldProps {
  readonly fields: Fields
  readonly type: NotificationType
  /** Default: a field for a new notification. */
  readonly hint?: string
}

/** A field for where alerts or events go. */
export function AddressField({ fields, type, hint }: TypedFieldProps) {
  if (type === 'email')
    return (
      <>
        <TextField
          fields={fields}
          path="recipients"
          label="Recipients"
          hint={hint ?? 'Up to 20 addresses, in domains that the operator allows.'}
          placeholder="ops@example.com"
          isRequired={hint === undefined}
        />
        <Fault path="url" />
      </>
    )
  const isFixed = hasIntegrationKey(type)
  return (
    <TextField
      fields={fields}
      path="url"
      label="URL"
      hint={hint ?? HINTS[type]}
      placeholder="https://"
      isRequired={!isFixed && hint === undefined}
    />
  )
}

const HINTS: Readonly<Record<Exclude<NotificationType, 'email'>, string>> = {
  webhook: 'Events are sent here as POST requests.',
  slack: 'The URL of the channel’s incoming webhook. It is not shown again.',
  pagerduty: 'https://events.pagerduty.com when empty; in Europe https://events.eu.pagerduty.com.',
  opsgenie: 'https://api.opsgenie.com when empty; in Europe https://api.eu.opsgenie.com.',
}

/** A field for the key of a service. */
export function IntegrationKeyField({ fields, isRequired = true }: SigningKeyFieldProps) {
  return (
    <TextField
      fields={fields}
      path="integration_key"
      label="Integration key"
      type="password"
      hint="The PagerDuty routing key, or the API key of the Opsgenie integration. It is not shown again."
      isRequired={isRequired}
    />
  )
}

type AlertKind = Schemas['AlertKind']

const KINDS = Object.entries(ALERT_WORDS) as [AlertKind, string][]

/** The chosen kinds of alerts; undefined when none is, which stands for all. */
export function alertsOf({ values }: Pick<Fields, 'values'>): AlertKind[] | undefined {
  const chosen = KINDS.flatMap(([kind]) => (values[`alerts.${kind}`] === 'true' ? kind : []))
  return chosen.length > 0 ? chosen : undefined
}

/** Fields for the kinds of alerts that a receiver gets. */
export function AlertFields({ fields }: { readonly fields: Fields }) {
  return (
    <fieldset>
      <legend>Alerts (all if none is chosen)</legend>
      {KINDS.map(([kind, words]) => (
        <CheckField key={kind} fields={fields} path={`alerts.${kind}`} label={words} />
      ))}
    </fieldset>
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
        hint="At least 32 characters. The receiver uses it to verify requests. Copy it now: it is not shown again."
        isRequired={isRequired}
      />
      <button type="button" onClick={() => fields.set('signing_key', randomKey())}>
        Generate a signing key
      </button>
    </>
  )
}

/**
 * Random bytes of a signing key, as many as its hash has (HMAC-SHA-256). The key is their hexadecimal digits,
 * as a text.
 */
const KEY_BYTES = 32

function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
