import { useState } from 'preact/hooks'
import type { Schemas } from '../../../../clients/typescript/src/index.ts'
import { formatTime } from '../../format/times.ts'
import { useLoad } from '../../live/use-load.ts'
import { type Networks, useNetworks } from '../../live/use-networks.ts'
import { FieldError, type Fields, type WrittenFields, withoutEmpty } from '../../parts/fields.ts'
import { CheckField, Fault, SelectField, TextField } from '../../parts/form.tsx'
import { currencyOfId, filledRules, type RuledNetworks, rulesOf } from '../../rules/rules.ts'
import { RulesFields } from '../../rules/rules-fields.tsx'
import type { Scope } from '../../session/session.ts'
import { useWorkplace } from '../../session/session-context.ts'

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
  'signers:create-keys': 'let key services create keys',
  'networks:read': 'see networks',
  'networks:admin': 'change networks and their endpoints',
  'notifications:read': 'see notifications and deliveries',
  'notifications:write': 'create, change and delete notifications, and send again',
  'events:read': 'see events and alerts; live pages',
  'metrics:read': 'see metrics',
  'audit:read': 'read the audit log',
  'api-keys:read': 'see API keys',
  'api-keys:admin': 'create, change and delete API keys',
  'plugins:read': 'read plugins, their state and their logs',
  'plugins:call': 'call plugins, which act with their own rights',
  'plugins:admin': 'change the settings of plugins',
}

/** A set of scopes for the usual owner of a key, as the service has it. */
type Role = Schemas['Role']

/** What the rights of a key in a form depend on. */
export interface KeyParts {
  /** The scopes that are offered: those of the person. */
  readonly scopes: readonly Scope[]
  readonly networks: RuledNetworks
  /** The roles whose scopes the person has. */
  readonly roles: readonly Role[]
  /** The key that exists, if it is changed. */
  readonly present?: Schemas['ApiKey']
}

/** Returns the parts for the person who fills the form. */
export function useKeyParts(present?: Schemas['ApiKey']): KeyParts {
  const { session } = useWorkplace()
  const networks = ruledNetworks(useNetworks())
  // The page below may load the key again; the form is about the one that it was opened with.
  const [kept] = useState(present)
  const known = useLoad((signal) => session.client.apiKeys.listRoles({ signal }), ['roles']).value ?? []
  const scopes = (Object.keys(SCOPES) as Scope[]).filter(session.may)
  const roles = known.filter((role) => role.scopes.every(session.may))
  return { scopes, networks, roles, ...(kept && { present: kept }) }
}

interface RightsFieldsProps extends KeyParts {
  readonly fields: Fields
}

/** The fields for what a key may do, see and spend, and until when. */
export function RightsFields({ fields, scopes, roles, networks, present }: RightsFieldsProps) {
  const expiries = present === undefined ? EXPIRIES : [keptExpiry(present), ...EXPIRIES]
  return (
    <>
      <RoleField fields={fields} scopes={scopes} roles={roles} />
      <Fault path="scopes" />
      <details open={roleOf(fields, { scopes, roles }) === CUSTOM}>
        <summary>Scopes</summary>
        <fieldset name="scopes">
          <legend>Scopes</legend>
          {scopes.map((scope) => (
            <CheckField
              key={scope}
              fields={fields}
              path={`scopes ${scope}`}
              label={`${scope}: ${SCOPES[scope]}`}
            />
          ))}
        </fieldset>
      </details>
      <TextField
        fields={fields}
        path="relayers"
        label="Relayers"
        hint="Comma-separated IDs; a trailing “*” matches any ending. Leave empty for all."
      />
      <TextField
        fields={fields}
        path="networks"
        label="Networks"
        hint="Comma-separated, such as evm:sepolia. Leave empty for all."
      />
      <SelectField fields={fields} path="expires" label="Expires" of={expiries} isRequired />
      {fields.text('expires') === 'at' && (
        <TextField fields={fields} path="expires_at" label="Expires at" type="datetime-local" isRequired />
      )}
      <RulesFields fields={fields} path="rules" networks={networks} present={present?.rules} />
    </>
  )
}

