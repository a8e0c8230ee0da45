import { describe, expect, test } from 'vitest'
import { createLineaQuote } from '../../../../src/chains/evm/prepare/rollups.ts'
import type { RpcReply } from '../../../../src/chains/rpc/rpc.ts'
import { FROM, requestOf, TO } from '../build.ts'

const QUOTE = { baseFeePerGas: '0x7', gasLimit: '0x5208', priorityFeePerGas: '0x64' }

function quoteOf(reply: RpcReply, chainId = 59_144) {
  const asked: unknown[] = []
  const client = {
    call: async (method: string, params: unknown) => {
      asked.push([method, params])
      return reply
    },
  }
  return { quote: createLineaQuote(client, chainId), asked }
}

describe('the price of a call on Linea', () => {
  test.each([59_144, 59_141])('comes from the node on chain %i, for exactly this call', async (chainId) => {
    const { quote, asked } = quoteOf({ kind: 'result', result: QUOTE }, chainId)
    expect(await quote?.(requestOf({ data: '0xff', gasLimit: 9n }), FROM)).toEqual({
      tip: 100n,
      ceiling: 107n,
      stated: true,
    })
    expect(asked).toEqual([['linea_estimateGas', [{ from: FROM, to: TO, value: '0x1', data: '0xff' }]]])
  })

  test.each<[string, RpcReply]>([
    ['has no such method', { kind: 'error', code: -32601, message: 'Method not found' }],
    ['does not answer', { kind: 'unknown', detail: 'time-out' }],
    ['answers nothing', { kind: 'result', result: null }],
    ['answers garbage', { kind: 'result', result: { priorityFeePerGas: 7 } }],
  ])('is left to the market where the node %s', async (_name, reply) => {
    const { quote } = quoteOf(reply)
    expect(await quote?.(requestOf(), FROM)).toBeUndefined()
  })

  test('is asked for on no other network', () => {
    expect(quoteOf({ kind: 'result', result: QUOTE }, 1).quote).toBeUndefined()
  })
})
