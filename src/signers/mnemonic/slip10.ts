import { createHmac } from 'node:crypto'

/** The key of the first HMAC (SLIP-10). */
const ED25519_CURVE = 'ed25519 seed'

/** Marks a hardened index; ed25519 has no others. */
const HARDENED = 0x80000000

const KEY_BYTES = 32

/** Derives the ed25519 private key of a path of hardened indexes from a seed (SLIP-10), e.g. `[44, 148, 0]` for m/44'/148'/0'. */
export function deriveEd25519Seed(seed: Uint8Array, path: readonly number[]): Uint8Array {
  const master = hmac(Buffer.from(ED25519_CURVE), seed)
  const derived = path.reduce((node, index) => {
    const data = Buffer.alloc(1 + KEY_BYTES + 4)
    node.copy(data, 1, 0, KEY_BYTES)
    data.writeUInt32BE(HARDENED + index, 1 + KEY_BYTES)
    return hmac(node.subarray(KEY_BYTES), data)
  }, master)
  return Uint8Array.from(derived.subarray(0, KEY_BYTES))
}

function hmac(key: Uint8Array, data: Uint8Array): Buffer {
  return createHmac('sha512', key).update(data).digest()
}
