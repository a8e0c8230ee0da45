/** A sentence that begins with the field and tells the expected value; undefined when nothing is wrong. */
export type Problem = string | undefined

/** Decodes base64; undefined for other text, and for text that is not the canonical encoding of its bytes. */
export function readBase64(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? Uint8Array.from(bytes) : undefined
}
