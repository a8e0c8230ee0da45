import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accountWith, NETWORK, OTHER, paymentOf, requestOf, SELF } from './build.ts'
import { type ConstantNode, startConstantNode } from './constant-node.ts'

let node: ConstantNode

beforeAll(async () => {
  node = await startConstantNode()
})
afterAll(() => node.stop())

/** Objects with the right names and anything in them. */
const FIELDS = [
  ...[
    'status',
    'latestLedger',
    'latestLedgerCloseTime',
    'oldestLedgerCloseTime',
    'ledger',
    'resultXdr',
    'resultMetaXdr',
  ],
  ...['entries', 'passphrase', 'inclusionFee', 'sorobanInclusionFee', 'errorResultXdr', 'hash'],
]
const anything = fc.oneof(
  fc.constantFrom(
    'SUCCESS',
    'FAILED',
    'NOT_FOUND',
    'PENDING',
    'ERROR',
    'AAAA',
    '',
    '12',
    '-1',
    null,
    12,
    -1,
    1.5,
    [],
    {},
  ),
  fc.jsonValue(),
)
const replies = fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom(...FIELDS), anything))

/** A status that says something without anything else; `ERROR` alone is a refusal without a reason. */
const SENT = new Map<unknown, string>([
  ['PENDING', 'accepted'],
  ['ERROR', 'unclear'],
])

// The service believes only a node that answers explicitly; everything else decides nothing (I6).
test('whatever a node answers: nothing is denied, refused or taken without its word', async () => {
  const since = new Date('2026-01-01T00:00:00Z')
  await fc.assert(
    fc.asyncProperty(replies, async (reply) => {
      node.tell(reply)
      const fields = (reply ?? {}) as Record<string, unknown>
      const [receipt] = await node.chain.receipts(['ab'.repeat(32)], { asOf: 5n, since })
      if (receipt?.kind === 'none') expect(fields.status).toBe('NOT_FOUND')
      if (receipt?.kind === 'included') expect(['SUCCESS', 'FAILED']).toContain(fields.status)
      const [sent] = await node.chain.broadcast([new Uint8Array([1])])
      expect(sent?.kind).toBe(SENT.get(fields.status) ?? 'unknown')
      const [nonce] = await node.chain.sequencing.nonces([SELF], { asOf: 5n })
      if (nonce?.kind === 'refused') expect(fields.entries ?? []).toEqual([])
      expect(nonce?.kind).not.toBe('ok')
      expect(
        (await node.chain.prepare(requestOf({ operations: [paymentOf(1n, OTHER)] }), accountWith())).kind,
      ).toBe('unknown')
      if ((await node.chain.verify()).kind === 'ok') expect(fields.passphrase).toBe(NETWORK.passphrase)
    }),
    { numRuns: 60 },
  )
})
