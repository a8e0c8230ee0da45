import { describe, expect, test } from 'vitest'
import { createInFlightLimits } from '../../../src/chains/evm/authorization.ts'
import { chooseNoopTarget } from '../../../src/chains/evm/prepare/gas.ts'
import type { RpcClient, RpcReply } from '../../../src/chains/rpc/rpc.ts'
import { createTestClock } from '../../support/clock.ts'
import { FROM, requestOf } from './build.ts'

const DELEGATED = `0xef0100${'ab'.repeat(20)}`

function nodeWith(code: { value: RpcReply }) {
  const asked: unknown[] = []
  const client: RpcClient = {
    send: async () => [],
    call: async (...call) => {
      asked.push(call)
      return code.value
    },
  }
  return { client, asked }
}

const result = (value: unknown): RpcReply => ({ kind: 'result', result: value })
const SILENT: RpcReply = { kind: 'unknown', detail: 'time-out' }

describe('a no-op', () => {
  const noop = requestOf({ to: FROM, value: 0n, isNoop: true })

  test.each([
    { name: 'of an account without code goes to itself', code: result('0x'), to: FROM },
    { name: 'of a delegated account runs no code', code: result(DELEGATED), to: `0x${'0'.repeat(40)}` },
  ])('$name', async ({ code, to }) => {
    expect(await chooseNoopTarget(nodeWith({ value: code }).client, noop, {})).toEqual({
      kind: 'ok',
      value: { ...noop, to },
    })
  })

  test.each([SILENT, result(null)])('waits while nobody tells of code', async (code) => {
    expect((await chooseNoopTarget(nodeWith({ value: code }).client, noop, {})).kind).toBe('unknown')
  })

  test('of a private relayer is no command to cancel for a relay', async () => {
    const { client, asked } = nodeWith({ value: result('0x') })
    const answer = await chooseNoopTarget(client, noop, { privateTransactions: true })
    expect([answer, asked]).toEqual([{ kind: 'ok', value: { ...noop, to: `0x${'0'.repeat(40)}` } }, []])
  })

  test('a transfer of the caller to itself stays what it is', async () => {
    const { client, asked } = nodeWith({ value: result(DELEGATED) })
    const own = requestOf({ to: FROM, value: 0n })
    expect(await chooseNoopTarget(client, own, { privateTransactions: true })).toEqual({
      kind: 'ok',
      value: own,
    })
    expect(asked).toEqual([])
  })
})

describe('the transactions in flight', () => {
  test.each([
    { name: 'without code', code: result('0x'), limit: undefined },
    { name: 'with a contract', code: result('0x6001'), limit: undefined },
    { name: 'delegated', code: result(DELEGATED), limit: 1 },
    { name: 'of which nobody tells', code: SILENT, limit: undefined },
  ])('of an account $name: $limit', async ({ code, limit }) => {
    expect(await createInFlightLimits(nodeWith({ value: code }).client, createTestClock())(FROM)).toBe(limit)
  })

  test('are asked for once a minute, and silence changes nothing', async () => {
    const clock = createTestClock()
    const code = { value: result(DELEGATED) }
    const { client, asked } = nodeWith(code)
    const limitOf = createInFlightLimits(client, clock)
    await limitOf(FROM)
    clock.advance(59_999)
    expect([await limitOf(FROM), asked.length]).toEqual([1, 1])
    code.value = SILENT
    clock.advance(1)
    expect([await limitOf(FROM), asked.length]).toEqual([1, 2])
    code.value = result('0x')
    expect(await limitOf(FROM)).toBeUndefined()
  })
})
