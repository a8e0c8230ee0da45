import { createRequire } from 'node:module'
import { RemoteFault } from '../../remote/remote-key.ts'
import { OS_LOCKING_OK } from './numbers.ts'

/** A number of the library for a slot, a session or an object. */
export type Handle = Buffer

/** Attributes of an object; those without a value are asked for. */
export type Template = readonly { readonly type: number; readonly value?: Buffer | string | number }[]

/**
 * The functions of the package pkcs11js that signing needs, as PKCS#11 names them. Types of its own let this compile without the package,
 * which is native and installed only where an HSM is.
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
  C_SignAsync(session: Handle, data: Buffer, room: Buffer): Promise<Buffer>
}

/** @throws RemoteFault `refused` for a library that is not one, or a package that was not built */
export function loadLibrary(path: string): Library {
  const library = new (requirePackage().PKCS11)()
  try {
    library.load(path)
  } catch (cause) {
    throw new RemoteFault('refused', `cannot be asked: the library ${path} cannot be loaded`, { cause })
  }
  library.C_Initialize({ flags: OS_LOCKING_OK })
  return library
}

function requirePackage(): { readonly PKCS11: new () => Library } {
  try {
    return createRequire(import.meta.url)('pkcs11js')
  } catch (cause) {
    const remedy = 'build it with: npm rebuild pkcs11js (it needs a C++ compiler, make and Python 3)'
    throw new RemoteFault('refused', `cannot be asked: the package pkcs11js was not built; ${remedy}`, {
      cause,
    })
  }
}

/** Unloads a library, whatever its state. */
export function unloadLibrary(library: Library | undefined): void {
  try {
    library?.C_Finalize()
    library?.close()
  } catch {
    // It is not initialised, which is what was wanted.
  }
}
