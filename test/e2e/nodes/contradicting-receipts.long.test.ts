import { expect, onTestFinished, test } from 'vitest'
import { anvilNetwork, startAnvil } from '../../support/anvil.ts'
import { type FaultyNode, startFaultyNode } from '../../support/faulty-node.ts'
import type { WireEntry } from '../../support/forked.ts'
import { scenarioOf } from '../../support/scenario.ts'
import { RECEIVER, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

/** An endpoint that gives each receipt this status. */
const lieAbout = (status: string) => (call: WireEntry, reply: WireEntry) =>
  call.method === 'eth_getTransactionReceipt' && reply.result !== null
    ? { ...reply, result: { ...(reply.result as object), status } }
    : reply

/** A service that asks the first endpoint first, and the others only for second opinions. */
async function startWith(endpoints: number) {
  const anvil = await startAnvil({ args: ['--no-mining'] })
  const nodes: FaultyNode[] = []
  while (nodes.length < endpoints) nodes.push(await startFaultyNode(anvil.url))
  const [liar] = nodes
  if (liar === undefined) throw new Error('there is no endpoint')
  const urls = nodes.map(({ url }, index) => ({ url, weight: index === 0 ? 100 : 1 }))
  const service = await startService({ rpcUrls: [], networks: [{ ...anvilNetwork([]), rpc_urls: urls }] })
  const story = scenarioOf(anvil, service)
  onTestFinished(async () => {
    await story.stop()
    for (const node of nodes) await node.stop()
  })
  const send = async (body: object) => {
    const { id } = await story.send(body)
    await story.reach(id, 'submitted')
    await story.mine(3)
    return id
  }
  return { story, liar, send }
}

/** An account without code that rejects nothing, and code that reverts always. */
const REVERTING = '0x00000000000000000000000000000000000000ff'

test('one endpoint of three cannot make a payment fail that succeeded, and keeps one open that failed as long as it says otherwise', async () => {
  const { story, liar, send } = await startWith(3)
  await story.anvil.rpc('anvil_setCode', [REVERTING, '0x5f5ffd'])
  liar.habits = { lie: lieAbout('0x0') }
  const paid = await story.reach(await send({ to: RECEIVER, value: 1 }), 'confirmed')
  expect(paid.status_reason).toBeUndefined()
  expect(paid.attempts).toMatchObject([{ outcome: 'mined' }])

  liar.habits = { lie: lieAbout('0x1') }
  const id = await send({ to: REVERTING, value: 1, gas_limit: 100_000 })
  await story.reach(id, 'mined')
  // Anyone who hears "failed" pays again, so it takes the word of every endpoint.
  const { body } = await until(
    () => story.service.api<{ type: string }[]>('GET', `/events?transaction_id=${id}`),
    (seen) => seen.body.data.some(({ type }) => type === 'transaction_undecided'),
  )
  expect(body.data.filter(({ type }) => type === 'transaction_undecided')).toHaveLength(1)
  expect((await story.get(id)).status).toBe('mined')
  liar.habits = {}
  const reverted = await story.reach(id, 'failed')
  expect(reverted.status_reason).toContain('Reverted on chain')
  expect(reverted.attempts).toMatchObject([{ outcome: 'reverted' }])
})

test('while one endpoint of two contradicts the other, nothing is final', async () => {
  const { story, liar, send } = await startWith(2)
  liar.habits = { lie: lieAbout('0x0') }
  const id = await send({ to: RECEIVER, value: 1 })
  const asked = () => liar.calls.get('eth_getTransactionReceipt') ?? 0
  await story.reach(id, 'mined')
  const before = asked()
  await until(
    async () => asked(),
    (count) => count > before + 5,
  )
  expect((await story.get(id)).status).toBe('mined')
  liar.habits = {}
  expect((await story.reach(id, 'confirmed')).status_reason).toBeUndefined()
})

test('a receipt with a status that does not exist says nothing', async () => {
  const { story, liar, send } = await startWith(1)
  liar.habits = { lie: lieAbout('0x2') }
  const id = await send({ to: RECEIVER, value: 1 })
  const asked = () => liar.calls.get('eth_getTransactionReceipt') ?? 0
  await until(
    async () => asked(),
    (count) => count > 5,
  )
  expect((await story.get(id)).status).toBe('submitted')
  liar.habits = {}
  await story.reach(id, 'confirmed')
})
