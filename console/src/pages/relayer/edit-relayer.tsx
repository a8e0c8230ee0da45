import { useState } from 'preact/hooks'
import type { Body, Schemas } from '../../../../clients/typescript/src/index.ts'
import type { Currency } from '../../format/amounts.ts'
import { hostOf } from '../../format/explorer.ts'
import { DialogButton } from '../../parts/action-button.tsx'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import {
  changesBetween,
  type Fields,
  readFields,
  type WrittenFields,
  withoutEmpty,
} from '../../parts/fields.ts'
import { TextField, useFields } from '../../parts/form.tsx'
import { useWorkplace } from '../../session/session-context.ts'
import { AccountsField, EndpointsField, NotificationField, PolicyFields } from './relayer-fields.tsx'
import {
  accountsOf,
  endpointsOf,
  filledAccounts,
  filledPolicies,
  type PolicyParts,
  policiesOf,
} from './relayer-form.ts'

interface EditRelayerProps {
  readonly relayer: Schemas['Relayer']
  readonly currency: Currency
  readonly onDone: () => void
}

/** Changes a relayer: its name, its accounts, its notification, its endpoints and its policies. */
export function EditRelayerButton(props: EditRelayerProps) {
  return (
    <DialogButton name="Edit" scope="relayers:write">
      {(close) => <EditRelayerDialog {...props} onClose={close} />}
    </DialogButton>
  )
}

interface EditRelayerDialogProps extends EditRelayerProps {
  readonly onClose: () => void
}

function EditRelayerDialog({ relayer, currency, onDone, onClose }: EditRelayerDialogProps) {
  const { client, key } = useWorkplace().session
  // The page below may load the relayer again; what is sent is what was changed here.
  const [{ name, filled, parts, endpoints }] = useState(() => opened(relayer, currency))
  const fields = useFields(filled)
  return (
    <ActionDialog
      title={`Edit ${name}`}
      confirm="Save"
      act={() => client.relayers.update(relayer.id, changesOf(readFields(filled), fields, parts))}
      onDone={onDone}
      onClose={onClose}
    >
      <TextField fields={fields} path="name" label="Name" isRequired />
      {key.relayers === undefined && <AccountsField fields={fields} />}
      <NotificationField fields={fields} />
      <EndpointsField fields={fields} present={endpoints} />
      <PolicyFields fields={fields} {...parts} />
    </ActionDialog>
  )
}

/** The relayer as it was when the form was opened. */
function opened(relayer: Schemas['Relayer'], currency: Currency) {
  const { name, notification_id = '', network_type: type, policies: present } = relayer
  const { accounts = [], custom_rpc_urls = [] } = relayer
  const parts = { type, currency, present }
  const filled = {
    name,
    notification_id,
    accounts: filledAccounts(accounts),
    ...filledPolicies(present, parts),
  }
  return { name, filled, parts, endpoints: custom_rpc_urls.map(({ url }) => hostOf(url)) }
}

/** @throws FieldError for an amount that is none */
function changesOf(before: WrittenFields, after: Fields, parts: PolicyParts): Body<'updateRelayer'> {
  const own = ({ text }: WrittenFields) =>
    withoutEmpty({ name: text('name'), notification_id: text('notification_id') })
  const accounts = accountsOf(after)
  const policies = changesBetween(policiesOf(before, parts), policiesOf(after, parts))
  const endpoints = after.text('network endpoints') ? null : endpointsOf(after)
  return {
    ...changesBetween(own(before), own(after)),
    ...(Object.keys(policies).length > 0 && { policies }),
    ...(after.text('accounts') !== before.text('accounts') && accounts !== undefined && { accounts }),
    ...(endpoints !== undefined && { custom_rpc_urls: endpoints }),
  } as Body<'updateRelayer'>
}
