import { afterEach, beforeEach, expect, test } from 'vitest'
import { type AdjustableClock, createAdjustableClock } from '../../support/clock.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { RECEIVER, type Transaction } from '../../support/service.ts'
import { until } from '../../support/until.ts'

/** Longer than the service waits until it broadcasts accepted bytes again, in ms. */
const REBROADCAST_MS = 31_000

let clock: AdjustableClock
let story: Scenario

beforeEach(async () => {
  clock = createAdjustableClock()
  story = await startScenario({ clock, network: { required_confirmations: 3 } })
  await story.mine(2)
})
afterEach(() => story.stop())

const rawOf = (hash: string | undefined) => story.anvil.rpc<string>('debug_getRawTransaction', [hash])

/**
 * The pool of anvil keeps a transaction among those that wait for an earlier nonce when that nonce comes with a reorganisation. It never
 * includes the transaction then, whatever becomes of the chain.
 */
async function keepQueued(body: object): Promise<Transaction> {
  const first = await story.send({ to: RECEIVER, value: 1 })
  const second = await story.send({ to: RECEIVER, value: 2, ...body })
  const [earlier, later] = [
    await story.reach(first.id, 'submitted'),
    await story.reach(second.id, 'submitted'),
  ]
  const [earlierRaw, laterRaw] = [await rawOf(earlier.hash), await rawOf(later.hash)]
  await story.anvil.rpc('anvil_dropAllTransactions')
  await story.anvil.rpc('eth_sendRawTransaction', [laterRaw])
  await story.anvil.rpc('anvil_reorg', [1, [[earlierRaw, 0]]])
  await story.reach(earlier.id, 'mined')
  expect(await story.anvil.rpc('txpool_status')).toEqual({ pending: '0x0', queued: '0x1' })
  return later
}

test('a transaction that the pool keeps queued is included at a higher fee, and the diagnosis tells why', async () => {
  const { id, hash } = await keepQueued({})
  await story.mine()
  clock.advance(REBROADCAST_MS)
  const { body } = await story.service.api<object>('GET', `/relayers/main/transactions/${id}/diagnosis`)
  expect(body.data).toMatchObject({ findings: [{ code: 'queued_in_pool' }] })
  const raised = await until(
    async () => {
      await story.mine()
      clock.advance(REBROADCAST_MS)
      return story.get(id)
    },
    (seen) => seen.hash !== hash,
  )
  expect(raised.attempts.map(({ kind }) => kind)).toEqual(['send', 'speed_up'])
  await story.settle()
  expect((await story.get(id)).attempts.map(({ outcome }) => outcome)).toEqual(['superseded', 'mined'])
})

test('a price of the caller stays, and the record says what helps', async () => {
  const { id, hash } = await keepQueued({ gas_price: 20_000_000_000 })
  const waiting = await until(
    async () => {
      await story.mine()
      clock.advance(REBROADCAST_MS)
      return story.get(id)
    },
    ({ status_reason }) => status_reason !== undefined,
  )
  expect(waiting.status_reason).toContain('replace it at a higher price')
  expect(waiting.hash).toBe(hash)
  const { status } = await story.replace(id, { to: RECEIVER, value: 3, speed: 'fastest' })
  expect(status).toBe(200)
  await story.settle()
  expect((await story.get(id)).status).toBe('confirmed')
})
