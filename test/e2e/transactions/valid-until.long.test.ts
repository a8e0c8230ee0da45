import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { DEV_ADDRESSES, RECEIVER } from '../../support/service.ts'
import { until } from '../../support/until.ts'

let story: Scenario

beforeAll(async () => {
  story = await startScenario()
})
afterAll(() => story.stop())

/** Late enough to be signed before on a busy machine. */
const soon = () => new Date(Date.now() + 4_000).toISOString()
const isExpiring = ({ attempts }: { attempts: readonly { kind: string }[] }) =>
  attempts.at(-1)?.kind === 'expire'

test('what waits in a pool when valid_until passes is replaced by a no-op, and ends as expired', async () => {
  const sent = await story.send({ to: RECEIVER, value: 5, valid_until: soon() })
  const first = await story.reach(sent.id, 'submitted')
  const expiring = await until(() => story.get(sent.id), isExpiring)
  expect(expiring).toMatchObject({ to: DEV_ADDRESSES[0], value: '0', nonce: first.nonce })
  await story.settle()
  expect(await story.get(sent.id)).toMatchObject({ status: 'expired', hash: expiring.hash })
  expect(await story.minedHash(DEV_ADDRESSES[0], first.nonce ?? -1)).toBe(expiring.hash)
})

test('a transaction that a block includes after its valid_until all the same is confirmed', async () => {
  const sent = await story.send({ to: RECEIVER, value: 6, valid_until: soon() })
  const first = await story.reach(sent.id, 'submitted')
  const raw = await story.anvil.rpc<string>('eth_getRawTransactionByHash', [first.hash])
  const expiring = await until(() => story.get(sent.id), isExpiring)
  await story.anvil.rpc('anvil_dropTransaction', [expiring.hash])
  await story.anvil.rpc('eth_sendRawTransaction', [raw])
  await story.settle()
  expect(await story.get(sent.id)).toMatchObject({ status: 'confirmed', hash: first.hash, value: '6' })
})
