import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../../src/database/db.ts'
import { createLogger } from '../../src/log.ts'
import type { Network } from '../../src/networks/network.ts'
import { createTokenDecimals } from '../../src/networks/token-decimals-store.ts'
import { createAdjustableClock } from '../support/clock.ts'
import { openNewDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

const log = createLogger({ level: 'silent' })
const clock = createAdjustableClock()
const networkOf = (name: string) => ({ type: 'evm', name }) as Network
let database: Database
beforeAll(async () => {
  database = await openNewDatabase()
})
afterAll(() => database.close())

/** A process that knows nothing yet, on a chain that answers so; and what it has asked. */
function startProcess(name: string, answer: (token: string) => number | undefined) {
  const asked: string[] = []
  const decimals = createTokenDecimals({ db: database.db, clock, log })
  const decimalsOf = decimals.of(networkOf(name), async (token) => {
    asked.push(token)
    return answer(token)
  })
  return { asked, decimalsOf }
}

test('a token is asked once, for all processes', async () => {
  const first = startProcess('one', () => 6)
  expect(first.decimalsOf('0xaa')).toBeUndefined()
  expect(first.decimalsOf('0xaa')).toBeUndefined()
  await until(
    async () => first.decimalsOf('0xaa'),
    (known) => known === 6,
  )
  const second = startProcess('one', () => 18)
  await until(
    async () => second.decimalsOf('0xaa'),
    (known) => known !== undefined,
  )
  expect(second.decimalsOf('0xaa')).toBe(6)
  expect([first.asked, second.asked]).toEqual([['0xaa'], []])
  const other = startProcess('other', () => 2)
  await until(
    async () => other.decimalsOf('0xaa'),
    (known) => known === 2,
  )
})

test('a token that says nothing is asked again later, and each time after twice as long', async () => {
  const { asked, decimalsOf } = startProcess('silent', (token) => (token === '0xaa' ? undefined : 1))
  /** One after the other is asked, so an answer about a new token comes after that about this one. */
  const look = async (marker: string) => {
    decimalsOf('0xaa')
    await until(
      async () => decimalsOf(marker),
      (known) => known === 1,
    )
  }
  const times = () => asked.filter((token) => token === '0xaa').length
  await look('m1')
  await look('m2')
  expect(times()).toBe(1)
  clock.advance(600_000)
  await look('m3')
  expect(times()).toBe(2)
  clock.advance(1_100_000)
  await look('m4')
  expect(times()).toBe(2)
  clock.advance(100_000)
  await look('m5')
  expect(times()).toBe(3)
})

test('many tokens at once do not wait without a bound', async () => {
  const { asked, decimalsOf } = startProcess('crowd', () => undefined)
  for (let number = 0; number < 5_000; number += 1) decimalsOf(`0x${number}`)
  await until(
    async () => asked.length,
    (count) => count === 100,
  )
  decimalsOf('0xlast')
  await until(
    async () => asked.at(-1),
    (token) => token === '0xlast',
  )
  expect(asked.length).toBe(101)
})

test('an error of the reader leaves the others their turn', async () => {
  const { decimalsOf } = startProcess('failing', (token) => {
    if (token === '0xbad') throw new Error('no reply')
    return 3
  })
  decimalsOf('0xbad')
  await until(
    async () => decimalsOf('0xgood'),
    (known) => known === 3,
  )
})
