import * as codes from '@solana/kit'
import { describe, expect, test } from 'vitest'
import type { RpcReply } from '../../../src/chains/rpc/rpc.ts'
import { readSent } from '../../../src/chains/solana/broadcast.ts'
import { readStatus } from '../../../src/chains/solana/read/receipts.ts'
import { ERROR_MEANINGS, readFailure } from '../../../src/chains/solana/read/transaction-error.ts'

const error = (code: number, message: string, data?: unknown): RpcReply => ({
  kind: 'error',
  code,
  message,
  ...(data === undefined ? {} : { data }),
})

describe('what a node says to bytes', () => {
  test.each<[string, RpcReply, string]>([
    ['a signature', { kind: 'result', result: '5sig' }, 'accepted'],
    ['something else', { kind: 'result', result: null }, 'unknown'],
    ['nothing', { kind: 'unknown', detail: 'time-out' }, 'unknown'],
    ['bytes that cannot be read', error(-32602, 'failed to fill whole buffer'), 'refused'],
    ['bytes that are too many', error(-32602, 'base64 encoded too large: 1684 bytes'), 'refused'],
    [
      'a table that it does not see yet',
      error(-32602, 'invalid transaction: Transaction address table lookup uses an invalid index'),
      'unclear',
    ],
    ['a wrong signature', error(-32003, 'Transaction signature verification failure'), 'refused'],
    ['that it is behind', error(-32005, 'Node is behind by 42 slots', { numSlotsBehind: 42 }), 'unknown'],
    ['a fault of its own', error(-32603, 'Internal error'), 'unknown'],
    ['preflight: included already', error(-32002, 'failed', { err: 'AlreadyProcessed' }), 'accepted'],
    [
      'preflight: too old, or too young for it',
      error(-32002, 'failed', { err: 'BlockhashNotFound' }),
      'later',
    ],
    ['preflight: no money', error(-32002, 'failed', { err: 'InsufficientFundsForFee' }), 'later'],
    [
      'preflight: it would fail now',
      error(-32002, 'failed', { err: { InstructionError: [0, { Custom: 1 }] } }),
      'unclear',
    ],
    ['preflight: it never will do', error(-32002, 'failed', { err: 'SanitizeFailure' }), 'refused'],
    ['preflight: an error that is new', error(-32002, 'failed', { err: 'SomethingNew' }), 'unclear'],
    ['preflight: without a reason', error(-32002, 'failed'), 'unclear'],
    ['a rule of its gateway', error(-32600, 'transactions must tip'), 'unclear'],
  ])('%s', (_what, reply, kind) => {
    expect(readSent(reply).kind).toBe(kind)
  })
})

/** Only these may last: they are about the blockhash, money, or full blocks. */
const MAY_LAST = [
  'AccountNotFound',
  'InsufficientFundsForFee',
  'BlockhashNotFound',
  'AccountInUse',
  'WouldExceedAccountDataBlockLimit',
  'WouldExceedAccountDataTotalLimit',
  'WouldExceedMaxAccountCostLimit',
  'WouldExceedMaxBlockCostLimit',
  'WouldExceedMaxVoteCostLimit',
]

test.each([...Object.keys(ERROR_MEANINGS), 'NotInvented'])(
  'a preflight error %s ends, or may last',
  (name) => {
    const { kind } = readSent(error(-32002, 'failed', { err: name }))
    if (MAY_LAST.includes(name)) expect(kind).toBe('later')
    else expect(['accepted', 'unclear', 'refused']).toContain(kind)
  },
)

describe('an error of a transaction', () => {
  test('has a meaning, each that the SDK knows of', () => {
    const names = Object.keys(codes).flatMap((name) => {
      const description = /^SOLANA_ERROR__TRANSACTION_ERROR__(.+)$/.exec(name)?.[1]
      return description === undefined || description === 'UNKNOWN'
        ? []
        : [description.replaceAll('_', '').toLowerCase()]
    })
    const known = Object.keys(ERROR_MEANINGS).map((name) => name.toLowerCase())
    expect(names.length).toBeGreaterThan(30)
    expect(names.filter((name) => !known.includes(name))).toEqual([])
  })

  test.each([
    ['AccountNotFound', 'AccountNotFound'],
    [
      { InstructionError: [2, { Custom: 6001 }] },
      'InstructionError in instruction 2: custom program error 0x1771',
    ],
    [
      { InstructionError: [0, 'InvalidAccountData'] },
      'InstructionError in instruction 0: InvalidAccountData',
    ],
    [{ InstructionError: [1, { BorshIoError: 'x' }] }, 'InstructionError in instruction 1: BorshIoError'],
    [{ InsufficientFundsForRent: { account_index: 3 } }, 'InsufficientFundsForRent of account 3'],
    [{ DuplicateInstruction: 4 }, 'DuplicateInstruction'],
    [{}, 'unnamed error'],
    [7, 'unnamed error'],
  ])('%j is told as %s', (err, description) => {
    expect(readFailure(err).description).toBe(description)
  })

  // Found by the simulator (seed 101 with two endpoints): what an account without money was to send failed for ever.
  test('lacks money where the payer would keep too little, and fails where another account would', () => {
    const meaningFor = (index: number) =>
      readFailure({ InsufficientFundsForRent: { account_index: index } }).meaning
    expect([meaningFor(0), meaningFor(1)]).toEqual(['funds', 'state'])
  })
})

describe('a status', () => {
  const reply = (status: unknown, behind = false) => ({
    reply: { kind: 'result' as const, result: { context: { slot: 9 }, value: [status] } },
    behind,
  })
  const of = (status: unknown, behind?: boolean) => readStatus('sig', reply(status, behind), 0)

  test.each([
    ['processed', { slot: 5, err: null, confirmationStatus: 'processed', confirmations: 0 }, false, false],
    ['confirmed', { slot: 5, err: null, confirmationStatus: 'confirmed', confirmations: 3 }, true, false],
    ['finalized', { slot: 5, err: null, confirmationStatus: 'finalized', confirmations: null }, true, true],
    ['of an old node, on its way', { slot: 5, err: null, confirmations: 3 }, true, false],
    ['of an old node, final', { slot: 5, err: null, confirmations: null }, true, true],
  ])('%s', (_what, status, isConfirmed, final) => {
    expect(of(status)).toEqual({
      kind: 'included',
      isConfirmed,
      receipt: { hash: 'sig', blockNumber: 5n, blockHash: '5', success: true, final },
    })
  })

  test('of which there is none counts only when the node is not behind', () => {
    expect(of(null)).toEqual({ kind: 'none', slot: 9n })
    expect(of(null, true)).toEqual({ kind: 'inconclusive' })
  })

  test.each([
    ['is missing', undefined],
    ['is no object', 7],
    ['has no slot', { err: null }],
    ['does not say how it went', { slot: 5 }],
    ['has a slot that was rounded', { slot: 2 ** 60, err: null }],
  ])('that %s is unknown', (_what, status) => {
    expect(of(status)).toEqual({ kind: 'unknown' })
  })

  test.each<[string, RpcReply]>([
    ['an error', error(-32603, 'Internal error')],
    ['nothing', { kind: 'unknown', detail: 'time-out' }],
    ['no slot', { kind: 'result', result: { value: [null] } }],
    ['no list', { kind: 'result', result: { context: { slot: 9 }, value: {} } }],
  ])('of an endpoint that answered with %s is unknown', (_what, reply) => {
    expect(readStatus('sig', { reply: reply, behind: false }, 0)).toEqual({ kind: 'unknown' })
  })
})
