import type { Body } from '../../../../clients/typescript/src/index.ts'
import { DialogButton } from '../../parts/action-button.tsx'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { FieldError, type Fields } from '../../parts/fields.ts'
import { FileField, SelectField, TextField, useFields } from '../../parts/form.tsx'
import { useWorkplace } from '../../session/session-context.ts'
import { creationOf, KINDS, type Setting, type SignerType } from './signer-kinds.ts'

interface CreateSignerProps {
  readonly onDone: () => void
}

/** Creates a signer: a reference to the key in the service that holds it, or a key in this service. */
export function CreateSignerButton({ onDone }: CreateSignerProps) {
  return (
    <DialogButton isPrimary name="New signer" scope="signers:admin">
      {(close) => <CreateSignerDialog onDone={onDone} onClose={close} />}
    </DialogButton>
  )
}

interface CreateSignerDialogProps extends CreateSignerProps {
  readonly onClose: () => void
}

function CreateSignerDialog({ onDone, onClose }: CreateSignerDialogProps) {
  const { client, may } = useWorkplace().session
  const fields = useFields({ type: 'generated' })
  const type = fields.values.type as SignerType
  const { hint } = KINDS[type]
  const creation = fields.values.key === 'new' ? creationOf(type) : undefined
  const settings = settingsOf(type, creation !== undefined)
  return (
    <ActionDialog
      title="New signer"
      confirm="Create the signer"
      act={() =>
        creation === undefined
          ? client.signers.create(signerOf(fields, type))
          : client.signers.createKey(keyOf(fields, type))
      }
      onDone={onDone}
      onClose={onClose}
    >
      <SelectField
        fields={fields}
        path="type"
        label="Key type"
        of={Object.entries(KINDS).map(([name, { words }]) => [name, words])}
        hint={hint}
        isRequired
      />
      {creationOf(type) !== undefined && may('signers:create-keys') && (
        <SelectField
          fields={fields}
          path="key"
          label="The key"
          of={[
            ['existing', 'is there already'],
            ['new', 'is created there now'],
          ]}
        />
      )}
      {creation === undefined ? (
        <TextField fields={fields} path="id" label="ID" hint="Leave empty to use a UUID." />
      ) : (
        <>
          <TextField
            fields={fields}
            path="signer_id"
            label="ID"
            hint="If something fails, send the same again: the key service never creates a second key for it."
            isRequired
          />
          <SelectField fields={fields} path="curve" label="For" of={creation.curves} />
        </>
      )}
      {settings.map((setting) => (
        // Another type has other fields, even where they have the same name.
        <SettingField key={`${type} ${setting.path}`} fields={fields} setting={setting} />
      ))}
    </ActionDialog>
  )
}

interface SettingFieldProps {
  readonly fields: Fields
  readonly setting: Setting
}

function SettingField({ fields, setting }: SettingFieldProps) {
  const { path, label, hint, isRequired = false, isSecret = false, isFile = false, of } = setting
  const rest = { fields, path: `config.${path}`, label, hint, isRequired }
  if (of !== undefined) return <SelectField {...rest} of={of} />
  if (isFile) return <FileField {...rest} accept=".json,application/json" />
  return <TextField {...rest} type={isSecret ? 'password' : 'text'} />
}

/**
 * Fields of another type that was chosen before are left out.
 * @throws FieldError for a file that is no JSON
 */
function signerOf(fields: Fields, type: SignerType): Body<'createSigner'> {
  const id = fields.text('id')
  const config = configOf(fields, settingsOf(type, false))
  return { ...(id !== undefined && { id }), type, config } as Body<'createSigner'>
}

/** @throws FieldError for a file that is no JSON */
function keyOf(fields: Fields, type: SignerType): Body<'createKey'> {
  const [[first] = []] = creationOf(type)?.curves ?? []
  const config = configOf(fields, settingsOf(type, true))
  const curve = fields.text('curve')
  const isOffered = creationOf(type)?.curves.some(([name]) => name === curve)
  const signerId = fields.text('signer_id')
  return { signer_id: signerId, type, curve: isOffered ? curve : first, config } as Body<'createKey'>
}

/** Returns the settings of a type, without those of the key if it is to be created. */
function settingsOf(type: SignerType, isNewKey: boolean): readonly Setting[] {
  const { settings } = KINDS[type]
  const left = isNewKey ? creationOf(type)?.withoutKey : undefined
  return left === undefined ? settings : settings.filter(({ path }) => !left.includes(path))
}

function configOf(fields: Fields, settings: readonly Setting[]): object {
  const config: Record<string, unknown> = {}
  for (const setting of settings) {
    const { path, of } = setting
    const text = fields.text(`config.${path}`) ?? of?.[0]?.[0]
    if (text !== undefined) put(config, path.split('.'), readSetting(setting, text))
  }
  return config
}

function readSetting({ path, isInteger, isFile }: Setting, text: string): unknown {
  if (isInteger && /^\d+$/.test(text)) return Number(text)
  if (!isFile) return text
  try {
    return JSON.parse(text)
  } catch {
    throw new FieldError(`config.${path}`, 'The file is not valid JSON.')
  }
}

/** Puts a value where its path leads, and makes the objects on the way. */
function put(into: Record<string, unknown>, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    into[name] = value
    return
  }
  const inner = (into[name] ?? {}) as Record<string, unknown>
  into[name] = inner
  put(inner, rest, value)
}
