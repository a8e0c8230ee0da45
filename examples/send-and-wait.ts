/**
 * Sends a payment, and waits until a block includes it.
 *
 * The idempotency key makes it safe to run the program again after a crash: the second run finds the transaction of the first one.
 *
 *   RELAYER_URL=… RELAYER_API_KEY=… RELAYER_ID=local-1 RECEIVER=0x… node send-and-wait.ts invoice-1017
 */
import { createRelayerClient } from 'multichain-relayer-client'

const {
  RELAYER_URL = 'http://localhost:8080',
  RELAYER_API_KEY = '',
  RELAYER_ID = 'local-1',
  RECEIVER,
} = process.env
if (RECEIVER === undefined) throw new Error('Set RECEIVER to the address that is paid.')
const client = createRelayerClient({ baseUrl: RELAYER_URL, apiKey: RELAYER_API_KEY })

const idempotencyKey = process.argv[2] ?? crypto.randomUUID()
const { id } = await client.transactions.send(
  RELAYER_ID,
  { to: RECEIVER, value: 1n, speed: 'fast' },
  { idempotencyKey },
)
const { hash, status } = await client.transactions.waitFor(RELAYER_ID, id, 'mined', { timeoutMs: 120_000 })
console.log(`transaction ${id} is ${status}: ${hash}`)
