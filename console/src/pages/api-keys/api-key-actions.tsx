import { useState } from 'preact/hooks'
import type { Body, Schemas } from '../../../../clients/typescript/src/index.ts'
import { ActionButton, DialogButton } from '../../parts/action-button.tsx'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { changesBetween, readFields } from '../../parts/fields.ts'
import { SelectField, TextField, useFields } from '../../parts/form.tsx'
import { OVERLAPS } from '../../parts/overlaps.ts'
import { hrefOf } from '../../routing/routes.ts'
import { useWorkplace } from '../../session/session-context.ts'
import { filledRights, RightsFields, rightsOf, useKeyParts } from './api-key-form.tsx'
import { IssuedSecret } from './create-api-key.tsx'

interface ApiKeyActionsProps {
  readonly apiKey: Schemas['ApiKey']
  readonly onDone: () => void
}

/** What can be done about an API key. */
export function ApiKeyActions({ apiKey, onDone }: ApiKeyActionsProps) {
  const { client } = useWorkplace().session
  const { id, disabled } = apiKey
  const rest = { scope: 'api-keys:admin', onDone } as const
  return (
    <>
      <DialogButton name="Edit" scope="api-keys:admin">
        {(close) => <EditApiKeyDialog apiKey={apiKey} onDone={onDone} onClose={close} />}
      </DialogButton>
      <RotateButton apiKey={apiKey} onDone={onDone} />
      {disabled ? (
        <ActionButton {...rest} name="Enable" act={() => client.apiKeys.update(id, { disabled: false })}>
          <p>The key works again.</p>
        </ActionButton>
      ) : (
        <ActionButton
          {...rest}
          name="Disable"
          isDangerous
          act={() => client.apiKeys.update(id, { disabled: true })}
        >
          <p>The key stops working and its event streams close. You can enable it again.</p>
        </ActionButton>
      )}
      <ActionButton
        {...rest}
        name="Delete"
        confirm="Delete the key"
        isDangerous
        act={() => client.apiKeys.delete(id)}
        onDone={() => {
          location.hash = hrefOf(['api-keys'])
        }}
      >
        <p>
          The key stops working permanently. Its history stays in the audit log, so its ID cannot be reused.
        </p>
      </ActionButton>
    </>
  )
}

interface EditApiKeyDialogProps extends ApiKeyActionsProps {
  readonly onClose: () => void
}

function EditApiKeyDialog({ apiKey, onDone, onClose }: EditApiKeyDialogProps) {
  const { client } = useWorkplace().session
  const parts = useKeyParts(apiKey)
  const [filled] = useState(() => filledRights(apiKey, parts.networks))
  const fields = useFields(filled)
  const save = () => {
    const changes = changesBetween(rightsOf(readFields(filled), parts), rightsOf(fields, parts))
    return client.apiKeys.update(apiKey.id, changes as Body<'updateApiKey'>)
  }
  return (
    <ActionDialog title="Edit the API key" confirm="Save" act={save} onDone={onDone} onClose={onClose}>
      <TextField fields={fields} path="name" label="Name" hint="Who or what uses this key." isRequired />
      <RightsFields fields={fields} {...parts} />
    </ActionDialog>
  )
}

/** Gives a key a new secret, and shows that once. */
function RotateButton({ apiKey: { id, name }, onDone }: ApiKeyActionsProps) {
  const [secret, setSecret] = useState<string>()
  return (
    <>
      <DialogButton name="Rotate the secret" scope="api-keys:admin">
        {(close) => <RotateDialog id={id} onIssued={setSecret} onDone={onDone} onClose={close} />}
      </DialogButton>
      {secret !== undefined && (
        <IssuedSecret
          title={`New secret for API key ${name}`}
          secret={secret}
          onClose={() => setSecret(undefined)}
        />
      )}
    </>
  )
}

interface RotateDialogProps {
  readonly id: string
  readonly onIssued: (secret: string) => void
  readonly onDone: () => void
  readonly onClose: () => void
}

function RotateDialog({ id, onIssued, onDone, onClose }: RotateDialogProps) {
  const { client } = useWorkplace().session
  const fields = useFields()
  const rotate = async () => {
    const overlap = Number(fields.text('overlap_seconds') ?? OVERLAPS[0][0])
    onIssued((await client.apiKeys.rotate(id, { overlap_seconds: overlap })).secret)
  }
  return (
    <ActionDialog
      title="Rotate the secret"
      confirm="Issue a new secret"
      act={rotate}
      onDone={onDone}
      onClose={onClose}
    >
      <SelectField
        fields={fields}
        path="overlap_seconds"
        label="Keep accepting the current secret"
        of={OVERLAPS}
        hint="Secrets before the current one stop working now."
        isRequired
      />
    </ActionDialog>
  )
}
