import { deploymentScopes, type Scope } from '../../src/access/scope.ts'
import { loadContract } from '../../src/contract/document.ts'
import { startEveryKind } from '../../test/support/every-kind.ts'
import { RECEIVER } from '../../test/support/service.ts'
import { createHiddenRecords } from './hidden-records.ts'
import { keepWorking } from './keep-working.ts'
import { create, deliveriesOf, schedule, send, sendWaiting } from './starting-data.ts'
import { type Tool, writeFacts, writeIds } from './tool.ts'

/** The only relayer that the key sees. */
const VISIBLE = 'other'

/** How many transactions of the visible relayer are there from the start. */
const TRANSACTIONS = 3

/**
 * Fuzzes with a key that has every scope that can be limited to relayers, and sees one relayer; `narrow_key.py` checks that no answer
 * tells of the others. Returns the exit code of the tool.
 */
export async function fuzzWithNarrowKey(tool: Tool): Promise<number> {
  const everyKind = await startEveryKind({ anvil: { args: ['--no-mining'] } })
  const { service } = everyKind
  try {
    const hidden = await createHiddenRecords(everyKind)
    const stopKeeping = await keepWorking(service, [VISIBLE])
    const sent: string[] = []
    for (let count = 0; count < TRANSACTIONS; count += 1)
      sent.push((await send(service, VISIBLE, { to: RECEIVER, value: 1, speed: 'fast' })).id)
    sent.push((await sendWaiting(service, VISIBLE, { to: RECEIVER, value: 1, speed: 'fast' })).id)
    const scheduled = await schedule(service, VISIBLE, { to: RECEIVER, value: 1, speed: 'fast' })
    // Those of `main` are among them.
    const deliveries = await deliveriesOf(service, 'ops', TRANSACTIONS + 1)
    await writeIds('fuzz-narrow-transaction-ids.txt', [...sent, ...hidden.transactions])
    await writeIds('fuzz-narrow-schedule-ids.txt', [scheduled, ...hidden.schedules])
    await writeIds('fuzz-narrow-delivery-ids.txt', [...deliveries, ...hidden.deliveries])
    const scopes = await narrowScopes()
    await writeFacts('fuzz-narrow-key.json', { scopes, ...hidden })
    const key = { id: 'narrow', name: 'Narrow', scopes, relayers: [VISIBLE] }
    const { secret } = await create<{ secret: string }>(service, '/api-keys', key)
    const code = await tool.run('scripts/fuzz/narrow-key.toml', service.url, secret)
    stopKeeping()
    return code
  } finally {
    await everyKind.stop()
  }
}

/** Lists every scope of the contract that a key can have that sees one relayer. */
async function narrowScopes(): Promise<Scope[]> {
  const { operations } = await loadContract()
  const scopes = new Set(operations.flatMap(({ scope }) => scope ?? []))
  return [...scopes].filter((scope) => deploymentScopes([scope]).length === 0)
}
