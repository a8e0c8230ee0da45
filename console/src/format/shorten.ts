/** Shortens a hash or an address to its two ends, by which people compare them. A text that is short anyway stays whole. */
export function shorten(text: string, ends = 6): string {
  return text.length <= ends * 2 + 3 ? text : `${text.slice(0, ends + 2)}…${text.slice(-ends)}`
}
