import hashWasm from 'hash-wasm/dist/keccak.umd.min.js'

// Compiled WebAssembly: JavaScript needs 50 to 120 ms for a mebibyte, during which no other request is served; this needs 9.
const hasher = await hashWasm.createKeccak(256)

/** Computes the Keccak-256 hash that Ethereum uses (not SHA3-256 of FIPS 202, which pads otherwise): 32 bytes. */
export function keccak256(bytes: Uint8Array): Uint8Array {
  return hasher.init().update(bytes).digest('binary')
}

/** Computes the Keccak-256 hash as `0x` and 64 lower-case hexadecimal digits. */
export function keccak256Hex(bytes: Uint8Array): `0x${string}` {
  return `0x${hasher.init().update(bytes).digest('hex')}`
}
