/**
 * Calls a smart contract on Stellar: it transfers a token. The service simulates the call, and gives it its resources, its fee and its sequence number.
 *
 *   RELAYER_URL=… RELAYER_API_KEY=… RELAYER_ID=stellar-1 NETWORK=testnet CONTRACT=C… RECEIVER=G… node stellar-call.ts
 */
import { createRelayerClient } from 'multichain-relayer-client'

const { RELAYER_URL = 'http://localhost:8080', RELAYER_API_KEY = '', RELAYER_ID = 'stellar-1' } = process.env
const { NETWORK = 'testnet', CONTRACT = '', RECEIVER = '' } = process.env
const client = createRelayerClient({ baseUrl: RELAYER_URL, apiKey: RELAYER_API_KEY })
const { address = '' } = await client.relayers.get(RELAYER_ID)

const { id } = await client.transactions.send(RELAYER_ID, {
  network: NETWORK,
  // The most that it may cost, in stroops.
  max_fee: 1_000_000n,
  operations: [
    {
      type: 'invoke_contract',
      contract_address: CONTRACT,
      function_name: 'transfer',
      args: [{ address }, { address: RECEIVER }, { i128: '7' }],
    },
  ],
})
const { hash } = await client.transactions.waitFor(RELAYER_ID, id, 'confirmed')
console.log(`the ledger has it: ${hash}`)
