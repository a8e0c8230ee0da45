import { describe, expect, test } from 'vitest'
import {
  admit,
  type Checked,
  type Claim,
  type ExposureRules,
  type Found,
  noteEnd,
} from '../../plugins/shared/exposure.ts'
import { createWorld } from './x402/world.ts'

const AMOUNT = 10n

const claim = (key: string): Claim => ({
  payer: 'payer',
  group: 'network',
  entry: { key, unit: 'token', amount: String(AMOUNT), payee: 'payee' },
})

/** A payer whose balance a node tells as of some block, and payments that are in the blocks of `found`. */
function createPayer() {
  const world = createWorld('')
  const found = new Map<string, Found>()
  const rules: ExposureRules = {
    world,
    limits: { payer: 3, payee: 10, all: 10, open: 10 },
    look: async ({ key }) => found.get(key) ?? { end: 'open', block: undefined },
    overLimit: (message) => new Error(message),
    underfunded: (message) => new Error(`underfunded: ${message}`),
    isRefusal: () => true,
  }
  const pay = (key: string, check: () => Omit<Checked, 'isUncertain'>, isUncertain = false) =>
    admit(claim(key), rules, {
      check: async () => ({ ...check(), isUncertain }),
      send: async () => 'sent',
    })
  return { world, found, pay }
}

describe('a payer with funds for one payment', () => {
  const old = { funds: AMOUNT, block: 5 }

  test.each<[string, Found]>([
    ['ended', { end: 'ended', block: 6 }],
    ['is in a block that may still go', { end: 'included', block: 6 }],
  ])(
    'pays no second time by a node that does not have the block of the first one, which %s',
    async (_, first) => {
      const { found, pay } = createPayer()
      expect(await pay('first', () => old)).toBe('sent')
      found.set('first', first)
      await expect(pay('second', () => old)).rejects.toThrow('underfunded')
      await expect(pay('second', () => old)).rejects.toThrow('underfunded')
      expect(await pay('second', () => ({ funds: AMOUNT, block: 6 }))).toBe('sent')
    },
  )

  test('pays no second time after the end of the first one was noted', async () => {
    const { world, pay } = createPayer()
    await pay('first', () => old)
    await noteEnd(claim('first'), { end: 'ended', block: 6 }, world)
    await expect(pay('second', () => old)).rejects.toThrow('underfunded')
    expect(await pay('second', () => ({ funds: AMOUNT, block: 7 }))).toBe('sent')
  })

  test('pays no second time if a block includes the first one after the balance was read', async () => {
    const { found, pay } = createPayer()
    await pay('first', () => old)
    const readTooEarly = () => {
      found.set('first', { end: 'ended', block: 6 })
      return old
    }
    await expect(pay('second', readTooEarly)).rejects.toThrow('underfunded')
  })
})

test('a payer with funds for two pays twice, whatever the node has', async () => {
  const { found, pay } = createPayer()
  const both = { funds: 2n * AMOUNT, block: 5 }
  await pay('first', () => both)
  found.set('first', { end: 'ended', block: 6 })
  expect(await pay('second', () => both)).toBe('sent')
})

test('what a payer has is believed where nothing tells as of which block', async () => {
  const { found, pay } = createPayer()
  await pay('first', () => ({ funds: AMOUNT, block: undefined }))
  found.set('first', { end: 'ended', block: 6 })
  expect(await pay('second', () => ({ funds: AMOUNT, block: undefined }))).toBe('sent')
})

test.each([true, false])(
  'what a block has without effect counts as a failure before the block is final, and takes no funds: uncertain %s',
  async (isUncertain) => {
    const { found, pay } = createPayer()
    const enough = () => ({ funds: AMOUNT, block: 9 })
    for (const key of ['first', 'second', 'third']) {
      expect(await pay(key, enough, isUncertain)).toBe('sent')
      found.set(key, { end: 'reverted', block: 6 })
    }
    await expect(pay('fourth', enough, isUncertain)).rejects.toThrow('3 payments of this payer failed')
    // A block that goes takes the failures with it.
    for (const key of ['first', 'second', 'third']) found.set(key, { end: 'ended', block: 7 })
    expect(await pay('fourth', enough, isUncertain)).toBe('sent')
  },
)
