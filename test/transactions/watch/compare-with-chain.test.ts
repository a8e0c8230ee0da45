import { describe, expect, test } from 'vitest'
import type { Answer } from '../../../src/chains/answer.ts'
import type { Attempt } from '../../../src/chains/attempt.ts'
import type { Chain } from '../../../src/chains/chain.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import {
  findMovedBlocks,
  findPassedNonces,
  haveAllExpired,
} from '../../../src/transactions/watch/fill-gaps.ts'
import type { WatchRound } from '../../../src/transactions/watch/watch-round.ts'
import { FROM, TO } from '../../chains/evm/build.ts'
import { itemOf } from '../build.ts'

/** A round at block 100 of a chain with only these capabilities. */
function roundOf(chain: Partial<Chain>) {
  return { chain, head: { number: 100n, hash: '0xhead100' }, open: false } as WatchRound
}

const transactionOf = (id: string, change: Partial<Transaction>) =>
  itemOf([{}], { id, ...change }).transaction

const SILENT = { kind: 'unknown', detail: 'time-out' } as const

describe('nonces', () => {
  /** A round in which the chain gives these next nonces, by address. It keeps the addresses that were asked. */
  function withNonces(answers: Readonly<Record<string, Answer<bigint>>>) {
    const asked: unknown[] = []
    const round = roundOf({
      sequencing: {
        nonces: async (addresses, freshness) => {
          asked.push([...addresses, freshness])
          return addresses.map((address) => answers[address] ?? SILENT)
        },
      },
    })
    return { round, asked }
  }

  test('that the chain has passed are those below the next one of their own source account', async () => {
    const { round, asked } = withNonces({
      [FROM]: { kind: 'ok', value: 6n },
      [TO]: { kind: 'ok', value: 5n },
    })
    const { passed, nonces } = await findPassedNonces(round, [
      transactionOf('below', { nonce: 5n }),
      transactionOf('next', { nonce: 6n }),
      transactionOf('channel', { nonce: 5n, sourceAccount: TO }),
      transactionOf('of old', { nonce: 4n, sourceAccount: undefined, from: TO }),
    ])
    expect(passed.map(({ id }) => id)).toEqual(['below', 'of old'])
    expect(nonces).toEqual(
      new Map([
        [FROM, 6n],
        [TO, 5n],
      ]),
    )
    expect(asked).toEqual([[FROM, TO, { asOf: 100n }]])
    expect(round.open).toBe(false)
  })

  test('without an answer have not passed, and the round stays open (I6)', async () => {
    const { round } = withNonces({ [FROM]: { kind: 'ok', value: 9n } })
    const { passed, nonces } = await findPassedNonces(round, [
      transactionOf('silent', { nonce: 0n, sourceAccount: TO }),
      transactionOf('answered', { nonce: 8n }),
    ])
    expect(passed.map(({ id }) => id)).toEqual(['answered'])
    expect([...nonces.keys()]).toEqual([FROM])
    expect(round.open).toBe(true)
  })

  test('are not asked for where no transaction has one', async () => {
    const { round, asked } = withNonces({ [FROM]: { kind: 'ok', value: 9n } })
    const { passed, nonces } = await findPassedNonces(round, [transactionOf('none', { nonce: undefined })])
    expect([passed, nonces.size, asked]).toEqual([[], 0, []])
  })

  test('of a transaction without one are not asked for beside those of others', async () => {
    const { round, asked } = withNonces({ [FROM]: { kind: 'ok', value: 9n } })
    const { passed } = await findPassedNonces(round, [
      transactionOf('none', { nonce: undefined, sourceAccount: undefined, from: TO }),
      transactionOf('one', { nonce: 8n }),
    ])
    expect(passed.map(({ id }) => id)).toEqual(['one'])
    expect(asked).toEqual([[FROM, { asOf: 100n }]])
    expect(round.open).toBe(false)
  })

  test('are unknown to a chain without nonces', async () => {
    const round = roundOf({})
    const { passed, nonces } = await findPassedNonces(round, [transactionOf('one', { nonce: 0n })])
    expect([passed, nonces.size, round.open]).toEqual([[], 0, false])
  })
})

describe('the expiry of a transaction', () => {
  const expired = (outcomes: readonly Attempt['outcome'][], over: readonly boolean[]) => {
    const answers = [...over]
    const round = roundOf({ expiry: { hasExpired: async () => answers.shift() ?? false } as never })
    return haveAllExpired(round, itemOf(outcomes.map((outcome) => ({ outcome }))))
  }

  test.each<[string, readonly Attempt['outcome'][], readonly boolean[], boolean]>([
    ['all attempts have expired', ['broadcast', 'refused', 'signed'], [true, true, true], true],
    ['one has not', ['broadcast', 'broadcast'], [true, false], false],
    ['one that a node refused has not', ['broadcast', 'refused'], [true, false], false],
    ['the others are closed', ['expired', 'superseded', 'broadcast'], [true], true],
    ['none is left', ['expired', 'superseded'], [], false],
  ])('where %s', async (_name, outcomes, over, want) => {
    expect(await expired(outcomes, over)).toBe(want)
  })

  test('never comes on a chain where bytes do not expire', async () => {
    expect(await haveAllExpired(roundOf({}), itemOf([{}]))).toBe(false)
  })
})

describe('the block of a mined transaction', () => {
  const minedIn = (id: string, number: bigint) =>
    transactionOf(id, { status: 'mined', block: { number, hash: `0xblock${number}` } })

  /** A round in which the chain has these blocks, and no answer for the others. */
  function withBlocks(blocks: Readonly<Record<string, string>>) {
    const asked: unknown[] = []
    const round = roundOf({
      blockFinality: {
        blockHash: async (number, freshness) => {
          asked.push([number, freshness])
          const value = blocks[String(number)]
          return value === undefined ? SILENT : { kind: 'ok', value }
        },
      },
    })
    return { round, asked }
  }

  test('is in the chain, was replaced, or is not known; each block is asked for once', async () => {
    const { round, asked } = withBlocks({ '90': '0xblock90', '91': '0xother' })
    const mined = [minedIn('kept', 90n), minedIn('kept too', 90n), minedIn('moved', 91n)]
    expect(await findMovedBlocks(round, mined)).toEqual(new Map([['moved', true]]))
    expect(asked).toEqual([
      [90n, { asOf: 100n }],
      [91n, { asOf: 100n }],
    ])
    expect(round.open).toBe(false)
  })

  test('without an answer has not moved, and the round stays open (I6)', async () => {
    const { round } = withBlocks({ '90': '0xblock90' })
    const moved = await findMovedBlocks(round, [minedIn('kept', 90n), minedIn('silent', 91n)])
    expect(moved).toEqual(new Map([['silent', false]]))
    expect(round.open).toBe(true)
  })

  test('is not compared on a chain whose receipts are final', async () => {
    const round = roundOf({})
    expect((await findMovedBlocks(round, [minedIn('one', 90n)])).size).toBe(0)
    expect(round.open).toBe(false)
  })
})
