import { describe, expect, test } from 'vitest'
import type { ReceiptAnswer } from '../../../src/chains/answer.ts'
import { weigh } from '../../../src/transactions/watch/finalise.ts'

const CLAIM = { transactionId: 'tx', hash: '0xa', blockHash: '0xblock', success: true, givesBack: false }

const says = (success: boolean, blockHash = '0xblock'): ReceiptAnswer => ({
  kind: 'included',
  receipt: { hash: '0xa', blockNumber: 100n, blockHash, success },
})

const YES = says(true)
const NO = says(false)
const NONE: ReceiptAnswer = { kind: 'none' }
const UNKNOWN: ReceiptAnswer = { kind: 'unknown' }

describe('the endpoints about a receipt that says "succeeded"', () => {
  test.each<[string, readonly ReceiptAnswer[], string]>([
    ['all say the same', [YES, YES], 'agreed'],
    ['the others are silent', [YES, UNKNOWN], 'agreed'],
    ['the others have pruned it', [NONE, YES], 'agreed'],
    ['all have pruned it', [NONE, NONE], 'agreed'],
    ['most say the same', [YES, NO, YES], 'agreed'],
    ['one of two says the opposite', [YES, NO], 'tied'],
    ['two of four say the opposite', [YES, NO, NO, YES], 'tied'],
    ['most say the opposite', [NO, YES, NO], 'contradicted'],
    ['all say the opposite', [NO, NO], 'contradicted'],
    ['the opposite is about another block', [YES, says(false, '0xother')], 'agreed'],
    ['nobody answers', [UNKNOWN, UNKNOWN], 'unheard'],
  ])('%s', (_, answers, kind) => {
    expect(weigh(CLAIM, answers).kind).toBe(kind)
  })

  test('a contradiction brings the receipt of the others', () => {
    expect(weigh(CLAIM, [NO, NO])).toEqual({
      kind: 'contradicted',
      receipt: { hash: '0xa', blockNumber: 100n, blockHash: '0xblock', success: false },
    })
  })
})

describe('the endpoints about a receipt that gives something back', () => {
  const claim = { ...CLAIM, success: false, givesBack: true }
  test.each<[string, readonly ReceiptAnswer[], string]>([
    ['all say the same', [NO, NO], 'agreed'],
    ['one of two is silent', [NO, UNKNOWN], 'unheard'],
    ['one of two has no receipt', [NO, NONE], 'unheard'],
    ['one of two has it in another block', [NO, says(false, '0xother')], 'unheard'],
    ['one of three is silent', [NO, UNKNOWN, NO], 'unheard'],
    ['one of two says the opposite', [NO, YES], 'tied'],
    ['one of three says the opposite', [NO, YES, NO], 'tied'],
    ['most say the opposite', [YES, NO, YES], 'contradicted'],
    ['the only one that answers says the opposite', [UNKNOWN, YES], 'contradicted'],
    ['nobody answers', [UNKNOWN, UNKNOWN], 'unheard'],
  ])('%s', (_, answers, kind) => {
    expect(weigh(claim, answers).kind).toBe(kind)
  })
})
