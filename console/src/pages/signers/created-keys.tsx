import type { Schemas } from '../../../../clients/typescript/src/index.ts'
import { type Loaded, useLoad } from '../../live/use-load.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { useOffers, useWorkplace } from '../../session/session-context.ts'

type KeyCreation = Schemas['KeyCreation']

/** The most keys that are shown, newest first. */
const MOST = 100

const COLUMNS: readonly Column<KeyCreation>[] = [
  { name: 'Signer', cell: ({ signer_id: id }) => <code>{id}</code> },
  { name: 'Key stored in', cell: ({ type }) => type.replaceAll('_', ' ') },
  { name: 'Name of the key', cell: ({ key_name: name }) => name && <code>{name}</code> },
  {
    name: 'State',
    cell: ({ state, addresses, detail }) =>
      state === 'usable' ? <Facts facts={{ ...addresses }} /> : `${state}: ${detail}`,
  },
]

/** The keys that key services created for signers, and those whose creation stopped on the way. */
export type CreatedKeys = Loaded<readonly KeyCreation[]>

/** Loads them. */
export function useCreatedKeys(): CreatedKeys {
  const { client } = useWorkplace().session
  const load = async () => (await client.signers.listKeyCreations({ per_page: MOST }).page()).items
  return useLoad(load, ['created keys'])
}

/** Shows them, or nothing if there are none. */
export function CreatedKeysTable({ keys }: { readonly keys: CreatedKeys }) {
  const { client } = useWorkplace().session
  const offersForgetting = useOffers()('signers:create-keys')
  if (keys.value === undefined || keys.value.length === 0) return null
  const forget: Column<KeyCreation> = {
    name: 'Forget',
    cell: ({ signer_id: id }) => (
      <ActionButton
        name="Forget"
        confirm="Forget the key"
        scope="signers:create-keys"
        isDangerous
        act={() => client.signers.forgetKeyCreation(id)}
        onDone={keys.reload}
      >
        <p>
          The key of signer <code>{id}</code> stays in its key service, and its signer stays here. Only this
          row goes. If the key is not usable yet, look for it in the key service first.
        </p>
      </ActionButton>
    ),
  }
  return (
    <section>
      <h2>Keys created in key services</h2>
      <Table
        caption="Keys created in key services"
        empty="No keys created yet."
        columns={offersForgetting ? [...COLUMNS, forget] : COLUMNS}
        keyOf={({ signer_id: id }) => id}
        rows={keys.value}
      />
    </section>
  )
}
