import { createHash } from 'node:crypto'
import hashWasm from 'hash-wasm/dist/keccak.umd.min.js'
import { toExactJson } from './json.ts'
import { mapFields } from './object.ts'

/** Returns the SHA-256, in hex, of a value as JSON. It ignores the order of fields, and undefined fields. */
export function fingerprintOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex')
}

/**
 * Writes a value as JSON without spaces, its fields in the order of their names, and without undefined
 * fields.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(toExactJson(value)))
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return mapFields(value, sorted, Object.keys(value).sort())
}

// Compiled WebAssembly: JavaScript needs 50 to 120 ms for a mebibyte, during which no other request is
// served; this needs 9.
const hasher = await hashWasm.createKeccak(256)

/**
 * Computes the Keccak-256 hash that Ethereum uses (not SHA3-256 of FIPS 202, which pads otherwise): 32 bytes.
 */
export function keccak256(bytes: Uint8Array): Uint8Array {
  return hasher.init().update(bytes).digest('binary')
}

/** Computes the Keccak-256 hash as `0x` and 64 lower-case hexadecimal digits. */
export function keccak256Hex(bytes: Uint8Array): `0x${string}` {
  return `0x${hasher.init().update(bytes).digest('hex')}`
}
