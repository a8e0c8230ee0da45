import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { getAddress } from 'viem/utils'
import { keccak256Hex } from '../lib/hash.ts'
import type { Secp256k1Signer } from './signer.ts'

const KEY_BYTES = 32
const DIGEST_BYTES = 32

/** Accepts 32 bytes that are a number from 1 to the order of the curve less one. */
export function isPrivateKey(bytes: Uint8Array): boolean {
  return bytes.length === KEY_BYTES && libsecp256k1().privateKeyVerify(bytes)
}

/**
 * Creates a signer that keeps its key in this process, in a closure that no inspection of the object reaches.
 * `privateKey` must satisfy `isPrivateKey`; it is copied.
 */
export function createSecp256k1Signer(id: string, privateKey: Uint8Array): Secp256k1Signer {
  if (!isPrivateKey(privateKey)) throw new Error(`The bytes of signer "${id}" are not a secp256k1 key.`)
  const secp256k1 = libsecp256k1()
  const key = Uint8Array.from(privateKey)
  return Object.freeze({
    curve: 'secp256k1',
    id,
    publicKey: secp256k1.publicKeyCreate(key, false),
    async sign(digest: Uint8Array) {
      if (digest.length !== DIGEST_BYTES) throw new Error(`A digest has ${DIGEST_BYTES} bytes.`)
      // libsecp256k1 derives its nonce by RFC 6979 and always gives the lower s.
      const { signature, recid } = secp256k1.ecdsaSign(digest, key)
      return { r: signature.slice(0, 32), s: signature.slice(32), recovery: recid === 0 ? 0 : 1 }
    },
  } satisfies Secp256k1Signer)
}

type Library = typeof import('secp256k1')

let loaded: Library | undefined

/**
 * Returns the binding of libsecp256k1. The package itself would fall back to an implementation in JavaScript
 * without a word, which is slower and not protected against timing attacks.
 * @throws Error if the addon was not built for this machine
 */
export function libsecp256k1(): Library {
  loaded ??= load()
  return loaded
}

function load(): Library {
  const library = requireBinding()
  // The random context blinds the library's multiplications, so that their timing reveals nothing about a
  // key.
  library.contextRandomize(randomBytes(32))
  return library
}

function requireBinding(): Library {
  try {
    return createRequire(import.meta.url)('secp256k1/bindings.js')
  } catch (cause) {
    const detail = `The native addon of the package secp256k1 is missing for ${process.platform}-${process.arch}. Build it with: npm rebuild secp256k1 (it needs a C++ compiler, make and Python 3).`
    throw new Error(detail, { cause })
  }
}

/**
 * The prefix of an uncompressed public key has one byte; an address is the last 20 of the 32 bytes of the
 * hash of the rest.
 */
const PREFIX_BYTES = 1
const ADDRESS_DIGITS = 40

/** The EIP-55 address of an uncompressed secp256k1 public key (65 bytes, starting with 0x04). */
export function evmAddress(publicKey: Uint8Array): string {
  return getAddress(`0x${keccak256Hex(publicKey.subarray(PREFIX_BYTES)).slice(-ADDRESS_DIGITS)}`)
}
