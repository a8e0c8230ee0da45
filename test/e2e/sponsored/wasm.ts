/** Different bytes for each number, that look like a module. */
export function createWasm(number: number): Uint8Array {
  return Buffer.concat([Buffer.from('0061736d01000000', 'hex'), Buffer.from([number])])
}
