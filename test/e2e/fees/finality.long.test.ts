import { expect, onTestFinished, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { startAnvil } from '../../support/anvil.ts'
import { createAdjustableClock } from '../../support/clock.ts'
import { scenarioOf, startScenario } from '../../support/scenario.ts'
import { startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const RECEIVER = '0x0000000000000000000000000000000000000777'

/** anvil calls a block finalized when two epochs lie on top of it; an epoch has three blocks here. */
const EPOCH = ['--slots-in-an-epoch', '3']

test('with finality "finalized" a transaction is confirmed when the nodes say so, however deep it is', async () => {
  const anvil = await startAnvil({ args: ['--no-mining', ...EPOCH] })
  const network = { required_confirmations: 1, finality: 'finalized' }
  const story = scenarioOf(anvil, await startService({ rpcUrls: [anvil.url], network }))
  onTestFinished(story.stop)
  const { id } = await story.send({ to: RECEIVER, value: 1 })
  await story.reach(id, 'submitted')
  await story.mine(3)
  await story.reach(id, 'mined')
  const { body } = await story.service.api<Schemas['Diagnosis']>(
    'GET',
    `/relayers/main/transactions/${id}/diagnosis`,
  )
  expect(body.data?.next_action.message).toBe('It becomes final when the network calls its block final.')
  expect((await story.get(id)).status).toBe('mined')
  await story.mine(6)
  await story.reach(id, 'confirmed')
})

test('a confirmed transaction whose block is reorganised away is announced and gets back into the chain', async () => {
  const clock = createAdjustableClock()
  const story = await startScenario({ clock, network: { required_confirmations: 1 } })
  onTestFinished(story.stop)
  await story.mine()
  const { id } = await story.send({ to: RECEIVER, value: 7 })
  await story.reach(id, 'submitted')
  await story.mine(2)
  const confirmed = await story.reach(id, 'confirmed')
  await story.anvil.rpc('anvil_reorg', [2, []])
  const incident = await until(
    async () => {
      clock.advance(31_000)
      const { body } = await story.service.api<Schemas['Event'][]>(
        'GET',
        '/events?type=transaction_reorganized',
      )
      return body.data[0]
    },
    (event) => event !== undefined,
  )
  expect(incident).toMatchObject({
    transaction_id: id,
    payload: { payload_type: 'transaction', status: 'confirmed' },
  })
  const restored = await until(
    async () => {
      await story.mine()
      clock.advance(31_000)
      return story.get(id)
    },
    ({ status_reason }) => status_reason?.includes('is in block') ?? false,
  )
  expect(restored).toMatchObject({ status: 'confirmed', hash: confirmed.hash })
  expect(BigInt(await story.anvil.rpc<string>('eth_getBalance', [RECEIVER, 'latest']))).toBe(7n)
})
