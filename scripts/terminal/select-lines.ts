/** A line of the picture. `cut` stands for lines of the output that the picture leaves out. */
export interface Line {
  readonly kind: 'command' | 'step' | 'fact' | 'result' | 'cut'
  readonly text: string
}

/** The steps of the demo that the picture shows, by the beginnings of their titles. */
export const SHOWN_STEPS = [
  'Start the service',
  'EVM: send',
  'EVM: replace',
  'EVM: mine',
  'Solana: 160 blocks later',
] as const

/** The step number, its title and its time. */
const STEP = /^ ?\d+\. (.*?) {2}\(\d+\.\d s\)$/

/**
 * Chooses the lines of the demo's output that fit into a picture, in their order. Whatever is left out between them becomes one line that
 * says how much it is.
 */
export function selectLines(command: string, output: string): Line[] {
  const sections = output
    .trim()
    .split(/\n\n+/)
    .map((text) => text.split('\n'))
  const lines: Line[] = [{ kind: 'command', text: command }]
  let left = 0
  for (const section of sections) {
    const chosen = isShown(section[0] ?? '', lines, left)
    if (!chosen) {
      left += section.length
      continue
    }
    if (left > 0) lines.push({ kind: 'cut', text: `⋮ ${left} lines` })
    left = 0
    lines.push(...section.map(toLine))
  }
  return left > 0 ? [...lines, { kind: 'cut', text: `⋮ ${left} lines` }] : lines
}

/** A sentence without a number is the result of the steps before it, and is shown where these are. */
function isShown(first: string, before: readonly Line[], left: number): boolean {
  const title = STEP.exec(first)?.[1]
  if (title === undefined) return left === 0 && before.length > 1
  return SHOWN_STEPS.some((start) => title.startsWith(start))
}

function toLine(text: string): Line {
  if (STEP.test(text)) return { kind: 'step', text }
  return { kind: text.startsWith(' ') ? 'fact' : 'result', text }
}
