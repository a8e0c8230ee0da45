import { parseJson } from '../../../../clients/typescript/src/exact-json.ts'
import type { Body } from '../../../../clients/typescript/src/index.ts'
import { useLoad } from '../../live/use-load.ts'
import { ActionButton, DialogButton } from '../../parts/action-button.tsx'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { Age } from '../../parts/age.tsx'
import { Copyable } from '../../parts/copyable.tsx'
import { FieldError } from '../../parts/fields.ts'
import { TextField, useFields } from '../../parts/form.tsx'
import { Panel } from '../../parts/page.tsx'
import { Table } from '../../parts/table.tsx'
import { WhenLoaded } from '../../parts/when-loaded.tsx'
import { useOffers, useWorkplace } from '../../session/session-context.ts'

/** The contracts whose calls a relayer reads by an ABI. */
export function AbisPanel({ relayerId }: { readonly relayerId: string }) {
  const { client } = useWorkplace().session
  const offers = useOffers()
  const abis = useLoad(
    (signal) => Array.fromAsync(client.relayers.listAbis(relayerId, { signal })),
    [relayerId],
  )
  return (
    <Panel
      title="Contract ABIs"
      actions={
        <DialogButton isPrimary name="Register an ABI" scope="relayers:write">
          {(close) => <RegisterAbiDialog relayerId={relayerId} onDone={abis.reload} onClose={close} />}
        </DialogButton>
      }
    >
      <WhenLoaded loaded={abis}>
        {(rows) => (
          <Table
            caption="Contract ABIs"
            rows={rows}
            keyOf={({ address }) => address}
            empty="No ABIs. Only calls of common standards are decoded."
            columns={[
              { name: 'Contract', cell: ({ name, address }) => name ?? address },
              { name: 'Address', cell: ({ address }) => <Copyable text={address} name="address" /> },
              { name: 'Functions', isNumber: true, cell: ({ function_count: count }) => count },
              {
                name: 'Changed',
                isNumber: true,
                isExtra: true,
                cell: ({ updated_at }) => <Age of={updated_at} />,
              },
              ...(offers('relayers:write')
                ? [
                    {
                      name: 'Delete',
                      cell: ({ address }: { readonly address: string }) => (
                        <ActionButton
                          name="Delete"
                          scope="relayers:write"
                          isDangerous
                          act={() => client.relayers.deleteAbi(relayerId, address)}
                          onDone={abis.reload}
                        >
                          <p>Calls to the contract are no longer decoded.</p>
                        </ActionButton>
                      ),
                    },
                  ]
                : []),
            ]}
          />
        )}
      </WhenLoaded>
    </Panel>
  )
}

interface RegisterAbiProps {
  readonly relayerId: string
  readonly onDone: () => void
  readonly onClose: () => void
}

function RegisterAbiDialog({ relayerId, onDone, onClose }: RegisterAbiProps) {
  const { client } = useWorkplace().session
  const fields = useFields()
  const { text } = fields
  const register = () => {
    const name = text('name')
    const body = { abi: abiOf(text('abi') ?? ''), ...(name !== undefined && { name }) }
    const address = text('address') ?? ''
    if (!/^0x[0-9a-fA-F]{40}$/.test(address))
      throw new FieldError('address', 'Expected 0x and 40 hexadecimal digits.')
    return client.relayers.registerAbi(relayerId, address, body as Body<'registerAbi'>)
  }
  return (
    <ActionDialog
      title="Register an ABI"
      confirm="Register it"
      act={async () => await register()}
      onDone={onDone}
      onClose={onClose}
    >
      <TextField fields={fields} path="address" label="Contract address" isRequired />
      <TextField fields={fields} path="name" label="Name" hint="Shown next to the address." />
      <TextField
        fields={fields}
        path="abi"
        label="ABI"
        rows={8}
        hint="The JSON array that the compiler writes, or a Hardhat or Foundry artifact."
        isRequired
      />
    </ActionDialog>
  )
}

/** @throws FieldError for text that is no JSON; the service checks what it says */
function abiOf(text: string): unknown {
  try {
    const value = parseJson(text)
    return Array.isArray(value) ? value : ((value as { readonly abi?: unknown } | null)?.abi ?? value)
  } catch {
    throw new FieldError('abi', 'Not valid JSON.')
  }
}
