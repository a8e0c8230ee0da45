import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { LIES } from '../../../scripts/faults/evm/lies.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { createAdjustableClock } from '../../support/clock.ts'
import { type FaultyNode, startFaultyNode } from '../../support/faulty-node.ts'
import { type Scenario, scenarioOf } from '../../support/scenario.ts'
import { RECEIVER, startService } from '../../support/service.ts'

const GWEI = 10n ** 9n

describe.each([
  { endpoints: 3, name: 'one endpoint of three' },
  { endpoints: 2, name: 'one endpoint of two' },
])('$name that says', ({ endpoints }) => {
  let anvil: Anvil
  let nodes: FaultyNode[]
  let story: Scenario
  const clock = createAdjustableClock()

  beforeAll(async () => {
    anvil = await startAnvil({ args: ['--no-mining'] })
    nodes = await Promise.all(Array.from({ length: endpoints }, () => startFaultyNode(anvil.url)))
    // The stories mine some ten blocks a second, and a chain that is much faster than its block time looks like a lie.
    const network = { average_blocktime_ms: 50 }
    story = scenarioOf(anvil, await startService({ rpcUrls: nodes.map(({ url }) => url), clock, network }))
    await story.mine(5)
  }, 120_000)
  afterAll(async () => {
    await story.stop()
    await Promise.all(nodes.map((node) => node.stop()))
  })

  test.each(LIES)('%s neither raises what is paid, nor refuses or holds up a payment', async (_name, lie) => {
    const [liar] = nodes
    if (liar === undefined) throw new Error('there is no node')
    liar.habits = { lie }
    onTestFinished(() => {
      liar.habits = undefined
    })
    const { id } = await story.send({ to: RECEIVER, value: 7, data: '0x1234', speed: 'fastest' })
    await story.reach(id, 'submitted')
    await story.mine(2)
    const { receipt } = await story.reach(id, 'mined', () => story.mine())
    const { gas_used, effective_gas_price } = receipt as unknown as {
      gas_used: number
      effective_gas_price: string
    }
    // anvil begins with a base fee of 1 gwei, and suggests a tip of 1 gwei: twice that for the fastest.
    expect(BigInt(effective_gas_price)).toBeLessThanOrEqual(8n * GWEI)
    expect(gas_used).toBeLessThan(30_000)
    const relayer = await story.service.api<{ system_disabled: boolean }>('GET', '/relayers/main')
    expect(relayer.body.data.system_disabled).toBe(false)
  })
})
