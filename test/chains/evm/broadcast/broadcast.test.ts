import { describe, expect, test } from 'vitest'
import { broadcastAll } from '../../../../src/chains/evm/broadcast/broadcast.ts'
import { createRefusalMemory } from '../../../../src/chains/evm/broadcast/second-opinion.ts'
import { createGasLimits, createPriceBounds } from '../../../../src/chains/evm/prepare/node-limits.ts'
import type { PooledClient, RpcReply } from '../../../../src/chains/rpc/rpc.ts'
import { systemClock } from '../../../../src/lib/time.ts'

const RESTS: RpcReply = { kind: 'unknown', detail: 'the endpoint rests after failures and was not asked' }
const FAILS: RpcReply = { kind: 'error', code: -32000, message: 'internal error' }
const TAKES: RpcReply = { kind: 'result', result: '0x1' }
const HEIGHT: RpcReply = { kind: 'result', result: '0x64' }

/** Broadcasts bytes to an endpoint that answers `first`, and asks all endpoints then. */
async function broadcast(first: RpcReply, all: readonly RpcReply[]) {
  const client: Pick<PooledClient, 'broadcast' | 'sendEverywhere' | 'states'> = {
    broadcast: () => Promise.resolve([{ reply: first, behind: false }]),
    sendEverywhere: () =>
      Promise.resolve(
        all.map((reply) => [
          { reply: reply === RESTS ? RESTS : HEIGHT, behind: reply === RESTS },
          { reply, behind: reply === RESTS },
        ]),
      ),
    states: () => [],
  }
  const context = {
    client: client as PooledClient,
    clock: systemClock,
    bounds: createPriceBounds(systemClock),
    gasLimits: createGasLimits(systemClock),
    refusals: createRefusalMemory(),
    unknownTexts: { saw: () => undefined },
  }
  return (await broadcastAll(context, [Uint8Array.of(1)]))[0]
}

describe('a refusal that looks like a failure of the endpoint, which rests then', () => {
  test('remains the answer of the only endpoint, so that the content is compared one day', async () => {
    expect(await broadcast(FAILS, [RESTS])).toEqual({ kind: 'unclear', detail: 'internal error' })
  })

  test('remains in doubt when the other endpoint is silent, because it may have the bytes', async () => {
    expect(await broadcast(FAILS, [RESTS, RESTS])).toMatchObject({ kind: 'unclear', unanswered: true })
  })

  test('counts for nothing when another endpoint takes the bytes', async () => {
    expect(await broadcast(FAILS, [RESTS, TAKES])).toMatchObject({ kind: 'accepted' })
  })
})
