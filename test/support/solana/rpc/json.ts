/** Not yet in TypeScript's library; V8 has it. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown }

/** JSON with integers of any size as numbers, as Solana's nodes write u64. */
export function writeJson(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) =>
    typeof item === 'bigint' ? rawJSON(String(item)) : item,
  )
}
