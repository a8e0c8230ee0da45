import { type Hex, parseTransaction } from 'viem'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { type AdjustableClock, createAdjustableClock } from '../../support/clock.ts'
import { type FaultyNode, type Habits, startFaultyNode } from '../../support/faulty-node.ts'
import { parseMetrics, totalOf } from '../../support/metrics-text.ts'
import { type Scenario, scenarioOf } from '../../support/scenario.ts'
import { RECEIVER, startService, type Transaction } from '../../support/service.ts'
import { until } from '../../support/until.ts'

let anvil: Anvil
let node: FaultyNode
let clock: AdjustableClock
let story: Scenario

beforeEach(async () => {
  clock = createAdjustableClock()
  anvil = await startAnvil({ args: ['--no-mining'] })
  node = await startFaultyNode(anvil.url)
  const service = await startService({
    rpcUrls: [node.url],
    clock,
    env: { METRICS_ENABLED: 'true', METRICS_PORT: '0' },
  })
  story = scenarioOf(anvil, service)
})
afterEach(async () => {
  await story.stop()
  await node.stop()
})

type Sent = ReturnType<typeof parseTransaction>

/** Refuses bytes in the words of the node that the test plays. */
const refusing =
  (words: (sent: Sent) => string | undefined, code = -32000): NonNullable<Habits['refuse']> =>
  ({ method, params }) => {
    if (method !== 'eth_sendRawTransaction') return undefined
    const message = words(parseTransaction(params?.[0] as Hex))
    return message === undefined ? undefined : { code, message }
  }

/** The content of the requests here; a no-op moves nothing. */
const isContent = ({ value = 0n }: Sent) => value === 1n

/**
 * The seconds of the service's time in which a refusal ends, and those in which an answer to it is signed. It takes 210 and 10; its time goes
 * on while the service works, which on a busy machine is several times as much.
 */
const MINUTES = 720
const AT_ONCE = 120

/** Moves the service's time by a second a time, with a block every two, until the transaction is as wanted; gives the seconds. */
async function passUntil(
  id: string,
  wanted: (seen: Transaction) => boolean,
  atMostSeconds = 900,
): Promise<{ seen: Transaction; seconds: number }> {
  let seconds = 0
  const seen = await until(
    async () => {
      clock.advance(1_000)
      seconds += 1
      if (seconds % 2 === 0) await story.mine()
      return story.get(id)
    },
    (now) => wanted(now) || seconds >= atMostSeconds,
    { timeoutMs: 240_000 },
  )
  if (!wanted(seen)) throw new Error(`after ${seconds} s it is ${seen.status}: ${seen.status_reason}`)
  return { seen, seconds }
}

const isFinal = ({ status }: Transaction) => ['confirmed', 'failed', 'canceled', 'expired'].includes(status)

/** A transaction and another one behind it. */
async function sendTwo(body: object = {}): Promise<readonly [string, string]> {
  const first = await story.send({ to: RECEIVER, value: 1, ...body })
  const second = await story.send({ to: RECEIVER, value: 2 })
  return [first.id, second.id]
}

describe('a node that refuses content permanently', () => {
  test.each([
    ['Linea, gas limit', 'Gas limit of transaction is greater than the allowed max of 20000'],
    ['Linea, calldata', 'Calldata of transaction is greater than the allowed max of 30000'],
    ['Linea, lines', 'Transaction line count for module ROM=2369 is above the limit 2300'],
    ['nobody yet', 'foo bar'],
    ['an endpoint that simulates', 'execution reverted: not today'],
    ['zkSync', 'failed to validate the transaction. reason: Validation revert: x'],
  ])(
    'ends it with the sentence within minutes, and the next payment is confirmed: %s',
    async (_client, words) => {
      node.habits = { refuse: refusing((sent) => (isContent(sent) ? words : undefined)) }
      const [first, second] = await sendTwo()
      const { seen, seconds } = await passUntil(first, isFinal)
      expect(seen).toMatchObject({ status: 'failed', status_reason: expect.stringContaining(words) })
      expect(seconds).toBeLessThanOrEqual(MINUTES)
      const next = await passUntil(second, isFinal)
      expect(next.seen.status).toBe('confirmed')
    },
    // 210 steps of its time, each with a look at the service, and a block in every second one.
    300_000,
  )
})

