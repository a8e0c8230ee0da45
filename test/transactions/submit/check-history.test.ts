import { afterAll, beforeAll, expect, test } from 'vitest'
import type { HistoryMark, HistoryReading } from '../../../src/chains/capabilities.ts'
import { raiseHistoryMark } from '../../../src/relayers/store.ts'
import { createHistoryChecker } from '../../../src/transactions/submit/check-history.ts'
import { until } from '../../support/until.ts'
import { type Fixture, openFixture } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

const UNEXPLAINED = [{ hash: 'paid', slot: 7n, sha256: 'digest' }] as never

/** A chain whose history is told when the test says so, from the mark that was asked for. */
function slowHistory() {
  const asked: { readonly mark: HistoryMark | undefined; readonly tell: () => void }[] = []
  const chain = {
    ...chainOf(createStubChain()),
    history: {
      readAfter: (_address: string, mark: HistoryMark | undefined) =>
        new Promise((resolve) => {
          const unexplained = (mark?.slot ?? 0n) < 7n ? UNEXPLAINED : []
          const value: HistoryReading = { unexplained, asOf: 10n, mark: { slot: 10n } }
          asked.push({ mark, tell: () => resolve({ kind: 'ok', value }) })
        }),
    },
  } as never
  return { chain, asked }
}

test('checks at the same mark share a read, and one that follows an acceptance does not get what was found before', async () => {
  const { db, clock, log } = fixture.context
  const { relayer } = await fixture.addAccount({ chain: chainOf(createStubChain()) })
  const { check } = createHistoryChecker({ db, clock, log })
  const { chain, asked } = slowHistory()
  await raiseHistoryMark(db, relayer, { slot: 5n })
  const before = [check(relayer, chain), check(relayer, chain)]
  await until(
    async () => asked.length,
    (count) => count === 1,
  )
  await raiseHistoryMark(db, relayer, { slot: 8n })
  const after = check(relayer, chain)
  await until(
    async () => asked.map(({ mark }) => mark?.slot),
    (slots) => slots.length === 2,
  )
  for (const { tell } of asked) tell()
  expect(asked.map(({ mark }) => mark?.slot)).toEqual([5n, 8n])
  expect((await Promise.all(before)).map(({ kind }) => kind)).toEqual(['unexplained', 'unexplained'])
  expect((await after).kind).toBe('explained')
})

test('an account has rested that was not compared for a minute', async () => {
  const { db, clock, log } = fixture.context
  const { relayer } = await fixture.addAccount({ chain: chainOf(createStubChain()) })
  const { check, hasRested } = createHistoryChecker({ db, clock, log })
  const { chain, asked } = slowHistory()
  expect(hasRested(relayer, chain)).toBe(true)
  const checked = check(relayer, chain)
  await until(
    async () => asked.length,
    (count) => count === 1,
  )
  asked[0]?.tell()
  await checked
  fixture.clock.advance(60_000)
  expect(hasRested(relayer, chain)).toBe(false)
  fixture.clock.advance(1)
  expect(hasRested(relayer, chain)).toBe(true)
  expect(hasRested(relayer, chainOf(createStubChain()))).toBe(false)
})

test('a mark that this process has seen does not make an account unknown when it is old, and another old one does', async () => {
  const { db, clock, log } = fixture.context
  const { relayer } = await fixture.addAccount({ chain: chainOf(createStubChain()) })
  const { check } = createHistoryChecker({ db, clock, log })
  let asOf = 1_000n
  const readAfter = async (_address: string, mark: HistoryMark | undefined) => ({
    kind: 'ok',
    value: { unexplained: [], asOf, mark: mark ?? { slot: asOf } },
  })
  const chain = { ...chainOf(createStubChain()), history: { readAfter } } as never
  expect((await check(relayer, chain)).kind).toBe('explained')
  asOf = 100_000n
  expect((await check(relayer, chain)).kind).toBe('explained')
  await raiseHistoryMark(db, relayer, { slot: 1_001n })
  expect((await check(relayer, chain)).kind).toBe('unknown')
  asOf += 400n
  expect((await check(relayer, chain)).kind).toBe('explained')
})
