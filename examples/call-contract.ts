/**
 * Calls a function of a smart contract by its name. The service encodes the arguments, so the program needs no library of the network.
 *
 *   RELAYER_URL=… RELAYER_API_KEY=… RELAYER_ID=local-1 CONTRACT=0x… node call-contract.ts 'set(uint256)' 42
 */
import { createRelayerClient } from 'multichain-relayer-client'

const {
  RELAYER_URL = 'http://localhost:8080',
  RELAYER_API_KEY = '',
  RELAYER_ID = 'local-1',
  CONTRACT = '',
} = process.env
const client = createRelayerClient({ baseUrl: RELAYER_URL, apiKey: RELAYER_API_KEY })

const [signature = '', ...args] = process.argv.slice(2)
const body = { to: CONTRACT, value: 0n, call: { function: signature, args } }
// The dry run refuses what would revert, and tells the most that it can cost.
await client.transactions.send(RELAYER_ID, body, { dry_run: true })
const { id } = await client.transactions.send(RELAYER_ID, body)
const { hash } = await client.transactions.waitFor(RELAYER_ID, id, 'mined')
console.log(`${signature} was called: ${hash}`)
