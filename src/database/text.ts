/**
 * Makes the text of others storable: U+FFFD replaces zero bytes and lone surrogates, because PostgreSQL refuses the whole statement that contains
 * one. Text that must come back unchanged uses `exact-json.ts`.
 */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\ufffd')
}
