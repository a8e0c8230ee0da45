import { RemoteFault } from '../../remote/remote-key.ts'
import type { ModuleFault } from '../protocol.ts'

/** The token did not accept the PIN. Tokens lock themselves after a few wrong ones, so nobody may try again by itself. */
export class PinRefused extends RemoteFault {}

/** Return values about the PIN, with sentences that complete "PKCS#11 key …". */
const PIN_PROBLEMS: Readonly<Record<string, string>> = {
  CKR_PIN_INCORRECT: 'cannot be asked: the PIN is wrong',
  CKR_PIN_INVALID: 'cannot be asked: the PIN is wrong',
  CKR_PIN_LEN_RANGE: 'cannot be asked: the PIN is wrong',
  CKR_PIN_LOCKED: 'cannot be asked: its token is locked after too many wrong PINs',
  CKR_PIN_EXPIRED: 'cannot be asked: the PIN has expired',
  CKR_USER_PIN_NOT_INITIALIZED: 'cannot be asked: its token has no PIN of the user yet',
}

/** Return values after which the same call fails until an operator acts. */
const REFUSALS: Readonly<Record<string, string>> = {
  CKR_ACTION_PROHIBITED: 'is not allowed to sign',
  CKR_FUNCTION_NOT_SUPPORTED: 'cannot sign in this way',
  CKR_KEY_FUNCTION_NOT_PERMITTED: 'is denied: set CKA_SIGN on the private key',
  CKR_KEY_TYPE_INCONSISTENT: 'cannot sign in this way',
  CKR_MECHANISM_INVALID: 'cannot sign: its token has no such mechanism (CKM_ECDSA or CKM_EDDSA)',
  CKR_MECHANISM_PARAM_INVALID: 'cannot sign in this way',
}

/** Translates an error of the library. The message names the return value, so that the documentation of the HSM can be found. */
export function toFault(error: unknown): RemoteFault {
  if (error instanceof RemoteFault) return error
  const name = error instanceof Error ? error.message : 'unknown error'
  const pin = PIN_PROBLEMS[name]
  if (pin !== undefined) return new PinRefused('refused', `${pin} (${name})`, { cause: error })
  const refusal = REFUSALS[name]
  if (refusal !== undefined) return new RemoteFault('refused', `${refusal} (${name})`, { cause: error })
  // Tokens come back: cables are plugged in, and connections of network HSMs are made anew.
  const shown = name.startsWith('CKR_') ? ` (${name})` : ''
  return new RemoteFault('unavailable', `cannot be asked: its token failed${shown}`, { cause: error })
}

/** Writes a failure for the process of the service. */
export function toMessage(error: unknown): ModuleFault {
  const fault = toFault(error)
  return { kind: fault.kind, message: fault.message, isPinRefused: fault instanceof PinRefused }
}
