/** A sentence that begins with the field and tells what was expected; undefined when nothing is wrong. */
export type Problem = string | undefined

/** The bytes of a text in base64; undefined when it is none, or says the same in another way than everybody writes it. */
export function readBase64(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? Uint8Array.from(bytes) : undefined
}
