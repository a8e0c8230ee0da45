/**
 * Makes a relayer for each of several accounts of one seed phrase. Running it again makes only those that are missing. The service has to have a
 * STORAGE_ENCRYPTION_KEY, and the API key the scopes signers:admin and relayers:admin.
 *
 *   RELAYER_URL=… RELAYER_API_KEY=… SEED_PHRASE='…' NETWORK=sepolia node many-accounts.ts 5
 */
import { createRelayerClient, RelayerApiError } from 'multichain-relayer-client'

const {
  RELAYER_URL = 'http://localhost:8080',
  RELAYER_API_KEY = '',
  SEED_PHRASE = '',
  NETWORK = 'sepolia',
} = process.env
const client = createRelayerClient({ baseUrl: RELAYER_URL, apiKey: RELAYER_API_KEY })

for (let index = 0; index < Number(process.argv[2] ?? 3); index += 1) {
  const id = `account-${index}`
  await orExisting(client.signers.create({ id, type: 'mnemonic', config: { mnemonic: SEED_PHRASE, index } }))
  await orExisting(
    client.relayers.create({
      id,
      name: `Account ${index}`,
      network: NETWORK,
      network_type: 'evm',
      signer_id: id,
    }),
  )
  const { address } = await client.relayers.get(id)
  console.log(`${id} ${address}`)
}

async function orExisting(creation: Promise<unknown>): Promise<void> {
  await creation.catch((error: unknown) => {
    if (!(error instanceof RelayerApiError && error.code === 'already_exists')) throw error
  })
}
