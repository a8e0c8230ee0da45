/** Returns ` (did you mean "x"?)` for the nearest known word, or an empty text when none is near. */
export function suggest(word: string, known: Iterable<string>): string {
  // A third of the letters may be wrong; a word with more differences is another word.
  const most = Math.max(1, Math.floor(word.length / 3))
  let best: { name: string; distance: number } | undefined
  for (const name of known) {
    // No comparison can help here, and a word of a megabyte would block the process for seconds.
    if (Math.abs(name.length - word.length) > most) continue
    const distance = editDistance(word.toLowerCase(), name.toLowerCase())
    if (distance <= most && (!best || distance < best.distance)) best = { name, distance }
  }
  return best ? ` (did you mean "${best.name}"?)` : ''
}

/**
 * Counts the letters that are wrong, missing or superfluous; two neighbours in the wrong order count once
 * (optimal string alignment).
 */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (before[j - 2] ?? 0) + 1 : replaced
      next.push(Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    ;[before, row] = [row, next]
  }
  return row[b.length] ?? 0
}
