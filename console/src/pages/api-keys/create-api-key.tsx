import { useState } from 'preact/hooks'
import type { Body, Schemas } from '../../../../clients/typescript/src/index.ts'
import { type Networks, useNetworks } from '../../live/use-networks.ts'
import { CreateButton } from '../../parts/action-button.tsx'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { Copyable } from '../../parts/copyable.tsx'
import { FieldError, type Fields, withoutEmpty } from '../../parts/fields.ts'
import { CheckField, Fault, SelectField, TextField, useFields } from '../../parts/form.tsx'
import { Viewer } from '../../parts/viewer.tsx'
import { currencyOfId, type RuledNetworks, rulesOf } from '../../rules/rules.ts'
import { RulesFields } from '../../rules/rules-fields.tsx'
import type { Scope } from '../../session/session.ts'
import { useWorkplace } from '../../session/session-context.ts'

type Issued = Schemas['IssuedApiKey']

/** What each scope is for, in the order of the contract. */
const SCOPES: Readonly<Record<Scope, string>> = {
  'relayers:read': 'see relayers, their state and their ABIs',
  'relayers:write': 'change relayers, and register ABIs',
  'relayers:admin': 'create and delete relayers',
  'transactions:read': 'see transactions and approvals',
  'transactions:write': 'send, replace and cancel transactions',
  'transactions:approve': 'decide about what waits for an approval',
  sign: 'sign messages, typed data and transactions',
  rpc: 'call nodes through relayers',
  'signers:read': 'see signers',
  'signers:admin': 'create and delete signers',
  'networks:read': 'see networks',
  'networks:admin': 'change networks and their endpoints',
  'notifications:read': 'see notifications and deliveries',
  'notifications:write': 'create, change and delete notifications, and send again',
  'events:read': 'see events and alerts; live pages',
  'metrics:read': 'see metrics',
  'audit:read': 'read the audit log',
  'api-keys:read': 'see API keys',
  'api-keys:admin': 'create, change and delete API keys',
}

/** Creates an API key, and shows its secret once. */
export function CreateApiKeyButton({ onDone }: { readonly onDone: () => void }) {
  const [issued, setIssued] = useState<Issued>()
  return (
    <>
      <CreateButton name="New API key" scope="api-keys:admin">
        {(close) => <CreateApiKeyDialog onIssued={setIssued} onDone={onDone} onClose={close} />}
      </CreateButton>
      {issued && (
        <Viewer title={`API key ${issued.name} is created`} onClose={() => setIssued(undefined)}>
          <p>
            This is its secret. Nothing shows it again: hand it over now, by a way that only its owner reads.
          </p>
          <Copyable text={issued.secret} name="secret" whole />
        </Viewer>
      )}
    </>
  )
}

interface CreateApiKeyDialogProps {
  readonly onIssued: (key: Issued) => void
  readonly onDone: () => void
  readonly onClose: () => void
}

function CreateApiKeyDialog({ onIssued, onDone, onClose }: CreateApiKeyDialogProps) {
  const { session } = useWorkplace()
  const fields = useFields()
  const networks = ruledNetworks(useNetworks())
  const scopes = (Object.keys(SCOPES) as Scope[]).filter(session.may)
  return (
    <ActionDialog
      title="New API key"
      confirm="Create the key"
      act={async () => onIssued(await session.client.apiKeys.create(keyOf(fields, { scopes, networks })))}
      onDone={onDone}
      onClose={onClose}
    >
      <TextField fields={fields} path="name" label="Name" hint="Whose key it is, or what for." isRequired />
      <TextField
        fields={fields}
        path="id"
        label="Id"
        hint="Letters, digits, “.”, “_” and “-”. A UUID when empty."
      />
      <fieldset name="scopes">
        <legend>It may</legend>
        <Fault path="scopes" />
        {scopes.map((scope) => (
          <CheckField
            key={scope}
            fields={fields}
            path={`scopes ${scope}`}
            label={`${scope}: ${SCOPES[scope]}`}
          />
        ))}
      </fieldset>
      <TextField
        fields={fields}
        path="relayers"
        label="It sees these relayers"
        hint="Ids with commas between; “*” at the end stands for any ending. Empty: all."
      />
      <TextField
        fields={fields}
        path="networks"
        label="On these networks"
        hint="Such as evm:sepolia, with commas between. Empty: all."
      />
      <SelectField fields={fields} path="expires" label="It is accepted" of={EXPIRIES} isRequired />
      {fields.text('expires') === 'at' && (
        <TextField fields={fields} path="expires_at" label="Until" type="datetime-local" isRequired />
      )}
      <RulesFields fields={fields} path="rules" networks={networks} />
    </ActionDialog>
  )
}

const EXPIRIES = [
  ['', 'without an end'],
  ['7', 'for 7 days'],
  ['30', 'for 30 days'],
  ['90', 'for 90 days'],
  ['365', 'for a year'],
  ['at', 'until …'],
] as const

function ruledNetworks({ all }: Networks): RuledNetworks {
  return {
    kind: 'any',
    ids: all.map(({ id }) => id),
    currencyOf: (id) => currencyOfId(id, all),
  }
}

const DAY_MS = 86_400_000

interface KeyParts {
  readonly scopes: readonly Scope[]
  readonly networks: RuledNetworks
}

/** @throws FieldError for a time or an amount that is none */
function keyOf(fields: Fields, { scopes, networks }: KeyParts): Body<'createApiKey'> {
  return withoutEmpty({
    id: fields.text('id'),
    name: fields.text('name') ?? '',
    scopes: scopes.filter((scope) => fields.values[`scopes ${scope}`] === 'true'),
    relayers: fields.list('relayers'),
    networks: fields.list('networks'),
    expires_at: expiryOf(fields),
    rules: rulesOf(fields, { path: 'rules', networks }),
  }) as Body<'createApiKey'>
}

function expiryOf({ text }: Fields): string | undefined {
  const expires = text('expires')
  if (expires === undefined) return undefined
  if (expires !== 'at') return new Date(Date.now() + Number(expires) * DAY_MS).toISOString()
  const at = new Date(text('expires_at') ?? '')
  if (Number.isNaN(at.getTime())) throw new FieldError('expires_at', 'Choose a day and a time.')
  return at.toISOString()
}
