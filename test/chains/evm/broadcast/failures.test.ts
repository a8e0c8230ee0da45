import { describe, expect, test } from 'vitest'
import { readBroadcast } from '../../../../src/chains/evm/broadcast/failures.ts'

/** `node-texts.test.ts` has the texts of all nodes. */
const errorOf = (message: string, code = -32000) => ({ kind: 'error', code, message }) as const

describe('readBroadcast', () => {
  test('a result is accepted, and an answer that never came is unknown, never a no (I6)', () => {
    expect(readBroadcast({ kind: 'result', result: '0x5f' })).toEqual({ kind: 'accepted' })
    expect(readBroadcast({ kind: 'unknown', detail: 'time-out' })).toEqual({
      kind: 'unknown',
      detail: 'time-out',
    })
  })

  test('the words of the node are kept for the reader', () => {
    expect(readBroadcast(errorOf('nonce too low'))).toEqual({ kind: 'nonce_used', detail: 'nonce too low' })
  })
})
