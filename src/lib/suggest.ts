/** Returns ` (did you mean "x"?)` for the nearest known word, or an empty text when none is near. */
export function suggest(word: string, known: Iterable<string>): string {
  let best: { name: string; distance: number } | undefined
  for (const name of known) {
    const distance = editDistance(word.toLowerCase(), name.toLowerCase())
    if (!best || distance < best.distance) best = { name, distance }
  }
  // A third of the letters may be wrong; a word with more differences is another word.
  return best && best.distance <= Math.max(1, Math.floor(word.length / 3))
    ? ` (did you mean "${best.name}"?)`
    : ''
}

/** Computes Levenshtein's distance, one row of the table at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (const [j, other] of [...b].entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
