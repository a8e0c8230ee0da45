import type { Hex } from 'viem'
import { describe, expect, test } from 'vitest'
import type { RelayedTransaction } from '../../../plugins/gasless/content.ts'
import { asDraft, isTerminal, statusOf } from '../../../plugins/gasless/status.ts'
import type { Outcome, Receipt } from '../../../plugins/gasless/told.ts'

const ID: Hex = `0x${'1'.repeat(64)}`
const HASH: Hex = `0x${'2'.repeat(64)}`
const RECEIPT: Receipt = {
  status: '0x1',
  blockNumber: '0x5',
  gasUsed: '0x5208',
  transactionHash: HASH,
  logs: [],
}
const DONE: Outcome = { kind: 'told', receipt: RECEIPT, failures: new Map() }
const FAILED: Outcome = { kind: 'told', receipt: RECEIPT, failures: new Map([[ID, 'It reverted.']]) }
const UNKNOWN: Outcome = { kind: 'unknown', message: 'No node tells.' }

function told(
  status: string,
  outcome?: Outcome,
  {
    hash = HASH,
    isContent = true,
    waitFor = 'mined',
  }: { hash?: Hex | null; isContent?: boolean; waitFor?: 'mined' | 'confirmed' } = {},
) {
  const transaction: RelayedTransaction = {
    id: 'a',
    relayer_id: 'main',
    status,
    created_at: '2026-11-29T00:00:00.900Z',
    ...(hash !== null && { hash }),
  }
  return statusOf({ id: ID, chainId: 1, transaction, isContent, outcome }, { waitFor })
}

describe('the status of a request', () => {
  test.each<[string, ReturnType<typeof told>, number]>([
    ['that is not signed', told('pending', undefined, { hash: null }), 100],
    ['that is broadcast', told('submitted'), 110],
    ['that a block has made', told('mined', DONE), 200],
    [
      'that a block has made, where only a final block counts',
      told('mined', DONE, { waitFor: 'confirmed' }),
      110,
    ],
    ['that a final block has made', told('confirmed', DONE), 210],
    ['that failed in a block that may go', told('mined', FAILED), 110],
    ['that failed in a final block, although the transaction succeeded', told('confirmed', FAILED), 500],
    ['of which nothing proves the outcome', told('confirmed', UNKNOWN), 110],
    ['that reverted', told('failed', FAILED), 500],
    ['that reverted, and whose receipt no node has now', told('failed', UNKNOWN), 110],
    ['that failed and was never included', told('failed'), 400],
    ['that was canceled, or expired', told('canceled', undefined, { hash: null }), 400],
    ['in whose place something else was sent', told('confirmed', undefined, { isContent: false }), 400],
    ['in whose place something else may be sent', told('mined', undefined, { isContent: false }), 110],
  ])('%s is told by a number', (_, { status }, expected) => expect(status).toBe(expected))

  test('has what Gelato’s client needs of each, and 210 for its own method alone', () => {
    const head = { id: ID, chainId: '1', createdAt: 1_795_910_400 }
    expect(told('submitted')).toEqual({ ...head, status: 110, hash: HASH })
    expect(asDraft(told('confirmed', DONE))).toEqual({ ...head, status: 200, hash: HASH, receipt: RECEIPT })
    expect(told('confirmed', FAILED)).toEqual({
      ...head,
      status: 500,
      hash: HASH,
      receipt: RECEIPT,
      data: '0x',
      message: 'It reverted.',
    })
    expect(isTerminal(told('canceled'))).toBe(true)
    expect(isTerminal(told('mined', FAILED))).toBe(false)
  })
})
