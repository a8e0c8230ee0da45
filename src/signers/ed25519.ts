import { createPrivateKey, createPublicKey, hkdfSync, sign } from 'node:crypto'
import { promisify } from 'node:util'
import type { DerivingSigner } from './signer.ts'

const SEED_BYTES = 32

/** The bytes that PKCS #8 puts before the 32 bytes of an Ed25519 private key (RFC 8410 §7). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

/** The salt separates derived keys from every other use of the seed. */
const DERIVATION_SALT = 'relayer/ed25519/1'

const signAsync = promisify(sign)

/**
 * Creates a signer that keeps its key in this process, in a closure that no inspection of the object reaches. `seed` is the 32-byte
 * private key of RFC 8032; it is copied.
 */
export function createEd25519Signer(id: string, seed: Uint8Array): DerivingSigner {
  if (seed.length !== SEED_BYTES) throw new Error(`The bytes of signer "${id}" are not an ed25519 seed.`)
  const own = Uint8Array.from(seed)
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, own]), format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  return Object.freeze({
    curve: 'ed25519',
    id,
    publicKey: new Uint8Array(Buffer.from(x, 'base64url')),
    sign: async (message: Uint8Array) => new Uint8Array(await signAsync(null, message, key)),
    derive: (name: string) =>
      createEd25519Signer(
        `${id}/${name}`,
        new Uint8Array(hkdfSync('sha256', own, DERIVATION_SALT, name, SEED_BYTES)),
      ),
  } satisfies DerivingSigner)
}
