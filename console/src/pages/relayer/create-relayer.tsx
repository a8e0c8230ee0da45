import type { Body, Schemas } from '../../../../clients/typescript/src/index.ts'
import { type Currency, currencyOf } from '../../format/amounts.ts'
import { useLoad } from '../../live/use-load.ts'
import { useNetworks } from '../../live/use-networks.ts'
import { DialogButton } from '../../parts/action-button.tsx'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { type Fields, withoutEmpty } from '../../parts/fields.ts'
import { CheckField, SelectField, TextField, useFields } from '../../parts/form.tsx'
import { hrefOfRelayer } from '../../routing/routes.ts'
import { useWorkplace } from '../../session/session-context.ts'
import { AccountsField, EndpointsField, NotificationField, PolicyFields } from './relayer-fields.tsx'
import { accountsOf, channelsOf, endpointsOf, policiesOf } from './relayer-form.ts'

type NetworkType = Schemas['NetworkType']

/** Creates a relayer, and leads to its page. */
export function CreateRelayerButton() {
  return (
    <DialogButton isPrimary name="New relayer" scope="relayers:admin">
      {(close) => <CreateRelayerDialog onClose={close} />}
    </DialogButton>
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
      <TextField fields={fields} path="id" label="ID" hint="Used in URLs. Leave empty to use a UUID." />
      <SelectField
        fields={fields}
        path="network"
        label="Network"
        of={networks.map(({ id }) => [id, id])}
        isRequired
      />
      <SignerField fields={fields} />
      <AccountsField fields={fields} />
      <NotificationField fields={fields} />
      {type === 'stellar' && (
        <TextField
          fields={fields}
          path="channels"
          label="Channel accounts"
          hint="A number of accounts to derive from the signer’s key, or comma-separated signer IDs. Each one allows another transaction in flight."
        />
      )}
      <EndpointsField fields={fields} />
      <CheckField fields={fields} path="paused" label="Start paused" />
      <PolicyFields fields={fields} type={type} currency={currency} />
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
    hint: 'Holds the key of the account.',
    isRequired: true,
  }
  if (value.length === 0) return <TextField {...rest} />
  return <SelectField {...rest} of={[['', 'choose one'], ...value.map(({ id }) => [id, id] as const)]} />
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
    accounts: accountsOf(fields),
    channels: type === 'stellar' ? channelsOf(fields) : undefined,
    custom_rpc_urls: endpointsOf(fields),
    policies: Object.keys(policies).length > 0 ? policies : undefined,
  }) as Body<'createRelayer'>
}
