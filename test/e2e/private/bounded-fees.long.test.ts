import { afterEach, expect, test } from 'vitest'
import { passUntilBroadcast } from '../../support/faulty-node.ts'
import { RECEIVER } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { type PrivateScenario, startPrivateScenario } from './scenario.ts'

/** Longer than the speed `fast` waits before its fee is raised, in ms. */
const WAIT_MS = 181_000

const FIVE_HOURS_MS = 18_000_000

const GWEI = 1_000_000_000n

let story: PrivateScenario

afterEach(() => story.stop())

/** Lets at least so much time pass, and resolves when the private endpoint has got the bytes once more. */
const passes = (ms: number) =>
  passUntilBroadcast({ clock: story.clock, broadcasts: () => story.endpoint.raws.length }, ms)

test('three hundred blocks of builders who leave a private transaction out raise no fee above the market', async () => {
  story = await startPrivateScenario()
  // The base fee falls to nearly nothing, so only the tip counts.
  await story.anvil.rpc('anvil_setNextBlockBaseFeePerGas', ['0x7'])
  const { id } = await story.send({ to: RECEIVER, value: 1 })
  const { hash } = await story.reach(id, 'submitted')
  for (let rounds = 0; rounds < 15; rounds += 1) {
    await story.anvil.rpc('anvil_mine', ['0x14'])
    await passes(FIVE_HOURS_MS / 15)
  }
  const waiting = await until(
    () => story.get(id),
    ({ status_reason }) => status_reason !== undefined,
  )
  expect(waiting.status_reason).toContain('only private endpoints have it')
  expect(waiting.attempts).toHaveLength(1)
  const path = `/relayers/main/transactions/${id}/diagnosis`
  const { body } = await story.service.api<{
    findings: { code: string; message: string }[]
    next_action: object
  }>('GET', path)
  expect(body.data.findings.find(({ code }) => code === 'kept_private')?.message).toContain(
    'its fee is not raised',
  )
  expect(body.data.next_action).toMatchObject({ action: 'watch' })
  await story.endpoint.include(story.anvil)
  await story.mine(2)
  expect(await story.reach(id, 'confirmed')).toMatchObject({ hash })
  const receipt = await story.anvil.rpc<{ effectiveGasPrice: string }>('eth_getTransactionReceipt', [hash])
  expect(BigInt(receipt.effectiveGasPrice)).toBeLessThan(3n * GWEI)
}, 60_000)

test('a private transaction below the base fee is raised to the market, once', async () => {
  story = await startPrivateScenario()
  const { id } = await story.send({ to: RECEIVER, value: 1 })
  const { hash } = await story.reach(id, 'submitted')
  await story.anvil.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${(20n * GWEI).toString(16)}`])
  await story.mine()
  await passes(WAIT_MS)
  const raised = await until(
    () => story.get(id),
    (seen) => seen.hash !== hash && seen.status === 'submitted',
  )
  expect(BigInt(raised.max_fee_per_gas ?? 0)).toBeGreaterThan(50n * GWEI)
  for (let rounds = 0; rounds < 5; rounds += 1) {
    await story.mine()
    await passes(WAIT_MS)
  }
  expect((await story.get(id)).attempts).toHaveLength(2)
})

test('a private transaction that became public is raised by the rules of all others', async () => {
  story = await startPrivateScenario({ policies: { private_fallback_blocks: 1 } })
  const { id } = await story.send({ to: RECEIVER, value: 1 })
  const { hash } = await story.reach(id, 'submitted')
  await story.mine()
  await until(
    () => story.publicCount(),
    (count) => count === 1,
  )
  await story.anvil.rpc('anvil_dropAllTransactions')
  await story.mine()
  await passes(WAIT_MS)
  const raised = await until(
    () => story.get(id),
    (seen) => seen.hash !== hash,
  )
  expect(raised.attempts.map(({ kind }) => kind)).toEqual(['send', 'speed_up'])
})
