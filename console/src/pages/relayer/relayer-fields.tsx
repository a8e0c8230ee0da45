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
  const rest = { fields, path: 'notification_id', label: 'Notification', hint: 'Receives the events.' }
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
      hint="One signer per line, the relayer’s own first; after a seed phrase, the number of its accounts. Leave empty for one account. One that you remove leaves when its transactions are final."
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
        hint={`${now}One full URL per line, followed by its weight if that is not 100. ${present.length > 0 ? 'Leave empty to keep them.' : 'Leave empty to use those of the network.'}`}
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
            label={`Maximum fee per transaction, in ${currency.symbol}`}
          />
        )}
        {type === 'solana' && (
          <TextField
            fields={fields}
            path="policies.max_allowed_fee_lamports"
            label={`Maximum fee per transaction, in ${currency.symbol}`}
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
        label={`Minimum balance, in ${symbol}`}
        hint="The relayer is disabled below this balance."
      />
      <TextField
        fields={fields}
        path="policies.warn_balance"
        label={`Warn below, in ${symbol}`}
        hint="Raises an alert when the spendable balance is lower."
      />
    </>
  )
}

function EvmFields({ fields, currency: { symbol } }: Pick<PolicyFieldsProps, 'fields' | 'currency'>) {
  return (
    <>
      <TextField fields={fields} path="policies.gas_price_cap" label="Maximum gas price, in gwei" />
      <TextField
        fields={fields}
        path="policies.tx_fee_cap"
        label={`Maximum fee per transaction, in ${symbol}`}
      />
      <CheckField
        fields={fields}
        path="policies.private_transactions"
        label="Send only through private endpoints"
      />
      <CheckField fields={fields} path="policies.wallet_rpc" label="Answer wallet methods (callRpc)" />
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
        label="Topped up by relayer"
        hint="The ID of another relayer on the same network. Leave empty for no top-ups."
      />
      {fields.text('policies.top_up.from') !== undefined && (
        <>
          <TextField
            fields={fields}
            path="policies.top_up.below"
            label={`Top up below, in ${symbol}`}
            isRequired
          />
          <TextField fields={fields} path="policies.top_up.to" label={`Top up to, in ${symbol}`} isRequired />
          <TextField
            fields={fields}
            path="policies.top_up.max_per_day"
            label={`Daily maximum, in ${symbol}`}
            isRequired
          />
        </>
      )}
    </fieldset>
  )
}
