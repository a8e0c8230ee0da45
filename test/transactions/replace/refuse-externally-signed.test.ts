import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Expiry } from '../../../src/chains/capabilities.ts'
import type { EvmDraft, EvmRequest } from '../../../src/chains/evm/content.ts'
import { createReplacer } from '../../../src/transactions/replace/replace.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { watchNetwork } from '../../../src/transactions/watch/watch.ts'
import { createWatchMemory } from '../../../src/transactions/watch/watch-round.ts'
import { requestOf, TO } from '../../chains/evm/build.ts'
import { CANCELS } from '../../support/actor.ts'
import { type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain, headAt, include, type StubChain } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

/** A chain whose content expires, and which takes one transaction of an account at a time, as Stellar. */
function expiring(
  stub: StubChain,
  hasExpired: Expiry<EvmRequest, EvmDraft>['hasExpired'] = async () => false,
) {
  return {
    sequencing: {
      nonces: async (addresses: readonly string[]) => addresses.map(() => stub.nonce),
      maxInFlight: 1,
    },
    blockFinality: undefined,
    expiry: { hasExpired, reSignable: () => true },
  }
}

/** What somebody else has signed for nonce 5 of theirs; the first node has taken it without a word, the second asks for more. */
async function setUp({ endsAfterMs }: { endsAfterMs?: number } = {}) {
  const stub = createStubChain()
  const owner = await fixture.addAccount({ chain: chainOf(stub) })
  stub.nonce = { kind: 'ok', value: 5n }
  stub.override = expiring(stub)
  stub.answerBroadcast = () => ({ kind: 'unknown', detail: 'time-out' })
  const validUntil =
    endsAfterMs === undefined ? {} : { validUntil: new Date(fixture.clock.now() + endsAfterMs) }
  const request = requestOf(validUntil)
  const [stored] = await insert(
    fixture.context,
    newTransaction(owner, { request, sourceAccount: TO, nonce: 5n }),
  )
  if (!stored) throw new Error('nothing was stored')
  const step = async (afterMs: number) => {
    fixture.clock.advance(afterMs)
    await workAccount(fixture.context, owner.relayer.id)
  }
  const memory = createWatchMemory()
  const look = (height: bigint) => {
    stub.head = headAt(height)
    return watchNetwork(fixture.context, { runtime: owner.runtime, relayers: [owner.relayer], memory })
  }
  const now = async () => (await reload(fixture.context, stored)).transaction
  await step(1_000)
  stub.answerBroadcast = () => ({ kind: 'underpriced', detail: 'a fee of at least 400 is expected' })
  await step(1_000)
  expect(await now()).toMatchObject({ status: 'pending', nonce: 5n, sourceAccount: TO })
  const cancel = () => createReplacer(fixture.context).cancelTransaction(owner.relayer, stored.id, CANCELS)
  const [hash = ''] = stub.broadcasted
  return { stub, step, look, now, cancel, hash }
}

const USED = {
  kind: 'refused',
  refusal: { code: 'invalid_request', detail: 'Its sequence number 5 is used.' },
} as const

describe('externally signed content that one node refused', () => {
  test('may be what has used the nonce: the chain is asked before anything is final (I6)', async () => {
    const { stub, step, look, now, hash } = await setUp()
    stub.override = { ...expiring(stub), prepare: async () => USED }
    await step(10_000)
    expect(await now()).toMatchObject({ status: 'sent', nonce: 5n, sourceAccount: TO })
    include(stub, hash, { final: true })
    stub.nonce = { kind: 'ok', value: 6n }
    await look(101n)
    const { status, statusReason } = await now()
    expect([status, statusReason]).toEqual(['confirmed', undefined])
  })

  test('fails when the chain has proved that it is not included, and is not broadcast meanwhile', async () => {
    const { stub, step, look, now } = await setUp()
    stub.override = { ...expiring(stub, async () => true), prepare: async () => USED }
    await step(10_000)
    expect((await now()).status).toBe('sent')
    const { length } = stub.broadcasted
    await step(60_000)
    expect(stub.broadcasted).toHaveLength(length)
    await look(101n)
    expect(await now()).toMatchObject({ status: 'failed', cost: 0n })
  })

  test('its time passes by our clock: it is not over before the chain says so', async () => {
    const { stub, step, look, now } = await setUp({ endsAfterMs: 5_000 })
    await step(10_000)
    expect(await now()).toMatchObject({ status: 'sent', purpose: 'expire' })
    stub.override = expiring(stub, async () => true)
    await look(101n)
    expect(await now()).toMatchObject({ status: 'expired', cost: 0n })
  })

  test('can be canceled by its signer alone', async () => {
    const { now, cancel } = await setUp()
    await expect(cancel()).rejects.toMatchObject({ code: 'not_supported' })
    expect((await now()).status).toBe('pending')
  })
})

describe('an expired transaction', () => {
  test('ends only when the refused attempts have expired as well', async () => {
    const { stub, step, look, now } = await setUp()
    stub.answerBroadcast = () => ({ kind: 'accepted' })
    stub.override = {
      ...expiring(stub, async ({ fees }) => fees.kind === 'legacy'),
      prepare: async ({ value }) => ({
        kind: 'ok',
        value: {
          draft: {
            type: 'evm',
            value,
            data: '0x',
            gasLimit: 21_000n,
            fees: { kind: 'legacy', gasPrice: 400n },
          },
          logs: [],
        },
      }),
    }
    await step(10_000)
    expect((await now()).status).toBe('submitted')
    await look(101n)
    expect((await now()).status).toBe('submitted')
    stub.override = expiring(stub, async () => true)
    await look(102n)
    expect((await now()).status).toBe('expired')
  })
})
