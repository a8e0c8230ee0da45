/** The id of a custom section of a WebAssembly module (core specification, binary format of modules). */
const CUSTOM = 0

/** The magic number and the version, in bytes. */
const HEADER_BYTES = 8

/** A number with more bytes does not fit 32 bits (LEB128). */
const MAX_NUMBER_BYTES = 5

/** Returns the content of the custom sections of this name, joined; undefined when there is none, or the bytes are no module. */
export function customSection(wasm: Uint8Array, name: string): Uint8Array | undefined {
  const found: Uint8Array[] = []
  let at = HEADER_BYTES
  while (at < wasm.length) {
    const size = readNumber(wasm, at + 1)
    const end = size === undefined ? Number.NaN : size.end + size.value
    if (size === undefined || !(end <= wasm.length)) return undefined
    if (wasm[at] === CUSTOM) found.push(...contentOf(wasm.subarray(size.end, end), name))
    at = end
  }
  return found.length === 0 ? undefined : Buffer.concat(found)
}

/** A custom section begins with its name. */
function contentOf(section: Uint8Array, name: string): Uint8Array[] {
  const length = readNumber(section, 0)
  if (length === undefined) return []
  const end = length.end + length.value
  const isNamed = Buffer.from(section.subarray(length.end, end)).equals(Buffer.from(name))
  return isNamed ? [section.subarray(end)] : []
}

function readNumber(bytes: Uint8Array, at: number): { value: number; end: number } | undefined {
  let value = 0
  for (let index = 0; index < MAX_NUMBER_BYTES; index += 1) {
    const byte = bytes[at + index]
    if (byte === undefined) return undefined
    value += (byte & 0x7f) * 2 ** (7 * index)
    if (byte < 0x80) return { value, end: at + index + 1 }
  }
  return undefined
}
