const startedAt = Date.now()
let steps = 0

/** How the demo speaks: numbered steps with the seconds since the start, indented facts below them. */
export const say = {
  step(text: string) {
    steps += 1
    const seconds = ((Date.now() - startedAt) / 1000).toFixed(1)
    console.log(`\n${String(steps).padStart(2)}. ${text}  (${seconds} s)`)
  },
  fact(name: string, value: unknown) {
    console.log(`      ${name.padEnd(12)} ${String(value)}`)
  },
  line(text = '') {
    console.log(text)
  },
  failure(error: unknown) {
    console.error(`\nThe demo failed: ${error instanceof Error ? error.message : String(error)}`)
  },
}

/** Ends the demo with a reason when something is not as the story says. */
export function must(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new Error(otherwise)
}
