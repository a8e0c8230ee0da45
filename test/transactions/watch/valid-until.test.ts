import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { InclusionProof } from '../../../src/chains/answer.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { watchNetwork } from '../../../src/transactions/watch/watch.ts'
import { createWatchMemory } from '../../../src/transactions/watch/watch-round.ts'
import { requestOf } from '../../chains/evm/build.ts'
import { type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

interface Situation {
  /** `valid_until`, in ms after the signature; absent for none. */
  readonly endsAfterMs?: number
  /** The clock of the service and of the chain, in ms after the signature. */
  readonly nowMs: number
  readonly chainMs?: number
  readonly proof?: InclusionProof
}

/** A transaction on a chain where signed bytes expire; they have expired, and the endpoints gave this proof. */
async function afterExpiry({ endsAfterMs, nowMs, chainMs, proof = { kind: 'absent' } }: Situation) {
  const stub = createStubChain()
  const owner = await fixture.addAccount({ chain: chainOf(stub) })
  const { sign } = chainOf(createStubChain())
  const signedAt = fixture.clock.now()
  const validUntil = endsAfterMs === undefined ? {} : { validUntil: new Date(signedAt + endsAfterMs) }
  stub.override = {
    sequencing: undefined,
    blockFinality: undefined,
    expiry: { hasExpired: async () => true, reSignable: () => true },
    sign: (draft, signingContext) => sign(draft, { ...signingContext, nonce: 0n }),
    proveInclusion: async () => proof,
  }
  const [stored] = await insert(fixture.context, newTransaction(owner, { request: requestOf(validUntil) }))
  if (!stored) throw new Error('nothing was stored')
  await workAccount(fixture.context, owner.relayer.id)
  fixture.clock.advance(nowMs)
  const time = chainMs === undefined ? {} : { time: new Date(signedAt + chainMs) }
  stub.head = { kind: 'ok', value: { number: 101n, hash: '0xhead101', ...time } }
  const memory = createWatchMemory()
  await watchNetwork(fixture.context, { runtime: owner.runtime, relayers: [owner.relayer], memory })
  return { ...(await reload(fixture.context, stored)), memory }
}

describe('what has expired', () => {
  test.each([
    { name: 'valid_until has passed', endsAfterMs: 1_000, nowMs: 2_000, want: 'expired' },
    { name: 'valid_until is this moment', endsAfterMs: 1_000, nowMs: 1_000, want: 'expired' },
    { name: 'valid_until is ahead', endsAfterMs: 1_000, nowMs: 999, want: 'pending' },
    { name: 'there is no valid_until', nowMs: 2_000, want: 'pending' },
    {
      name: 'the chain is past valid_until and the clock is not',
      endsAfterMs: 1_000,
      nowMs: 500,
      chainMs: 1_000,
      want: 'expired',
    },
    {
      name: 'the clock is past valid_until and the chain is not',
      endsAfterMs: 1_000,
      nowMs: 1_500,
      chainMs: 500,
      want: 'expired',
    },
    { name: 'both are before valid_until', endsAfterMs: 1_000, nowMs: 500, chainMs: 999, want: 'pending' },
  ])('is $want when $name', async ({ want, ...situation }) => {
    const { transaction, memory } = await afterExpiry(situation)
    expect(transaction.status).toBe(want)
    expect(memory.settledAt).toBe('0xhead101')
  })

  test('stays as it is without a proof, and the next round asks again', async () => {
    const proof = { kind: 'unknown', detail: 'nobody answers' } as const
    const { transaction, memory } = await afterExpiry({ nowMs: 1_000, proof })
    expect(transaction).toMatchObject({ status: 'submitted', undecidedSince: undefined })
    expect(memory.settledAt).toBeUndefined()
  })

  test('is told to the operator when no endpoint can prove it any more', async () => {
    const proof = { kind: 'unknown', detail: 'The history is gone.', unprovable: true } as const
    const { transaction } = await afterExpiry({ nowMs: 1_000, proof })
    expect(transaction.status).toBe('submitted')
    expect(transaction.undecidedSince).toBeInstanceOf(Date)
  })
})
