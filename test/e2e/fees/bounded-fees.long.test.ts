import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { type AdjustableClock, createAdjustableClock } from '../../support/clock.ts'
import {
  type FaultyNode,
  type Habits,
  passUntilBroadcast,
  startFaultyNode,
} from '../../support/faulty-node.ts'
import { type Scenario, scenarioOf } from '../../support/scenario.ts'
import { RECEIVER, startService, type Transaction } from '../../support/service.ts'
import { until } from '../../support/until.ts'

/** Longer than the speed `fast` waits before its fee is raised, in ms. */
const WAIT_MS = 181_000

const THREE_HOURS_MS = 10_800_000

const GWEI = 1_000_000_000n

let clock: AdjustableClock
let anvil: Anvil
let node: FaultyNode
let story: Scenario

beforeEach(async () => {
  clock = createAdjustableClock()
  anvil = await startAnvil({ args: ['--no-mining'] })
  node = await startFaultyNode(anvil.url)
  // The clock jumps while nodes are asked.
  const service = await startService({ rpcUrls: [node.url], clock, env: { RPC_TIMEOUT_MS: '600000' } })
  story = scenarioOf(anvil, service)
  await story.mine(2)
})
afterEach(async () => {
  await story.stop()
  await node.stop()
})

const broadcasts = (): number => node.calls.get('eth_sendRawTransaction') ?? 0

/** Lets at least so much time pass, and resolves when the service has worked for the account. */
const passes = (ms: number) => passUntilBroadcast({ clock, broadcasts }, ms)

/** The node says that it has everything, would include it next, and gives it to no one: blocks come without it. */
const KEEPS_ALL: Habits = {
  refuse: ({ method }) =>
    method === 'eth_sendRawTransaction' ? { code: -32000, message: 'already known' } : undefined,
  lie: ({ method, params }, reply) =>
    method === 'eth_getTransactionCount' && params?.[1] === 'pending'
      ? { ...reply, result: `0x${(Number(reply.result) + 1).toString(16)}` }
      : reply,
}

/** The node hands over what it got, and blocks include it. */
async function includesAll(): Promise<void> {
  node.habits = undefined
  await passes(WAIT_MS)
  await story.settle()
}

const tipOf = ({ max_priority_fee_per_gas: tip }: Transaction) => BigInt(tip ?? 0)

async function diagnosisOf(id: string) {
  const path = `/relayers/main/transactions/${id}/diagnosis`
  type Diagnosis = {
    findings: { code: string; message: string }[]
    next_action: { action: string; message: string }
  }
  return (await story.service.api<Diagnosis>('GET', path)).body.data
}

async function send(): Promise<Transaction> {
  const { id } = await story.send({ to: RECEIVER, value: 1 })
  return story.reach(id, 'submitted')
}

test('a chain that stands still for three hours raises no fee, says so, and the first block costs what it would have cost', async () => {
  const { id, hash } = await send()
  for (let waited = 0; waited < 20; waited += 1) await passes(THREE_HOURS_MS / 20)
  const waiting = await until(
    () => story.get(id),
    ({ status_reason }) => status_reason !== undefined,
  )
  expect(waiting).toMatchObject({ status: 'submitted', hash })
  expect(waiting.attempts).toHaveLength(1)
  expect(waiting.status_reason).toMatch(
    /^Waiting for inclusion; no new block since block 2 of \d{4}-.*Z, so its fee is not raised\.$/,
  )
  const { findings, next_action } = await diagnosisOf(id)
  expect(findings.map(({ code }) => code)).toEqual(['chain_halted', 'stuck'])
  expect(findings[0]?.message).toContain('The network has made no block for')
  expect(next_action).toEqual({
    action: 'watch',
    message: 'The service waits for the network to make blocks again, and raises no fee meanwhile.',
  })
  const { body } = await story.service.api<{ type: string }[]>('GET', `/events?transaction_id=${id}`)
  expect(body.data.filter(({ type }) => type === 'transaction_stuck')).toHaveLength(1)
  await story.settle()
  const confirmed = await story.get(id)
  expect(confirmed).toMatchObject({ status: 'confirmed', hash })
  expect(confirmed.status_reason).toBeUndefined()
  const receipt = await anvil.rpc<{ effectiveGasPrice: string }>('eth_getTransactionReceipt', [hash])
  expect(BigInt(receipt.effectiveGasPrice)).toBeLessThan(4n * GWEI)
}, 60_000)

