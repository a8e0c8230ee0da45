import { expect, onTestFinished, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { API_KEY } from '../../support/service.ts'
import { RECEIVER, startSolanaScenario, transfer } from '../../support/solana-scenario.ts'

/** A context slot that no node has reached: agave answers -32016, which other chains' providers use for a rate limit. */
const UNREACHABLE = [{ minContextSlot: 9_000_000_000_000_000 }]

test('errors that a caller provokes do not take the endpoint away from others', async () => {
  const story = await startSolanaScenario()
  onTestFinished(story.stop)
  const call = async (method: string, params: unknown[]) => {
    const response = await fetch(`${story.service.url}/api/v1/relayers/main/rpc`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    return (await response.json()) as Schemas['RpcReply']
  }
  for (let times = 0; times < 8; times += 1)
    expect(await call('getSlot', UNREACHABLE)).toMatchObject({ error: { code: -32016 } })
  expect(await call('getBalance', [RECEIVER])).toMatchObject({ result: { value: 1_000_000_000 } })
  const { id } = await story.send(transfer(10n))
  await story.tickUntil(id, 'confirmed')
})
