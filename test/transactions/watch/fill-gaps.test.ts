import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { fillGaps } from '../../../src/transactions/watch/fill-gaps.ts'
import { TO } from '../../chains/evm/build.ts'
import { type Fixture, insert, newTransaction, openFixture } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

/** So that what its account sends is counted. */
const LIMITED = { rules: { limits: [{ per: 'day', asset: 'native', count: 1_000 }] } } as const

/** Fills the gap below the submitted transactions of an account with these nonces; the chain waits for `next`. */
async function fill(nonces: readonly bigint[], next: bigint | undefined, used: Partial<Transaction>[] = []) {
  const owner = await fixture.addAccount({ chain: chainOf(createStubChain()), policies: LIMITED })
  const unmined = await insert(
    fixture.context,
    ...nonces.map((nonce) => newTransaction(owner, { nonce, status: 'submitted' })),
    ...used.map((change) => newTransaction(owner, change)),
  )
  const created: Transaction[] = []
  const observer = {
    created: (some: readonly Transaction[]) => void created.push(...some),
    submitted() {},
    finished() {},
    paid() {},
  }
  const search = {
    unmined: unmined.slice(0, nonces.length),
    nonces: new Map(next === undefined ? [] : [[owner.relayer.address, next]]),
  }
  await fillGaps({ ...fixture.context, observer }, search)
  const lines = fixture.logLines.filter((line) => line.relayer === owner.relayer.id)
  return { owner, search, created, lines }
}

test('each nonce that the chain waits for and no transaction has gets a filler', async () => {
  const { owner, search, created, lines } = await fill([5n, 6n], 1n, [
    { nonce: 2n, status: 'failed' },
    { nonce: 3n, sourceAccount: TO },
  ])
  expect(created.map(({ nonce }) => nonce)).toEqual([1n, 3n, 4n])
  const now = new Date(fixture.clock.now())
  expect(created[0]).toMatchObject({
    relayerId: owner.relayer.id,
    network: owner.relayer.network,
    from: owner.relayer.address,
    sourceAccount: owner.relayer.address,
    status: 'pending',
    statusReason: 'Filler: fills the gap at nonce 1, which no transaction had.',
    purpose: 'gap_filler',
    request: { type: 'evm', value: 0n },
    cost: 0n,
    isBudgeted: true,
    version: 1,
    createdAt: now,
    nextRunAt: now,
  })
  expect(lines).toMatchObject(
    created.map(({ id, nonce }) => ({
      level: 'warn',
      msg: 'nonce gap filler queued',
      transaction: id,
      nonce: String(nonce),
    })),
  )
  const again: Transaction[] = []
  const observer = {
    created: (some: readonly Transaction[]) => void again.push(...some),
    submitted: () => {},
    finished: () => {},
    paid: () => {},
  }
  await fillGaps({ ...fixture.context, observer }, search)
  expect(again).toEqual([])
})

test.each<[string, readonly bigint[], bigint | undefined]>([
  ['the chain waits for the first transaction', [5n, 9n], 5n],
  ['the chain is past it', [5n], 6n],
  ['no endpoint told the nonce', [5n], undefined],
  ['nothing is in flight', [], 0n],
])('there is no gap where %s', async (_name, nonces, next) => {
  const { created, lines } = await fill(nonces, next)
  expect([created, lines]).toEqual([[], []])
})

test.each([
  [64n, 64],
  [65n, 0],
])('a gap of %s nonces gets %i fillers', async (width, count) => {
  const { created, lines } = await fill([100n + width], 100n)
  expect(created).toHaveLength(count)
  if (count === 0)
    expect(lines).toMatchObject([
      { level: 'error', msg: 'nonce gap too wide to fill', from: '100', to: String(100n + width) },
    ])
})

test('a transaction without a nonce shows no gap', async () => {
  const owner = await fixture.addAccount({ chain: chainOf(createStubChain()) })
  const unmined = [newTransaction(owner, { status: 'submitted' })]
  await fillGaps(fixture.context, { unmined, nonces: new Map([[owner.relayer.address, 0n]]) })
  const rows = await fixture.database.db
    .selectFrom('transactions')
    .select('id')
    .where('relayer_id', '=', owner.relayer.id)
    .execute()
  expect(rows).toEqual([])
})
