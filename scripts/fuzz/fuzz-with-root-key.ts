import { fileURLToPath } from 'node:url'
import { startEveryKind } from '../../test/support/every-kind.ts'
import { API_KEY, RECEIVER, type Service } from '../../test/support/service.ts'
import { keepWorking } from './keep-working.ts'
import { create, createRelayer, deliveriesOf, schedule, send, sendWaiting } from './starting-data.ts'
import { type Tool, writeIds } from './tool.ts'

/** How many transactions are there from the start. */
const TRANSACTIONS = 3

/** How many schedules are there from the start, to be read and to be deleted. */
const SCHEDULES = 3

/** How many transactions wait for an approval from the start. */
const WAITING = 2

/** Fuzzes every operation with the key that can do everything, and returns the exit code of the tool. */
export async function fuzzWithRootKey(tool: Tool): Promise<number> {
  const plugin = fileURLToPath(new URL('../../test/e2e/plugins/fixtures/echo.ts', import.meta.url))
  const everyKind = await startEveryKind({
    plugins: [{ id: 'echo', path: plugin, allow_get_invocation: true }],
    anvil: { args: ['--no-mining'] },
    // The services that its signers name do not exist, and it need not wait for them.
    env: { RELAYER_KEY_SERVICE_TIMEOUT_MS: '100' },
  })
  const { service } = everyKind
  try {
    // A relayer that may be changed and deleted without harm to the others.
    await createRelayer(service, { id: 'spare', name: 'Spare', signer_id: 'spare' })
    await createApiKeys(service)
    await writeIds('fuzz-transaction-ids.txt', [...(await sendSome(service)), ...(await askForSome(service))])
    await writeIds('fuzz-delivery-ids.txt', await deliveriesOf(service, 'ops', TRANSACTIONS))
    await writeIds('fuzz-schedule-ids.txt', await scheduleSome(service))
    await writeIds('fuzz-changing-schedule-ids.txt', await scheduleSome(service))
    const stopKeeping = await keepWorking(service, ['main', 'other', 'stellar', 'solana'])
    const code = await tool.run('scripts/fuzz/root-key.toml', service.url, API_KEY)
    stopKeeping()
    return code
  } finally {
    await everyKind.stop()
  }
}

/** Transactions that wait in the pool of a node that does not mine, so that they can be replaced and canceled. */
async function sendSome(service: Service): Promise<string[]> {
  const ids: string[] = []
  for (let count = 0; count < TRANSACTIONS; count += 1)
    ids.push((await send(service, 'main', { to: RECEIVER, value: 1, speed: 'fast' })).id)
  return ids
}

/** Transactions that wait for an approval: the first decision about each counts. */
async function askForSome(service: Service): Promise<string[]> {
  const ids: string[] = []
  for (let count = 0; count < WAITING; count += 1)
    ids.push((await sendWaiting(service, 'main', { to: RECEIVER, value: 1, speed: 'fast' })).id)
  return ids
}

/** Schedules whose time does not come. */
async function scheduleSome(service: Service): Promise<string[]> {
  const ids: string[] = []
  for (let count = 0; count < SCHEDULES; count += 1)
    ids.push(await schedule(service, 'main', { to: RECEIVER, value: 1, speed: 'fast' }))
  return ids
}

/** A key that is read and changed, and one that is deleted. */
async function createApiKeys(service: Service): Promise<void> {
  for (const id of ['reader', 'spare'])
    await create(service, '/api-keys', { id, name: 'Reader', scopes: ['relayers:read'] })
}