test('each block that leaves a transaction out raises its fee once, however long it waits for the next', async () => {
  node.habits = KEEPS_ALL
  const { id } = await send()
  for (let blocks = 1; blocks <= 3; blocks += 1) {
    await story.mine()
    await passes(WAIT_MS)
    await until(
      () => story.get(id),
      ({ attempts, status }) => attempts.length === blocks + 1 && status === 'submitted',
    )
    for (let waited = 0; waited < 3; waited += 1) await passes(WAIT_MS)
    expect((await story.get(id)).attempts).toHaveLength(blocks + 1)
  }
  await includesAll()
  expect((await story.get(id)).status).toBe('confirmed')
})

describe('a transaction that blocks leave out again and again', () => {
  /** Raised until the limit does not allow more. */
  async function atLimit(): Promise<Transaction> {
    node.habits = KEEPS_ALL
    const { id } = await send()
    return until(
      async () => {
        await story.mine()
        await passes(WAIT_MS)
        return story.get(id)
      },
      ({ status_reason }) => status_reason?.includes('fee_limit_multiplier') === true,
    )
  }

  test('ends at five times the market, tells why, and is replaced by its caller', async () => {
    const waiting = await atLimit()
    const [first] = waiting.attempts
    // The base fee of anvil falls with each empty block, and the limit with it.
    expect(waiting.attempts.length).toBeGreaterThan(5)
    expect(BigInt(waiting.max_fee_per_gas ?? 0)).toBeLessThanOrEqual(5n * BigInt(first?.max_fee_per_gas ?? 0))
    expect(tipOf(waiting)).toBeLessThan(8n * GWEI)
    expect(waiting.status_reason).toContain('above 5 times the current market')
    for (let blocks = 0; blocks < 5; blocks += 1) {
      await story.mine()
      await passes(WAIT_MS)
    }
    const still = await story.get(waiting.id)
    expect(still.hash).toBe(waiting.hash)
    // The last pass was longer than a block may be late.
    await story.mine()
    const { findings, next_action } = await until(
      () => diagnosisOf(waiting.id),
      (seen) => seen.findings[0]?.code !== 'chain_halted',
    )
    expect(findings.map(({ code }) => code)).toContain('fee_at_limit')
    expect(next_action).toEqual({
      action: 'watch',
      message: 'Its fee is raised again when the market rises.',
    })
    const replaced = await story.replace(waiting.id, { to: RECEIVER, value: 2, speed: 'fast' })
    expect(replaced.status).toBe(200)
    expect(tipOf(replaced.body.data)).toBeGreaterThan(tipOf(waiting))
    await includesAll()
    expect(await story.get(waiting.id)).toMatchObject({ status: 'confirmed', value: '2' })
  })

  test('goes on by itself when the market rises', async () => {
    const waiting = await atLimit()
    await anvil.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${(20n * GWEI).toString(16)}`])
    await story.mine()
    await passes(WAIT_MS)
    const raised = await until(
      () => story.get(waiting.id),
      ({ hash, status }) => hash !== waiting.hash && status === 'submitted',
    )
    expect(raised.attempts.at(-1)?.kind).toBe('speed_up')
    await includesAll()
    expect((await story.get(waiting.id)).status).toBe('confirmed')
  })

  test('is canceled by its caller above the limit, and the no-op is included', async () => {
    const waiting = await atLimit()
    const { status } = await story.service.api('DELETE', `/relayers/main/transactions/${waiting.id}`)
    expect(status).toBe(200)
    const canceling = await story.get(waiting.id)
    expect(tipOf(canceling)).toBeGreaterThan(tipOf(waiting))
    await includesAll()
    expect((await story.get(waiting.id)).status).toBe('canceled')
  })
})
