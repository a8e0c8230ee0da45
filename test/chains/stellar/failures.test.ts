import {
  TransactionResult,
  TransactionResultCode,
  TransactionResultExt,
  TransactionResultResult,
} from '@stellar/stellar-sdk/xdr'
import { describe, expect, test } from 'vitest'
import { MEANINGS, readSent } from '../../../src/chains/stellar/broadcast.ts'

const resultOf = (result: unknown) => ({ kind: 'result', result }) as const

function errorOf(result: TransactionResultResult, feeCharged = 0n) {
  const whole = new TransactionResult({ feeCharged, result, ext: TransactionResultExt.v0() })
  return resultOf({ status: 'ERROR', errorResultXdr: whole.toXdr('base64') })
}

describe('what nodes say to sendTransaction', () => {
  test('every code of the protocol has a meaning', () => {
    expect(new Set(Object.keys(MEANINGS))).toEqual(new Set(TransactionResultCode.schema.nameByValue.values()))
  })

  test.each([
    ['PENDING', { kind: 'accepted' }],
    ['DUPLICATE', { kind: 'accepted', known: true }],
    ['TRY_AGAIN_LATER', { kind: 'later' }],
    ['SOMETHING_NEW', { kind: 'unknown' }],
    ['ERROR', { kind: 'unclear' }],
  ])('the status %s has its meaning', (status, want) => {
    expect(readSent(resultOf({ status }))).toMatchObject(want)
  })

  test.each([
    [TransactionResultResult.txBadSeq(), 'sequence', 'tx_bad_seq'],
    [TransactionResultResult.txInsufficientBalance(), 'later', 'tx_insufficient_balance'],
    [TransactionResultResult.txNoAccount(), 'later', 'tx_no_account'],
    [TransactionResultResult.txBadAuth(), 'refused', 'tx_bad_auth'],
    [TransactionResultResult.txMalformed(), 'refused', 'tx_malformed'],
    [TransactionResultResult.txSorobanInvalid(), 'refused', 'tx_soroban_invalid'],
    [TransactionResultResult.txInsufficientFee(), 'underpriced', 'tx_insufficient_fee'],
  ])('error %# has its meaning', (result, kind, detail) => {
    expect(readSent(errorOf(result))).toEqual({ kind, detail })
  })

  test.each([
    [TransactionResultResult.txTooLate(), 'tx_too_late'],
    [TransactionResultResult.txTooEarly(), 'tx_too_early'],
    [TransactionResultResult.txInternalError(), 'tx_internal_error'],
  ])('error %# may pass or last', (result, detail) => {
    expect(readSent(errorOf(result))).toEqual({ kind: 'unclear', detail, known: true })
  })

  // They are about the sequence number, or about money.
  const MAY_LAST = ['txBadMinSeqAgeOrGap', 'txInsufficientBalance', 'txNoAccount']

  test.each(Object.entries(MEANINGS))('%s ends, or may last', (code, meaning) => {
    expect(meaning === 'later').toBe(MAY_LAST.includes(code))
  })

  test('an insufficient fee comes with what would be enough', () => {
    expect(readSent(errorOf(TransactionResultResult.txInsufficientFee(), 2_000n))).toEqual({
      kind: 'underpriced',
      detail: 'tx_insufficient_fee: a fee of at least 2000 stroops is expected',
      minimum: 2_000n,
    })
  })

  test.each([
    [-32602, 'invalid_xdr', 'refused'],
    [-32602, 'invalid_hash', 'refused'],
    [-32603, 'could not submit transaction to stellar-core', 'unknown'],
    [-32601, 'method not found', 'unclear'],
    [-32000, 'not on this plan', 'unclear'],
  ])('error %d "%s" is %s', (code, message, kind) => {
    expect(readSent({ kind: 'error', code, message })).toEqual({ kind, detail: message })
  })

  test('no answer decides nothing', () => {
    expect(readSent({ kind: 'unknown', detail: 'time-out' })).toEqual({ kind: 'unknown', detail: 'time-out' })
    expect(readSent(resultOf(null)).kind).toBe('unknown')
  })
})
