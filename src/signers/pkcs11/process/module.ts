import type { KeyLocation, ModuleRequest, ModuleResult } from '../protocol.ts'
import { PinRefused, toFault } from './faults.ts'
import { type Library, loadLibrary, unloadLibrary } from './library.ts'
import { openToken, type Token } from './token.ts'

/** Answers questions about the keys of one PKCS#11 library. Rejects with a `RemoteFault`. */
export type Module = (request: ModuleRequest) => Promise<ModuleResult>

/** A call is made twice at most: tokens that were away, and were reset, want a new login. */
const MAX_ATTEMPTS = 2

/** Creates the module of a library; the first question loads it. */
export function createModule(path: string): Module {
  const tokens = new Map<string, Token>()
  const refused = new Map<string, PinRefused>()
  let library: Library | undefined
  let running = 0

  function tokenAt({ token, pin }: KeyLocation): Token {
    const name = JSON.stringify([token, pin])
    const known = tokens.get(name)
    if (known !== undefined) return known
    const refusal = refused.get(name)
    if (refusal !== undefined) throw refusal
    library ??= loadLibrary(path)
    try {
      const opened = openToken(library, { token, pin })
      tokens.set(name, opened)
      return opened
    } catch (error) {
      const fault = toFault(error)
      if (fault instanceof PinRefused) refused.set(name, fault)
      throw fault
    }
  }

  function forget(location: KeyLocation, token: Token | undefined): void {
    const name = JSON.stringify([location.token, location.pin])
    if (token === undefined || tokens.get(name) !== token) return
    tokens.delete(name)
    token.close()
  }

  /** Some libraries notice a token that came back only after a new beginning, which no call may overlap. */
  function restart(): void {
    if (running > 1) return
    tokens.clear()
    unloadLibrary(library)
    library = undefined
  }

  async function attempt({ location, payload }: ModuleRequest): Promise<ModuleResult> {
    let token: Token | undefined
    try {
      token = tokenAt(location)
      const pair = token.keyPair(location.key)
      if (payload === undefined) return { curve: pair.curve, bytes: pair.point }
      return { curve: pair.curve, bytes: await token.sign(pair, payload) }
    } catch (error) {
      const fault = toFault(error)
      // Handles are void after a token was away; whatever the library says then, the next attempt begins with a login.
      if (fault.kind !== 'refused') forget(location, token)
      throw fault
    }
  }

  return async (request) => {
    running += 1
    try {
      for (let number = 1; ; number += 1) {
        try {
          return await attempt(request)
        } catch (error) {
          const fault = toFault(error)
          if (fault.kind === 'refused') throw fault
          if (number >= MAX_ATTEMPTS) {
            restart()
            throw fault
          }
        }
      }
    } finally {
      running -= 1
    }
  }
}
