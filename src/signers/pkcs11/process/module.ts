import { limitConcurrency } from '../../../lib/concurrency/limit-concurrency.ts'
import { RemoteFault } from '../../remote/remote-key.ts'
import type { Curve } from '../../signer.ts'
import {
  describeToken,
  type KeyLocation,
  type KeySelector,
  type ModuleRequest,
  type ModuleResult,
  type TokenSelector,
} from '../protocol.ts'
import {
  CLASS,
  EC_PARAMS,
  EC_POINT,
  ECDSA,
  EDDSA,
  type Handle,
  ID,
  LABEL,
  type Library,
  loadLibrary,
  PIN_FINAL_TRY,
  PIN_LOCKED,
  PinRefused,
  PRIVATE_KEY,
  PUBLIC_KEY,
  SERIAL_SESSION,
  type Template,
  toFault,
  USER,
  unloadLibrary,
} from './library.ts'

/** Answers questions about the keys of one PKCS#11 library. Rejects with a `RemoteFault`. */
type Module = (request: ModuleRequest) => Promise<ModuleResult>

/** A call is made at most twice: tokens that were removed or reset require a new login. */
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
      // Handles are invalid after a token was removed; regardless of the library's reply, the next attempt
      // begins with a login.
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

/** A token with a logged-in user. */
interface Token {
  keyPair(key: KeySelector): KeyPair
  sign(pair: KeyPair, payload: Uint8Array): Promise<Uint8Array>
  /** Closes its sessions; calls that run fail. */
  close(): void
}

/** Room for a signature, in bytes. Both curves need 64. */
const SIGNATURE_BUFFER_BYTES = 256

const MECHANISMS: Readonly<Record<Curve, number>> = { secp256k1: ECDSA, ed25519: EDDSA }

/**
 * Opens a token and logs in.
 * @throws RemoteFault `unavailable` if the token is not there: it may come back
 */
function openToken(library: Library, { token, pin }: Omit<KeyLocation, 'key'>): Token {
  const slot = findSlot(library, token)
  const { first: session, run, close } = openSessions(library, slot)
  const pairs = new Map<string, KeyPair>()
  try {
    logIn(library, { slot, session, pin })
  } catch (error) {
    close()
    throw error
  }
  return {
    close,
    keyPair: (key) => {
      const name = JSON.stringify(key)
      const pair = pairs.get(name) ?? findKeyPair({ library, session }, key)
      pairs.set(name, pair)
      return pair
    },
    sign: ({ curve, privateKey }, payload) =>
      run(async (own) => {
        library.C_SignInit(own, { mechanism: MECHANISMS[curve] }, privateKey)
        // The call runs in a separate thread, so that other sessions of a slow HSM can sign at the same time.
        const output = Buffer.alloc(SIGNATURE_BUFFER_BYTES)
        return Uint8Array.from(await library.C_SignAsync(own, Buffer.from(payload), output))
      }),
  }
}

function findSlot(library: Library, token: TokenSelector): Handle {
  const [slot, another] = library.C_GetSlotList(true).filter((candidate) => {
    if ('slot' in token) return candidate.readBigUInt64LE() === BigInt(token.slot)
    return library.C_GetTokenInfo(candidate).label.trimEnd() === token.label
  })
  if (slot === undefined)
    throw new RemoteFault('unavailable', `cannot be used: there is no ${describeToken(token)} now`)
  if (another !== undefined)
    throw new RemoteFault('refused', 'cannot be used: several tokens have this label; name the slot')
  return slot
}

/**
 * Logs in as the user of a token. There is no login to a token that the next wrong PIN would lock: a service
 * that keeps restarting must not use up the attempts.
 * @throws PinRefused
 */
function logIn(
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
  if ((flags & PIN_LOCKED) !== 0) return 'cannot be used: its token is locked after too many wrong PINs'
  if ((flags & PIN_FINAL_TRY) !== 0)
    return 'cannot be used: its token allows one more wrong PIN before it locks itself; log in with the right one by another tool first'
  return undefined
}

