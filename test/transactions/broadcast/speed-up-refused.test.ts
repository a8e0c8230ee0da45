import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../../../src/chains/answer.ts'
import type { EvmRequest } from '../../../src/chains/evm/content.ts'
import type { EvmAttempt, EvmPrepared } from '../../../src/chains/evm/types.ts'
import { createReplacer } from '../../../src/transactions/replace/replace.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { requestOf } from '../../chains/evm/build.ts'
import { ACTOR, CANCELS } from '../../support/actor.ts'
import { type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

/** Each attempt pays more than all before it. */
async function dearer(
  { to, value, data = '0x' }: EvmRequest,
  attempts: readonly EvmAttempt[],
): Promise<Answer<EvmPrepared>> {
  const fees = { kind: 'legacy', gasPrice: 1_000n * BigInt(attempts.length + 1) } as const
  const content = { type: 'evm', value, data, gasLimit: 21_000n, fees } as const
  return { kind: 'ok', value: { draft: to === undefined ? content : { to, ...content }, logs: [] } }
}

/** A transfer of 7 wei that a node has taken. */
async function setUp() {
  const stub = createStubChain()
  const owner = await fixture.addAccount({ chain: chainOf(stub) })
  stub.override = {
    replace: dearer,
    feeBump: {
      speedUp: async (attempts) => {
        const last = attempts.at(-1)
        return last ? dearer(last.draft, attempts) : { kind: 'unknown', detail: 'nothing to raise' }
      },
    },
  }
  const transaction = newTransaction(owner, { request: requestOf({ speed: 'fast', value: 7n }) })
  await insert(fixture.context, transaction)
  const step = async (afterMs: number) => {
    fixture.clock.advance(afterMs)
    await workAccount(fixture.context, owner.relayer.id)
  }
  await step(1_000)
  const now = () => reload(fixture.context, transaction)
  const kinds = async () => (await now()).attempts.map(({ kind, outcome }) => `${kind} ${outcome}`)
  const replacer = createReplacer(fixture.context)
  const change = {
    replace: () =>
      replacer.replaceTransaction(owner.relayer, transaction.id, {
        request: requestOf({ value: 8n }),
        actor: ACTOR,
      }),
    cancel: () => replacer.cancelTransaction(owner.relayer, transaction.id, CANCELS),
  }
  return { stub, step, now, kinds, change }
}

const REFUSED = { kind: 'refused', detail: 'exceeds the configured cap' } as const
const MINUTE = 60_000

describe('after a change that a node refused', () => {
  test.each(['replace', 'cancel'] as const)('(%s) the content that still counts is raised', async (kind) => {
    const { stub, step, now, kinds, change } = await setUp()
    stub.answerBroadcast = () => REFUSED
    await expect(change[kind]()).rejects.toMatchObject({ code: 'replacement_underpriced' })
    stub.answerBroadcast = () => ({ kind: 'accepted' })
    await step(10 * MINUTE)
    expect(await kinds()).toEqual(['send broadcast', `${kind} refused`, 'speed_up broadcast'])
    expect((await now()).attempts.at(-1)?.draft).toMatchObject({ value: 7n })
  })

  test('that stays, because the caller got no answer, the change is made again', async () => {
    const { stub, step, now, kinds, change } = await setUp()
    stub.answerBroadcast = () => ({ kind: 'unknown', detail: 'time-out' })
    await change.cancel()
    stub.answerBroadcast = () => REFUSED
    await step(1_000)
    expect((await now()).transaction).toMatchObject({ purpose: 'cancel', currentAttempt: 1 })
    stub.answerBroadcast = () => ({ kind: 'accepted' })
    await step(10 * MINUTE)
    expect(await kinds()).toEqual(['send broadcast', 'cancel refused', 'cancel broadcast'])
    expect((await now()).attempts.at(-1)?.draft).toMatchObject({ value: 0n })
    await step(10 * MINUTE)
    expect((await now()).attempts.at(-1)).toMatchObject({ kind: 'speed_up', draft: { value: 0n } })
  })
})
