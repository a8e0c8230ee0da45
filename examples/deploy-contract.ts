/**
 * Creates a smart contract, and prints its address.
 *
 *   RELAYER_URL=… RELAYER_API_KEY=… RELAYER_ID=local-1 node deploy-contract.ts 0x6016…
 */
import { createRelayerClient } from 'multichain-relayer-client'

const { RELAYER_URL = 'http://localhost:8080', RELAYER_API_KEY = '', RELAYER_ID = 'local-1' } = process.env
const client = createRelayerClient({ baseUrl: RELAYER_URL, apiKey: RELAYER_API_KEY })

// Without a receiver, the data is the code that creates the contract.
const { id } = await client.transactions.send(RELAYER_ID, { value: 0n, data: process.argv[2] ?? '0x' })
const { hash } = await client.transactions.waitFor(RELAYER_ID, id, 'mined')

const reply = await client.relayers.callRpc(RELAYER_ID, {
  method: 'eth_getTransactionReceipt',
  params: [hash],
})
if (!('result' in reply)) throw new Error('the node has no receipt yet')
const { contractAddress } = reply.result as { contractAddress: string }
console.log(`the contract is at ${contractAddress}`)
