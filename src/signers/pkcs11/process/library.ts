import { createRequire } from 'node:module'
import { RemoteFault } from '../../remote/remote-key.ts'
import type { ModuleFault } from '../protocol.ts'

/** A number of the library for a slot, a session or an object. */
export type Handle = Buffer

/** Attributes of an object; those without a value are requested. */
export type Template = readonly { readonly type: number; readonly value?: Buffer | string | number }[]

/**
 * The functions of the package pkcs11js that signing needs, as PKCS#11 names them. Separate types let this
 * compile without the package, which is native and installed only where an HSM is used.
 */
export interface Library {
  load(path: string): void
  close(): void
  C_Initialize(options: { readonly flags: number }): void
  C_Finalize(): void
  C_GetSlotList(withToken: boolean): Handle[]
  C_GetTokenInfo(slot: Handle): { readonly label: string; readonly flags: number }
  C_OpenSession(slot: Handle, flags: number): Handle
  C_CloseSession(session: Handle): void
  C_Login(session: Handle, user: number, pin: string): void
  C_FindObjectsInit(session: Handle, template: Template): void
  C_FindObjects(session: Handle, most: number): Handle[]
  C_FindObjectsFinal(session: Handle): void
  C_GetAttributeValue(session: Handle, object: Handle, template: Template): { readonly value: Buffer }[]
  C_SignInit(session: Handle, mechanism: { readonly mechanism: number }, key: Handle): void
  C_SignAsync(session: Handle, data: Buffer, output: Buffer): Promise<Buffer>
}

/** @throws RemoteFault `refused` for a library that is not one, or a package that was not built */
export function loadLibrary(path: string): Library {
  const library = new (requirePackage().PKCS11)()
  try {
    library.load(path)
  } catch (cause) {
    throw new RemoteFault('refused', `cannot be used: the library ${path} cannot be loaded`, { cause })
  }
  library.C_Initialize({ flags: OS_LOCKING_OK })
  return library
}

function requirePackage(): { readonly PKCS11: new () => Library } {
  try {
    return createRequire(import.meta.url)('pkcs11js')
  } catch (cause) {
    const remedy = 'build it with: npm rebuild pkcs11js (it needs a C++ compiler, make and Python 3)'
    throw new RemoteFault('refused', `cannot be used: the package pkcs11js was not built; ${remedy}`, {
      cause,
    })
  }
}

/** Unloads a library in any state. */
export function unloadLibrary(library: Library | undefined): void {
  try {
    library?.C_Finalize()
    library?.close()
  } catch {
    // It is not initialised, which is what was wanted.
  }
}

/**
 * The numbers of PKCS#11 3.0 that signing needs. They are here because the package is loaded only if a signer
 * needs it.
 */

/** Attributes. */
export const CLASS = 0x0
export const LABEL = 0x3
export const ID = 0x102
export const EC_PARAMS = 0x180
export const EC_POINT = 0x181

/** Classes of objects. */
export const PUBLIC_KEY = 0x2
export const PRIVATE_KEY = 0x3

/** Mechanisms: ECDSA of a digest, and PureEdDSA of a message. */
export const ECDSA = 0x1041
export const EDDSA = 0x1057

/** The library may use the locks of the operating system, because calls run at the same time. */
const OS_LOCKING_OK = 0x2

/** Sessions read, and take part in the protocol of PKCS#11 at all. */
export const SERIAL_SESSION = 0x4

/** The normal user of a token, who may use its private keys. */
export const USER = 1

/** Flags of a token. */
export const PIN_FINAL_TRY = 0x20000
export const PIN_LOCKED = 0x40000

/**
 * The token did not accept the PIN. Tokens lock themselves after a few wrong ones, so there must be no
 * automatic retry.
 */
export class PinRefused extends RemoteFault {}

/** Return values about the PIN, with sentences that complete "PKCS#11 key …". */
const PIN_PROBLEMS: Readonly<Record<string, string>> = {
  CKR_PIN_INCORRECT: 'cannot be used: the PIN is wrong',
  CKR_PIN_INVALID: 'cannot be used: the PIN is wrong',
  CKR_PIN_LEN_RANGE: 'cannot be used: the PIN is wrong',
  CKR_PIN_LOCKED: 'cannot be used: its token is locked after too many wrong PINs',
  CKR_PIN_EXPIRED: 'cannot be used: the PIN has expired',
  CKR_USER_PIN_NOT_INITIALIZED: 'cannot be used: its token has no PIN of the user yet',
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

/**
 * Translates an error of the library. The message names the return value, so that the documentation of the
 * HSM can be found.
 */
export function toFault(error: unknown): RemoteFault {
  if (error instanceof RemoteFault) return error
  const name = error instanceof Error ? error.message : 'unknown error'
  const pin = PIN_PROBLEMS[name]
  if (pin !== undefined) return new PinRefused('refused', `${pin} (${name})`, { cause: error })
  const refusal = REFUSALS[name]
  if (refusal !== undefined) return new RemoteFault('refused', `${refusal} (${name})`, { cause: error })
  // Tokens come back: cables are plugged in, and connections of network HSMs are made again.
  const shown = name.startsWith('CKR_') ? ` (${name})` : ''
  return new RemoteFault('unavailable', `cannot be used: its token failed${shown}`, { cause: error })
}

/** Writes a failure for the process of the service. */
export function toMessage(error: unknown): ModuleFault {
  const fault = toFault(error)
  return { kind: fault.kind, message: fault.message, isPinRefused: fault instanceof PinRefused }
}