describe('a node whose refusal names what it wants', () => {
  test('gets the gas that Avalanche demands for the size', async () => {
    node.habits = {
      refuse: refusing(({ gas = 0n }) =>
        gas < 90_000n
          ? 'insufficient gas limit for tx size: tx size 110 bytes must specify gas limit at least 90000 when the block gas limit is 16000000'
          : undefined,
      ),
    }
    const [first] = await sendTwo()
    const { seen } = await passUntil(first, isFinal)
    expect(seen.status).toBe('confirmed')
    const sent = await anvil.rpc<{ gas: string }>('eth_getTransactionByHash', [seen.hash])
    expect(Number(sent.gas)).toBe(90_000)
  })

  test('gets no more gas than its cap, where only the margin of an estimate was above it', async () => {
    node.habits = {
      refuse: refusing(({ gas = 0n }) =>
        gas > 22_000n ? `transaction gas limit too high (cap: 22000, tx: ${gas})` : undefined,
      ),
    }
    const [first, second] = await sendTwo()
    const { seen } = await passUntil(first, isFinal)
    expect(seen.status).toBe('confirmed')
    expect((await passUntil(second, isFinal)).seen.status).toBe('confirmed')
    // The cap is known by now, so that nothing is refused any more.
    const calls = node.calls.get('eth_sendRawTransaction') ?? 0
    const third = await story.send({ to: RECEIVER, value: 3 })
    expect((await passUntil(third.id, isFinal)).seen.status).toBe('confirmed')
    expect((node.calls.get('eth_sendRawTransaction') ?? 0) - calls).toBe(1)
  })

  test('gets the tip that Reth demands', async () => {
    const least = 20_000_000_000n
    node.habits = {
      refuse: refusing(({ maxPriorityFeePerGas: tip = 0n }) =>
        tip < least ? `transaction priority fee below minimum required priority fee ${least}` : undefined,
      ),
    }
    const [first] = await sendTwo()
    const { seen, seconds } = await passUntil(first, isFinal)
    expect(seen.status).toBe('confirmed')
    expect(seconds).toBeLessThanOrEqual(AT_ONCE)
  })
})

const FUNDS = 'insufficient funds for gas + value. balance: 1, fee: 2, value: 1'

describe('zkSync, where every error has the code of a revert', () => {
  test('lets a signed transaction wait for money, and confirms it later', async () => {
    node.habits = { refuse: refusing((sent) => (sent.value === 5n ? FUNDS : undefined), 3) }
    const { id } = await story.send({ to: RECEIVER, value: 5 })
    await story.reach(id, 'sent')
    for (let minutes = 0; minutes < 20; minutes += 0.5) {
      clock.advance(30_000)
      await story.mine()
      expect(await story.get(id)).toMatchObject({ status: 'sent' })
    }
    node.habits = {}
    expect((await passUntil(id, isFinal)).seen.status).toBe('confirmed')
  })

  test('lets an unsigned transaction wait for money, and confirms it later', async () => {
    // Accepted while no node answers, so that it is estimated when it is to be signed.
    node.fault = () => 'http_500'
    const { id } = await story.send({ to: RECEIVER, value: 5 })
    node.habits = {
      refuse: ({ method }) => (method === 'eth_estimateGas' ? { code: 3, message: FUNDS } : undefined),
    }
    node.fault = () => 'pass'
    await passUntil(id, ({ status_reason }) => /^Waiting for funds/.test(status_reason ?? ''))
    for (let blocks = 0; blocks < 40; blocks += 1) {
      clock.advance(3_000)
      await story.mine()
      expect(await story.get(id)).toMatchObject({ status: 'pending' })
    }
    node.habits = {}
    expect((await passUntil(id, isFinal)).seen.status).toBe('confirmed')
  })

  test('gets a higher price, takes bytes that it knows, and ends what no block can hold', async () => {
    let answers = ['max fee per gas less than block base fee', 'max fee per gas less than block base fee']
    node.habits = { refuse: refusing(() => answers.pop(), 3) }
    const priced = await story.send({ to: RECEIVER, value: 1 })
    const { seen, seconds } = await passUntil(priced.id, isFinal)
    expect(seen).toMatchObject({ status: 'confirmed' })
    expect(seen.attempts.length).toBeGreaterThan(1)
    expect(seconds).toBeLessThanOrEqual(AT_ONCE)
    // The node has the bytes, and says so in its words.
    const known = `known transaction. transaction with hash 0x${'ab'.repeat(32)} is already in the system`
    node.habits = {
      lie: ({ method }, { result: _, ...reply }) =>
        method === 'eth_sendRawTransaction'
          ? { ...reply, error: { code: 3, message: known } }
          : { result: _, ...reply },
    }
    const taken = await story.send({ to: RECEIVER, value: 1 })
    await story.reach(taken.id, 'submitted')
    answers = []
    node.habits = {
      refuse: refusing((sent) => (sent.value === 4n ? 'exceeds block gas limit' : undefined), 3),
    }
    const large = await story.send({ to: RECEIVER, value: 4 })
    const ended = await passUntil(large.id, isFinal)
    expect(ended.seen).toMatchObject({
      status: 'failed',
      status_reason: expect.stringContaining('exceeds block gas limit'),
    })
  })

  test('undoes a replacement that it refuses, immediately', async () => {
    const first = await story.send({ to: RECEIVER, value: 1 })
    await story.reach(first.id, 'submitted')
    node.habits = { refuse: refusing(() => 'replacement transaction underpriced', 3) }
    const answer = await story.replace(first.id, { to: RECEIVER, value: 2 })
    expect(answer).toMatchObject({ status: 400, body: { code: 'replacement_underpriced' } })
    expect(await story.get(first.id)).toMatchObject({ status: 'submitted', value: '1' })
  })
})

