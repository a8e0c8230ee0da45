// The package declares no types for the file of one algorithm, which has 11 kB; the whole package would take
// 25 ms of the start.
declare module 'hash-wasm/dist/keccak.umd.min.js' {
  import type { createKeccak } from 'hash-wasm'

  const hashWasm: { readonly createKeccak: typeof createKeccak }
  export = hashWasm
}
