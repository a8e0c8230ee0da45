import { RemoteFault } from '../../remote/remote-key.ts'
import type { Curve } from '../../signer.ts'
import { describeToken, type KeyLocation, type KeySelector, type TokenSelector } from '../protocol.ts'
import { findKeyPair, type KeyPair } from './key-pair.ts'
import type { Handle, Library } from './library.ts'
import { logIn } from './login.ts'
import { ECDSA, EDDSA } from './numbers.ts'
import { openSessions } from './sessions.ts'

/** A token with a logged-in user. */
export interface Token {
  keyPair(key: KeySelector): KeyPair
  sign(pair: KeyPair, payload: Uint8Array): Promise<Uint8Array>
  /** Closes its sessions; calls that run fail. */
  close(): void
}

/** Room for a signature, in bytes. Both curves need 64. */
const SIGNATURE_ROOM = 256

const MECHANISMS: Readonly<Record<Curve, number>> = { secp256k1: ECDSA, ed25519: EDDSA }

/**
 * Opens a token and logs in.
 * @throws RemoteFault `unavailable` when the token is not there: it may come back
 */
export function openToken(library: Library, { token, pin }: Omit<KeyLocation, 'key'>): Token {
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
        // The call runs in a thread of its own, so that other sessions of a slow HSM sign meanwhile.
        const room = Buffer.alloc(SIGNATURE_ROOM)
        return Uint8Array.from(await library.C_SignAsync(own, Buffer.from(payload), room))
      }),
  }
}

function findSlot(library: Library, token: TokenSelector): Handle {
  const [slot, another] = library.C_GetSlotList(true).filter((candidate) => {
    if ('slot' in token) return candidate.readBigUInt64LE() === BigInt(token.slot)
    return library.C_GetTokenInfo(candidate).label.trimEnd() === token.label
  })
  if (slot === undefined)
    throw new RemoteFault('unavailable', `cannot be asked: there is no ${describeToken(token)} now`)
  if (another !== undefined)
    throw new RemoteFault('refused', 'cannot be asked: several tokens have this label; name the slot')
  return slot
}
