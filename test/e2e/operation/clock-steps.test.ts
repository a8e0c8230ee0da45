import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { type AdjustableClock, createAdjustableClock } from '../../support/clock.ts'
import { type FaultyNode, startFaultyNode } from '../../support/faulty-node.ts'
import { type Scenario, scenarioOf } from '../../support/scenario.ts'
import { RECEIVER, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const HOUR_MS = 3_600_000

let anvil: Anvil
let node: FaultyNode
let clock: AdjustableClock
let story: Scenario

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--no-mining'] })
  node = await startFaultyNode(anvil.url)
  clock = createAdjustableClock()
  const env = { RPC_TIMEOUT_MS: '1000' }
  story = scenarioOf(anvil, await startService({ rpcUrls: [node.url], clock, env }))
})
afterAll(async () => {
  await story.stop()
  await node.stop()
})

test.each([
  ['ahead', HOUR_MS],
  ['behind', -HOUR_MS],
])('a clock that was an hour %s for a moment keeps no account waiting', async (_name, step) => {
  const earlier = await story.send({ to: RECEIVER, value: 1 })
  await story.reach(earlier.id, 'submitted')
  clock.step(step)
  // What is sent now waits for the node, and its next run is dated by the wrong clock.
  node.fault = () => 'http_500'
  const sent = await story.send({ to: RECEIVER, value: 2 })
  await until(
    () => story.get(sent.id),
    ({ status_reason }) => status_reason?.startsWith('Waiting') === true,
  )
  clock.step(-step)
  node.fault = () => 'pass'
  await story.settle()
  expect((await story.get(sent.id)).status).toBe('confirmed')
})