test('a node that refuses everything in unknown words ends nothing: record, diagnosis, event and metric tell it', async () => {
  node.habits = { refuse: refusing(() => 'foo bar') }
  const [first, second] = await sendTwo()
  const { seen, seconds } = await passUntil(first, ({ status_reason = '' }) =>
    /refuse everything/.test(status_reason ?? ''),
  )
  expect(seen).toMatchObject({ status: 'sent', status_reason: expect.stringContaining('foo bar') })
  expect(seconds).toBeLessThanOrEqual(MINUTES)
  const diagnosis = await story.service.api<object>('GET', `/relayers/main/transactions/${first}/diagnosis`)
  expect(diagnosis.body.data).toMatchObject({
    findings: [
      { code: 'not_taken', message: expect.stringContaining('refuse everything') },
      { code: 'stuck' },
    ],
  })
  const events = await story.service.api<{ type: string }[]>(
    'GET',
    `/events?transaction_id=${first}&type=transaction_stuck`,
  )
  expect(events.body.data).toHaveLength(1)
  const metrics = parseMetrics(await (await fetch(story.service.metricsUrl ?? '')).text())
  expect(
    totalOf(metrics, 'unknown_node_texts_total', { network: 'anvil', call: 'broadcast' }),
  ).toBeGreaterThan(10)
  expect(JSON.stringify(metrics)).not.toContain('foo bar')
  for (let minutes = 0; minutes < 30; minutes += 0.5) clock.advance(30_000)
  expect(await story.get(first)).toMatchObject({ status: 'sent' })
  node.habits = {}
  expect((await passUntil(first, isFinal)).seen.status).toBe('confirmed')
  expect((await passUntil(second, isFinal)).seen.status).toBe('confirmed')
})

test('an unknown text at an estimate is compared with a call of nothing, and a revert in a wrapped error is told', async () => {
  node.habits = {
    refuse: ({ method, params }) =>
      method === 'eth_estimateGas' && JSON.stringify(params).includes('0xff')
        ? { code: -32000, message: 'foo bar' }
        : undefined,
  }
  const strange = await story.post({ to: RECEIVER, value: 0, data: '0xff' })
  expect(strange).toMatchObject({
    status: 400,
    body: { code: 'execution_reverted', error: expect.stringContaining('foo bar') },
  })
  const data = { originalError: { code: 3, message: 'execution reverted: not yours' } }
  node.habits = {
    lie: (call, reply) => {
      if (call.method !== 'eth_estimateGas') return reply
      return { id: call.id, error: { code: -32603, message: 'Internal JSON-RPC error.', data } as never }
    },
  }
  const wrapped = await story.post({ to: RECEIVER, value: 0, data: '0xff' })
  expect(wrapped).toMatchObject({
    status: 400,
    body: { code: 'execution_reverted', error: expect.stringContaining('not yours') },
  })
})
