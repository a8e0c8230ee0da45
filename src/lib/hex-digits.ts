/**
 * Writes bytes as lower-case hexadecimal digits, two for each byte, without a prefix. Node.js does it in native code: a loop that joins texts
 * leaves one text per byte as garbage.
 */
export function hexDigits(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}