interface RoleFieldProps extends Pick<KeyParts, 'scopes' | 'roles'> {
  readonly fields: Fields
}

const NO_ROLE = ''
const CUSTOM = 'custom'

/** Chooses many scopes at once. A role that has more than the person may give is not offered. */
function RoleField({ fields, scopes, roles }: RoleFieldProps) {
  const choose = (name: string) => {
    const role = roles.find((known) => known.name === name)
    fields.set('role', name)
    if (role !== undefined)
      for (const scope of scopes) fields.set(`scopes ${scope}`, role.scopes.includes(scope) ? 'true' : '')
  }
  return (
    <SelectField
      fields={{
        ...fields,
        values: { ...fields.values, role: roleOf(fields, { scopes, roles }) },
        set: (_, name) => choose(name),
      }}
      path="role"
      label="Role"
      of={[
        [NO_ROLE, 'Choose a role'],
        ...roles.map(({ name, description }) => [name, `${titleOf(name)}: ${description}`] as const),
        [CUSTOM, 'Custom: choose scopes'],
      ]}
      isRequired
    />
  )
}

/** The role whose scopes are chosen. What a person has chosen one by one is a role of its own. */
function roleOf({ values }: Fields, { scopes, roles }: Pick<KeyParts, 'scopes' | 'roles'>): string {
  const chosen = scopes.filter((scope) => values[`scopes ${scope}`] === 'true')
  if (values.role === CUSTOM) return CUSTOM
  if (chosen.length === 0) return NO_ROLE
  const isSame = (role: readonly Scope[]) =>
    role.length === chosen.length && role.every((scope) => chosen.includes(scope))
  return roles.find((role) => isSame(role.scopes))?.name ?? CUSTOM
}

const titleOf = (name: string) => name.charAt(0).toUpperCase() + name.slice(1)

function keptExpiry({ expires_at }: Schemas['ApiKey']): readonly [string, string] {
  return ['present', expires_at === undefined ? 'never, as now' : `${formatTime(expires_at)}, as now`]
}

const EXPIRIES = [
  ['', 'never'],
  ['7', 'in 7 days'],
  ['30', 'in 30 days'],
  ['90', 'in 90 days'],
  ['365', 'in a year'],
  ['at', 'at a time'],
] as const

function ruledNetworks({ all }: Networks): RuledNetworks {
  return {
    kind: 'any',
    ids: all.map(({ id }) => id),
    currencyOf: (id) => currencyOfId(id, all),
  }
}

const DAY_MS = 86_400_000

/**
 * Makes the rights of what a person has written.
 * @throws FieldError for a time or an amount that is none
 */
export function rightsOf(fields: WrittenFields, { scopes, networks, present }: KeyParts): object {
  return withoutEmpty({
    name: fields.text('name') ?? '',
    scopes: scopes.filter((scope) => fields.values[`scopes ${scope}`] === 'true'),
    relayers: fields.list('relayers'),
    networks: fields.list('networks'),
    expires_at: fields.text('expires') === 'present' ? present?.expires_at : expiryOf(fields),
    rules: rulesOf(fields, { path: 'rules', networks, present: present?.rules }),
  })
}

/** Fills the fields with the rights of a key, so that `rightsOf` gives them back. */
export function filledRights(
  { name, scopes, relayers, networks: seen, rules }: Schemas['ApiKey'],
  networks: RuledNetworks,
): Record<string, string> {
  return {
    name,
    ...Object.fromEntries(scopes.map((scope) => [`scopes ${scope}`, 'true'])),
    relayers: relayers?.join(', ') ?? '',
    networks: seen?.join(', ') ?? '',
    expires: 'present',
    ...(rules && filledRules(rules, { path: 'rules', networks })),
  }
}

function expiryOf({ text }: WrittenFields): string | undefined {
  const expires = text('expires')
  if (expires === undefined) return undefined
  if (expires !== 'at') return new Date(Date.now() + Number(expires) * DAY_MS).toISOString()
  const at = new Date(text('expires_at') ?? '')
  if (Number.isNaN(at.getTime())) throw new FieldError('expires_at', 'Choose a date and time.')
  return at.toISOString()
}