/** The sessions of a token. One stays open, because a login ends with the last session; the others sign. */
interface Sessions {
  readonly first: Handle
  /** Runs work in an exclusive session. */
  run<T>(work: (session: Handle) => Promise<T>): Promise<T>
  /** Closes all of them; work that runs fails. */
  close(): void
}

/**
 * Simultaneous signatures of a token. Each uses a session, of which small HSMs have few, and one of Node's
 * four threads.
 */
const MAX_SESSIONS = 4

/** Opens the first session; the others follow when they are needed. */
function openSessions(library: Library, slot: Handle): Sessions {
  const open = new Set<Handle>()
  const idle: Handle[] = []
  const inTurn = limitConcurrency(MAX_SESSIONS)
  const first = openOne()

  function openOne(): Handle {
    const session = library.C_OpenSession(slot, SERIAL_SESSION)
    open.add(session)
    return session
  }

  /** Handles can be given out again, so none is closed twice. */
  function closeOne(session: Handle): void {
    if (!open.delete(session)) return
    try {
      library.C_CloseSession(session)
    } catch {
      // The token went away, and its sessions with it.
    }
  }

  return {
    first,
    run: (work) =>
      inTurn(async () => {
        const session = idle.pop() ?? openOne()
        try {
          const result = await work(session)
          idle.push(session)
          return result
        } catch (error) {
          // It can have an operation under way.
          closeOne(session)
          throw error
        }
      }),
    close: () => [...open].forEach(closeOne),
  }
}

/** A key pair as a token has it. */
interface KeyPair {
  readonly curve: Curve
  /** Valid while the session that found it is open. */
  readonly privateKey: Handle
  /** The attribute CKA_EC_POINT. */
  readonly point: Uint8Array
}

/**
 * The names of curves in CKA_EC_PARAMS, in DER: object identifiers (SEC 2, RFC 8410, GnuPG) and a name
 * (PKCS#11 3.0).
 */
const CURVES: Readonly<Record<string, Curve>> = {
  '06052b8104000a': 'secp256k1',
  '06032b6570': 'ed25519',
  '06092b06010401da470f01': 'ed25519',
  '130c656477617264733235353139': 'ed25519',
}

/** Two are enough to see that a selector is ambiguous. */
const MAX_FOUND = 2

interface Session {
  readonly library: Library
  readonly session: Handle
}

/**
 * Finds a key pair. The public key is beside the private one with the same label or id, as HSM tools create
 * it.
 * @throws RemoteFault `refused` if there is none, when there are several, and for an unsupported curve
 */
function findKeyPair(at: Session, key: KeySelector): KeyPair {
  const selector: Template = [
    'label' in key ? { type: LABEL, value: key.label } : { type: ID, value: Buffer.from(key.id, 'hex') },
  ]
  const privateKey = findOne(at, [{ type: CLASS, value: PRIVATE_KEY }, ...selector], 'private key')
  const publicKey = findOne(at, [{ type: CLASS, value: PUBLIC_KEY }, ...selector], 'public key')
  const [params, point] = at.library.C_GetAttributeValue(at.session, publicKey, [
    { type: EC_PARAMS },
    { type: EC_POINT },
  ])
  const curve = CURVES[params?.value.toString('hex') ?? '']
  if (curve === undefined || point === undefined)
    throw new RemoteFault('refused', 'is of an unsupported curve: it must be secp256k1 or ed25519')
  return { curve, privateKey, point: Uint8Array.from(point.value) }
}

function findOne(at: Session, template: Template, what: string): Handle {
  const [found, another] = find(at, template)
  if (found === undefined) throw new RemoteFault('refused', `does not exist: its token has no such ${what}`)
  if (another !== undefined)
    throw new RemoteFault(
      'refused',
      `is not the only one: its token has more than one such ${what}; name its key_id`,
    )
  return found
}

function find({ library, session }: Session, template: Template): Handle[] {
  library.C_FindObjectsInit(session, template)
  try {
    return library.C_FindObjects(session, MAX_FOUND)
  } finally {
    library.C_FindObjectsFinal(session)
  }
}
