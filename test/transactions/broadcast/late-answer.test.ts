import { afterAll, beforeAll, expect, test } from 'vitest'
import type { BroadcastResult } from '../../../src/chains/answer.ts'
import { createReplacer } from '../../../src/transactions/replace/replace.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { CANCELS } from '../../support/actor.ts'
import { type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

/** A cancellation whose bytes the worker offers as well, while the caller's own offer is under way. */
async function setUp() {
  const stub = createStubChain()
  const owner = await fixture.addAccount({ chain: chainOf(stub) })
  const [stored] = await insert(fixture.context, newTransaction(owner))
  if (!stored) throw new Error('nothing was stored')
  fixture.clock.advance(1_000)
  await workAccount(fixture.context, owner.relayer.id)
  const fees = { kind: 'legacy', gasPrice: 1_000n } as const
  const draft = { type: 'evm', value: 0n, data: '0x', gasLimit: 21_000n, fees } as const
  const worker = Promise.withResolvers<BroadcastResult>()
  const asked = Promise.withResolvers<void>()
  let step = Promise.resolve()
  stub.override = {
    replace: async () => ({ kind: 'ok', value: { draft, logs: [] } }),
    broadcast: async () => {
      stub.override = {
        broadcast: async () => {
          asked.resolve()
          return [await worker.promise]
        },
      }
      fixture.clock.advance(1_000)
      step = workAccount(fixture.context, owner.relayer.id)
      await asked.promise
      return [{ kind: 'refused', detail: 'exceeds the configured cap' }]
    },
  }
  const cancel = createReplacer(fixture.context).cancelTransaction(owner.relayer, stored.id, CANCELS)
  await expect(cancel).rejects.toMatchObject({ code: 'replacement_underpriced' })
  return {
    /** What the worker hears after the caller was told. */
    late: async (result: BroadcastResult) => {
      worker.resolve(result)
      await step
      const { attempts } = await reload(fixture.context, stored)
      return attempts.map(({ outcome, error }) => [outcome, error])
    },
  }
}

test('a late answer that decides nothing does not restore a change that was undone meanwhile', async () => {
  const { late } = await setUp()
  expect(await late({ kind: 'unknown', detail: 'time-out' })).toEqual([
    ['broadcast', undefined],
    ['refused', 'exceeds the configured cap'],
  ])
})

test('a node that has accepted it all the same is believed', async () => {
  const { late } = await setUp()
  expect(await late({ kind: 'accepted' })).toEqual([
    ['broadcast', undefined],
    ['broadcast', undefined],
  ])
})
