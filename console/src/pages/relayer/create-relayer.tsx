import type { Body, Schemas } from '../../../../clients/typescript/src/index.ts'
import { type Currency, currencyOf, GWEI_DECIMALS } from '../../format/amounts.ts'
import { useLoad } from '../../live/use-load.ts'
import { useNetworks } from '../../live/use-networks.ts'
import { CreateButton } from '../../parts/action-button.tsx'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { amountIn, type Fields, withoutEmpty } from '../../parts/fields.ts'
import { CheckField, SelectField, TextField, useFields } from '../../parts/form.tsx'
import { hrefOfRelayer } from '../../routing/routes.ts'
import { rulesOf } from '../../rules/rules.ts'
import { RulesFields } from '../../rules/rules-fields.tsx'
import { useWorkplace } from '../../session/session-context.ts'

type NetworkType = Schemas['NetworkType']

/** Creates a relayer, and leads to its page. */
export function CreateRelayerButton() {
  return (
    <CreateButton name="New relayer" scope="relayers:admin">
      {(close) => <CreateRelayerDialog onClose={close} />}
    </CreateButton>
  )
}

function CreateRelayerDialog({ onClose }: { readonly onClose: () => void }) {
  const { client } = useWorkplace().session
  const { all: networks } = useNetworks()
  const fields = useFields()
  const chosen = networks.find(({ id }) => id === fields.text('network')) ?? networks[0]
  const type = chosen?.network_type ?? 'evm'
  const currency = currencyOf(type, chosen?.symbol)
  const parts = { network: chosen?.name ?? fields.text('network') ?? '', type, currency }
  return (
    <ActionDialog
      title="New relayer"
      confirm="Create the relayer"
      act={async () => {
        const { id } = await client.relayers.create(relayerOf(fields, parts))
        location.hash = hrefOfRelayer(id)
      }}
      onDone={() => undefined}
      onClose={onClose}
    >
      <TextField fields={fields} path="name" label="Name" isRequired />
      <TextField fields={fields} path="id" label="Id" hint="It stands in addresses. A UUID when empty." />
      <SelectField
        fields={fields}
        path="network"
        label="Network"
        of={networks.map(({ id }) => [id, id])}
        isRequired
      />
      <SignerField fields={fields} />
      <NotificationField fields={fields} />
      <CheckField fields={fields} path="paused" label="Paused: it takes no work until it is resumed" />
      <PolicyFields fields={fields} type={type} currency={currency} />
      <RulesFields fields={fields} path="policies.rules" networks={{ kind: 'one', currency }} />
    </ActionDialog>
  )
}

interface FieldsProps {
  readonly fields: Fields
}

function SignerField({ fields }: FieldsProps) {
  const { client, may } = useWorkplace().session
  const { value = [] } = useLoad(
    async (signal) => (may('signers:read') ? await Array.fromAsync(client.signers.list({ signal })) : []),
    ['signers of the form'],
  )
  const rest = {
    fields,
    path: 'signer_id',
    label: 'Signer',
    hint: 'It holds the key of the account.',
    isRequired: true,
  }
  if (value.length === 0) return <TextField {...rest} />
  return <SelectField {...rest} of={[['', 'choose one'], ...value.map(({ id }) => [id, id] as const)]} />
}

function NotificationField({ fields }: FieldsProps) {
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

interface PolicyFieldsProps extends FieldsProps {
  readonly type: NetworkType
  readonly currency: Currency
}

/** The policies that most relayers need; the API has all. */
function PolicyFields({ fields, type, currency: { symbol } }: PolicyFieldsProps) {
  return (
    <fieldset>
      <legend>Policies</legend>
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
      {type === 'evm' && (
        <>
          <TextField
            fields={fields}
            path="policies.gas_price_cap"
            label="Highest price of a unit of gas, in gwei"
          />
          <CheckField
            fields={fields}
            path="policies.private_transactions"
            label="Only private endpoints get its transactions"
          />
          <CheckField
            fields={fields}
            path="policies.wallet_rpc"
            label="It answers wallet methods (callRpc)"
          />
        </>
      )}
      {type === 'stellar' && (
        <TextField
          fields={fields}
          path="policies.max_fee"
          label={`Highest fee of a transaction, in ${symbol}`}
        />
      )}
      {type === 'solana' && (
        <TextField
          fields={fields}
          path="policies.max_allowed_fee_lamports"
          label={`Highest fee of a transaction, in ${symbol}`}
        />
      )}
    </fieldset>
  )
}

interface RelayerParts {
  readonly network: string
  readonly type: NetworkType
  readonly currency: Currency
}

/** @throws FieldError for an amount that is none */
function relayerOf(fields: Fields, { network, type, currency }: RelayerParts): Body<'createRelayer'> {
  const policies = policiesOf(fields, { type, currency })
  return withoutEmpty({
    id: fields.text('id'),
    name: fields.text('name') ?? '',
    network,
    network_type: type,
    signer_id: fields.text('signer_id') ?? '',
    notification_id: fields.text('notification_id'),
    paused: fields.text('paused') && true,
    policies: Object.keys(policies).length > 0 ? policies : undefined,
  }) as Body<'createRelayer'>
}

/** Fields of another type of network that was chosen before are left out. */
function policiesOf(fields: Fields, { type, currency }: Omit<RelayerParts, 'network'>): object {
  const amount = (name: string, decimals = currency.decimals) =>
    amountIn(fields, `policies.${name}`, decimals)
  const flag = (name: string) => fields.text(`policies.${name}`) && true
  const own = {
    evm: () => ({
      gas_price_cap: amount('gas_price_cap', GWEI_DECIMALS),
      private_transactions: flag('private_transactions'),
      wallet_rpc: flag('wallet_rpc'),
    }),
    stellar: () => ({ max_fee: amount('max_fee') }),
    solana: () => ({ max_allowed_fee_lamports: amount('max_allowed_fee_lamports') }),
  }
  return withoutEmpty({
    min_balance: amount('min_balance'),
    warn_balance: amount('warn_balance'),
    ...own[type](),
    rules: rulesOf(fields, { path: 'policies.rules', networks: { kind: 'one', currency } }),
  })
}
