import { describe, expect, test } from 'vitest'
import { checkPromises, type Evidence } from '../../scripts/faults/check-promises.ts'
import { PRICE_REFUSALS } from '../../scripts/faults/evm/endpoint-behaviour.ts'
import { createLedger } from '../../scripts/faults/ledger.ts'
import type { Transaction } from '../support/service.ts'

const WORDS = 'transaction underpriced: gas tip cap 1, minimum needed 4'
const REASON = `No endpoint accepted the price set by its caller, and others waited behind it (${WORDS}); a no-op used its nonce.`

interface Case {
  readonly record?: Record<string, unknown>
  readonly content?: Record<string, unknown>
  readonly noop?: Record<string, unknown>
  readonly asked?: { readonly priceRefusals?: RegExp }
  readonly alone?: true
}

/** What the checker says of a transaction that ended because of its price, with these changes. */
function violations({
  record = {},
  content = {},
  noop = {},
  asked = { priceRefusals: PRICE_REFUSALS },
  alone,
}: Case) {
  const ledger = createLedger()
  for (const [id, mark] of [
    ['priced', '0x1'],
    ['behind', '0x2'],
  ] as const) {
    const ask = ledger.open({ kind: 'send', account: 0, content: { mark }, ...(id === 'priced' && asked) })
    ask.id = id
    ask.said = 'accepted'
  }
  const records = [
    {
      id: 'priced',
      from: '0xa',
      status: 'failed',
      hash: '0xnoop',
      status_reason: REASON,
      nonce: '0',
      attempts: [
        { number: 1, kind: 'send', outcome: 'refused', hash: '0xcontent', error: WORDS, ...content },
        { number: 2, kind: 'abandon', outcome: 'mined', hash: '0xnoop', ...noop },
      ],
      ...record,
    },
    {
      id: 'behind',
      from: alone ? '0xb' : '0xa',
      status: 'confirmed',
      hash: '0xbehind',
      nonce: '1',
      attempts: [{ number: 1, kind: 'send', outcome: 'mined', hash: '0xbehind' }],
    },
  ] as unknown as Transaction[]
  const sent = { sourceAccount: '0xa', success: true }
  const evidence: Evidence = {
    ledger,
    account: 0,
    records,
    included: [
      { ...sent, hash: '0xnoop', nonce: 0n, mark: undefined },
      { ...sent, hash: '0xbehind', nonce: 1n, mark: '0x2' },
    ],
    differences: () => [],
  }
  return checkPromises(evidence)
}

describe('the checker of random histories', () => {
  test('knows that a price which its caller named can end a transaction', () => {
    expect(violations({})).toEqual([])
  })

  test.each<[string, Case]>([
    ['the service chose the price', { asked: {} }],
    ['the nodes refused it in other words', { content: { error: 'nonce too low' } }],
    [
      'its reason has words that are about no price',
      {
        record: { status_reason: REASON.replace(WORDS, 'nonce too low') },
        content: { error: 'nonce too low' },
      },
    ],
    ['its reason is another one', { record: { status_reason: 'nonce too low' } }],
    ['a node has the content', { content: { outcome: 'superseded' } }],
    ['the no-op is a payment', { noop: { kind: 'speed_up' } }],
    ['nothing waited behind it', { alone: true }],
  ])('takes a failed transaction for lost where %s', (_name, change) => {
    expect(violations(change)).toEqual([
      expect.stringContaining('was not executed, and nothing was the cause'),
    ])
  })
})
