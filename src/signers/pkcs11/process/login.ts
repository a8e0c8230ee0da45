import { PinRefused } from './faults.ts'
import type { Handle, Library } from './library.ts'
import { PIN_FINAL_TRY, PIN_LOCKED, USER } from './numbers.ts'

/**
 * Logs in as the user of a token. A token that the next wrong PIN would lock is left alone: a service that is restarted again and again must
 * not use up the attempts.
 * @throws PinRefused
 */
export function logIn(
  library: Library,
  { slot, session, pin }: { readonly slot: Handle; readonly session: Handle; readonly pin: string },
): void {
  const problem = describePinState(library.C_GetTokenInfo(slot).flags)
  if (problem !== undefined) throw new PinRefused('refused', problem)
  try {
    library.C_Login(session, USER, pin)
  } catch (error) {
    // A login holds for all sessions of this process, and other keys of the token may have made it.
    if (!(error instanceof Error) || error.message !== 'CKR_USER_ALREADY_LOGGED_IN') throw error
  }
}

/** Returns the reason not to send a PIN to a token with these flags. */
export function describePinState(flags: number): string | undefined {
  if ((flags & PIN_LOCKED) !== 0) return 'cannot be asked: its token is locked after too many wrong PINs'
  if ((flags & PIN_FINAL_TRY) !== 0)
    return 'cannot be asked: its token allows one more wrong PIN before it locks itself; log in with the right one by another tool first'
  return undefined
}
