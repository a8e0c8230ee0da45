import type { Schemas } from '../../../../clients/typescript/src/index.ts'
import type { Currency } from '../../format/amounts.ts'
import { useLoad } from '../../live/use-load.ts'
import type { Fields } from '../../parts/fields.ts'
import { CheckField, SelectField, TextField } from '../../parts/form.tsx'
import { RulesFields } from '../../rules/rules-fields.tsx'
import { useWorkplace } from '../../session/session-context.ts'

interface FieldsProps {
  readonly fields: Fields
}

/** The notification that gets the events of a relayer. */
export function NotificationField({ fields }: FieldsProps) {
  const { client, may } = useWorkplace().session
  const { value = [] } = useLoad(
    async (signal) =>
      may('notifications:read') ? await Array.fromAsync(client.notifications.list({ signal })) : [],
    ['notifications of the form'],
  )
  const rest = { fields, path: 'notification_id', label: 'Notification', hint: 'It gets the events.' }
  if (value.length === 0) return <TextField {...rest} />
  return <SelectField {...rest} of={[['', 'none'], ...value.map(({ id }) => [id, id] as const)]} />
}

/** The accounts that share the work of a relayer. */
export function AccountsField({ fields }: FieldsProps) {
  return (
    <TextField
      fields={fields}
      path="accounts"
      label="Accounts"
      rows={2}
      hint="One signer per line, beginning with that of the relayer; behind a seed phrase, how many of its accounts. If empty, one account. One that you leave out leaves when its transactions are final."
    />
  )
}

interface EndpointsFieldProps extends FieldsProps {
  /** The endpoints that exist, without their secrets. */
  readonly present?: readonly string[]
}

/** The endpoints of a relayer, for keys that may choose some: who chooses them decides what the service believes. */
export function EndpointsField({ fields, present = [] }: EndpointsFieldProps) {
  const { may, key } = useWorkplace().session
  if (!may('networks:admin') || key.rules !== undefined) return null
  const now = present.length > 0 ? `Now ${present.join(', ')}; what you write replaces all of them. ` : ''
  return (
    <>
      <TextField
        fields={fields}
        path="custom_rpc_urls"
        label="Custom RPC URLs"
        rows={2}
        hint={`${now}One full url per line, with its weight behind it if that is not 100. ${present.length > 0 ? 'They stay when empty.' : 'If empty, those of the network.'}`}
      />
      {present.length > 0 && (
        <CheckField fields={fields} path="network endpoints" label="Use the endpoints of the network again" />
      )}
    </>
  )
}

interface PolicyFieldsProps extends FieldsProps {
  readonly type: Schemas['NetworkType']
  readonly currency: Currency
  /** The policies that exist, if they are changed. */
  readonly present?: Schemas['Relayer']['policies']
}

/** The policies that most relayers need, with top-up and rules; the API has all. */
export function PolicyFields({ fields, type, currency, present }: PolicyFieldsProps) {
  return (
    <>
      <fieldset>
        <legend>Policies</legend>
        <BalanceFields fields={fields} currency={currency} />
        {type === 'evm' && <EvmFields fields={fields} currency={currency} />}
        {type === 'stellar' && (
          <TextField
            fields={fields}
            path="policies.max_fee"
            label={`Highest fee of a transaction, in ${currency.symbol}`}
          />
        )}
        {type === 'solana' && (
          <TextField
            fields={fields}
            path="policies.max_allowed_fee_lamports"
            label={`Highest fee of a transaction, in ${currency.symbol}`}
          />
        )}
      </fieldset>
      <TopUpFields fields={fields} currency={currency} />
      <RulesFields
        fields={fields}
        path="policies.rules"
        networks={{ kind: 'one', currency }}
        present={present?.rules}
      />
    </>
  )
}

function BalanceFields({ fields, currency: { symbol } }: Pick<PolicyFieldsProps, 'fields' | 'currency'>) {
  return (
    <>
      <TextField
        fields={fields}
        path="policies.min_balance"
        label={`Lowest balance, in ${symbol}`}
        hint="Below it, the relayer is disabled."
      />
      <TextField
        fields={fields}
        path="policies.warn_balance"
        label={`Warn below, in ${symbol}`}
        hint="An alert begins when the account can spend less."
      />
    </>
  )
}

function EvmFields({ fields, currency: { symbol } }: Pick<PolicyFieldsProps, 'fields' | 'currency'>) {
  return (
    <>
      <TextField
        fields={fields}
        path="policies.gas_price_cap"
        label="Highest price of a unit of gas, in gwei"
      />
      <TextField
        fields={fields}
        path="policies.tx_fee_cap"
        label={`Highest fee of one transaction, in ${symbol}`}
      />
      <CheckField
        fields={fields}
        path="policies.private_transactions"
        label="Only private endpoints get its transactions"
      />
      <CheckField fields={fields} path="policies.wallet_rpc" label="It answers wallet methods (callRpc)" />
    </>
  )
}

/** It spends the money of another relayer, so a key needs more rights for it than for other policies. */
function TopUpFields({ fields, currency: { symbol } }: Pick<PolicyFieldsProps, 'fields' | 'currency'>) {
  const { may, key } = useWorkplace().session
  if (!may('relayers:admin') || !may('transactions:write') || key.rules !== undefined) return null
  return (
    <fieldset>
      <legend>Top-up</legend>
      <TextField
        fields={fields}
        path="policies.top_up.from"
        label="Filled by the relayer"
        hint="The id of another relayer on the same network. If empty, no one fills the account."
      />
      {fields.text('policies.top_up.from') !== undefined && (
        <>
          <TextField
            fields={fields}
            path="policies.top_up.below"
            label={`When it is below, in ${symbol}`}
            isRequired
          />
          <TextField fields={fields} path="policies.top_up.to" label={`Up to, in ${symbol}`} isRequired />
          <TextField
            fields={fields}
            path="policies.top_up.max_per_day"
            label={`At most in a day, in ${symbol}`}
            isRequired
          />
        </>
      )}
    </fieldset>
  )
}
