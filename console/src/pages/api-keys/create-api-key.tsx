import { useState } from 'preact/hooks'
import type { Body, Schemas } from '../../../../clients/typescript/src/index.ts'
import { DialogButton } from '../../parts/action-button.tsx'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { Copyable } from '../../parts/copyable.tsx'
import { withoutEmpty } from '../../parts/fields.ts'
import { TextField, useFields } from '../../parts/form.tsx'
import { Viewer } from '../../parts/viewer.tsx'
import { useWorkplace } from '../../session/session-context.ts'
import { RightsFields, rightsOf, useKeyParts } from './api-key-form.tsx'

type Issued = Schemas['IssuedApiKey']

/** Creates an API key, and shows its secret once. */
export function CreateApiKeyButton({ onDone }: { readonly onDone: () => void }) {
  const [issued, setIssued] = useState<Issued>()
  return (
    <>
      <DialogButton isPrimary name="New API key" scope="api-keys:admin">
        {(close) => <CreateApiKeyDialog onIssued={setIssued} onDone={onDone} onClose={close} />}
      </DialogButton>
      {issued && (
        <IssuedSecret
          title={`API key ${issued.name} created`}
          secret={issued.secret}
          onClose={() => setIssued(undefined)}
        />
      )}
    </>
  )
}

interface IssuedSecretProps {
  readonly title: string
  readonly secret: string
  readonly onClose: () => void
}

/** Shows a secret once, until it is closed. */
export function IssuedSecret({ title, secret, onClose }: IssuedSecretProps) {
  return (
    <Viewer title={title} onClose={onClose}>
      <p>
        Copy the secret now: it is not shown again. Pass it on through a channel that only its owner can read.
      </p>
      <Copyable text={secret} name="secret" whole />
    </Viewer>
  )
}

interface CreateApiKeyDialogProps {
  readonly onIssued: (key: Issued) => void
  readonly onDone: () => void
  readonly onClose: () => void
}

function CreateApiKeyDialog({ onIssued, onDone, onClose }: CreateApiKeyDialogProps) {
  const { client } = useWorkplace().session
  const fields = useFields()
  const parts = useKeyParts()
  const create = () => {
    const body = { ...withoutEmpty({ id: fields.text('id') }), ...rightsOf(fields, parts) }
    return client.apiKeys.create(body as Body<'createApiKey'>)
  }
  return (
    <ActionDialog
      title="New API key"
      confirm="Create the key"
      act={async () => onIssued(await create())}
      onDone={onDone}
      onClose={onClose}
    >
      <TextField fields={fields} path="name" label="Name" hint="Who or what uses this key." isRequired />
      <TextField
        fields={fields}
        path="id"
        label="ID"
        hint="Letters, digits, “.”, “_” and “-”. Leave empty to use a UUID."
      />
      <RightsFields fields={fields} {...parts} />
    </ActionDialog>
  )
}
