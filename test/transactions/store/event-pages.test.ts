import { afterAll, beforeAll, expect, test } from 'vitest'
import { nextEvents } from '../../../src/events/follow.ts'
import { PAGE_BYTES } from '../../../src/events/store.ts'
import { encodeRequest } from '../../../src/transactions/store/codec.ts'
import { readSnapshots } from '../../../src/transactions/store/event-payload-store.ts'
import { requestOf } from '../../chains/evm/build.ts'
import { type Fixture, insert, newTransaction, openFixture } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

/** The largest data that a transaction can have (EIP-3860 twice), in hex digits. */
const DATA = `0x${'ab'.repeat(131_072)}`

test('a page counts the content of the transactions, which events share with them', async () => {
  const { context } = fixture
  const owner = await fixture.addAccount({ chain: chainOf(createStubChain()) })
  await insert(
    context,
    ...Array.from({ length: 20 }, () => newTransaction(owner, { request: requestOf({ data: DATA }) })),
  )
  const pages: number[] = []
  for (let after = 0n; ; ) {
    const page = await nextEvents(context.db, { after, limit: 100 })
    const last = page.at(-1)
    if (last === undefined) break
    after = last.number
    const shown = await readSnapshots(context.db, page)
    const contents = [...shown.values()].map(({ transaction }) =>
      JSON.stringify(encodeRequest(transaction.request)),
    )
    pages.push(contents.join('').length)
  }
  expect(pages.length).toBeGreaterThan(9)
  expect(Math.max(...pages)).toBeLessThan(PAGE_BYTES + 2 * DATA.length)
})
