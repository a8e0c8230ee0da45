/**
 * Words of others as the database can keep them: U+FFFD stands for a zero byte and for half a surrogate pair, both of which
 * PostgreSQL refuses, with everything that is written in the same statement. What has to come back as it was goes through
 * `exact-json.ts`.
 */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\ufffd')
}
