/**
 * Sends a payment, and replaces it by another one with the same nonce as long as no block includes it. At most one of the two is executed, and
 * the answer tells which one.
 *
 *   RELAYER_URL=… RELAYER_API_KEY=… RELAYER_ID=local-1 RECEIVER=0x… node replace-transaction.ts
 */
import { createRelayerClient, RelayerApiError } from 'multichain-relayer-client'

const {
  RELAYER_URL = 'http://localhost:8080',
  RELAYER_API_KEY = '',
  RELAYER_ID = 'local-1',
  RECEIVER = '',
} = process.env
const client = createRelayerClient({ baseUrl: RELAYER_URL, apiKey: RELAYER_API_KEY })

const { id } = await client.transactions.send(RELAYER_ID, { to: RECEIVER, value: 1n, speed: 'safeLow' })
await client.transactions.waitFor(RELAYER_ID, id, 'sent')
try {
  await client.transactions.replace(RELAYER_ID, id, { to: RECEIVER, value: 2n, speed: 'fastest' })
  console.log(`transaction ${id} has new content`)
} catch (error) {
  if (!(error instanceof RelayerApiError && error.code === 'transaction_not_replaceable')) throw error
  console.log('a block was faster')
}
const transaction = await client.transactions.waitFor(RELAYER_ID, id, 'mined')
if (transaction.network_type === 'evm') console.log(`${transaction.value} wei were paid: ${transaction.hash}`)
