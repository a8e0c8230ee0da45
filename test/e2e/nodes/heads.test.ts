import { expect, test } from 'vitest'
import { startAnvil } from '../../support/anvil.ts'
import { createTestClock } from '../../support/clock.ts'
import { scenarioOf } from '../../support/scenario.ts'
import { RECEIVER, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

test('a block that announces itself is seen immediately: time stands still, so nothing is polled', async () => {
  const anvil = await startAnvil({ args: ['--no-mining'] })
  const service = await startService({
    rpcUrls: [anvil.url, anvil.url.replace('http', 'ws')],
    clock: createTestClock(),
  })
  const story = scenarioOf(anvil, service)
  try {
    const sent = await story.send({ to: RECEIVER, value: 1 })
    await story.reach(sent.id, 'submitted')
    // The subscription may be there only after the first block.
    const seen = await until(
      async () => {
        await story.mine()
        return (await story.get(sent.id)).status
      },
      (status) => status === 'confirmed',
    )
    expect(seen).toBe('confirmed')
  } finally {
    await service.stop()
    await anvil.stop()
  }
})
