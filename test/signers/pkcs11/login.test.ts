import { expect, test } from 'vitest'
import { describePinState } from '../../../src/signers/pkcs11/process/module.ts'

/** The flags of a token that is ready: CKF_RNG, CKF_LOGIN_REQUIRED, CKF_USER_PIN_INITIALIZED, CKF_TOKEN_INITIALIZED. */
const READY = 0x40d

test.each<[string, number, RegExp | undefined]>([
  ['that is ready', READY, undefined],
  ['after one wrong PIN (CKF_USER_PIN_COUNT_LOW)', READY | 0x10000, undefined],
  [
    'before the last attempt (CKF_USER_PIN_FINAL_TRY)',
    READY | 0x10000 | 0x20000,
    /allows one more wrong PIN/,
  ],
  ['that is locked (CKF_USER_PIN_LOCKED)', READY | 0x40000, /is locked after too many wrong PINs/],
  ['whose officer made mistakes (CKF_SO_PIN_FINAL_TRY)', READY | 0x200000, undefined],
])('a token %s gets the PIN only where it cannot be locked by it', (_what, flags, expected) => {
  const problem = describePinState(flags)
  if (expected === undefined) expect(problem).toBeUndefined()
  else expect(problem).toMatch(expected)
})
