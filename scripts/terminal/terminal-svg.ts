import type { Line } from './select-lines.ts'

/** A longer line is cut at this column and ends with an ellipsis. */
const COLUMNS = 106

/** Sizes in units of the picture. A character of the common monospace fonts is 0.6 of its size wide. */
const FONT_SIZE = 13
const CHARACTER_WIDTH = FONT_SIZE * 0.6
const LINE_HEIGHT = 18
const PADDING = 16
const BAR_HEIGHT = 28

const STYLE = `
svg { --back: #ffffff; --bar: #eaeef2; --edge: #d0d7de; --fact: #57606a; --step: #1f2328; --result: #116329; --command: #0550ae; }
@media (prefers-color-scheme: dark) {
svg { --back: #0d1117; --bar: #161b22; --edge: #30363d; --fact: #9198a1; --step: #f0f6fc; --result: #7ee787; --command: #79c0ff; }
}
text { font: ${FONT_SIZE}px ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; white-space: pre; }
.fact, .cut { fill: var(--fact); } .step { fill: var(--step); font-weight: 600; } .result { fill: var(--result); } .command { fill: var(--command); }
`.trim()

interface Description {
  readonly title: string
  readonly description: string
}

/** Draws lines as a picture of a terminal, light or dark as the reader's system. It needs no other file. */
export function terminalSvg(lines: readonly Line[], { title, description }: Description): string {
  const width = Math.ceil(COLUMNS * CHARACTER_WIDTH + 2 * PADDING)
  const tops = topsOf(lines)
  const height = (tops.at(-1) ?? BAR_HEIGHT) + PADDING
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title description">
<title id="title">${escapeXml(title)}</title>
<desc id="description">${escapeXml(description)}</desc>
<style>${STYLE}</style>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" fill="var(--back)" stroke="var(--edge)"/>
<path d="M1 ${BAR_HEIGHT}V8.500a7.500 7.500 0 0 1 7.500-7.500H${width - 8.5}a7.500 7.500 0 0 1 7.500 7.500V${BAR_HEIGHT}z" fill="var(--bar)"/>
${lines.map((line, index) => textOf(line, tops[index] ?? 0)).join('\n')}
</svg>
`
}

/** The base lines. Half an empty line stands above each step. */
function topsOf(lines: readonly Line[]): number[] {
  let y = BAR_HEIGHT + PADDING / 2
  return lines.map(({ kind }, index) => {
    const isBlock = index > 0 && (kind === 'step' || kind === 'cut' || kind === 'result')
    y += LINE_HEIGHT + (isBlock ? LINE_HEIGHT / 2 : 0)
    return y
  })
}

function textOf({ kind, text }: Line, y: number): string {
  const prompt = kind === 'command' ? '$ ' : ''
  return `<text class="${kind}" x="${PADDING}" y="${y}" xml:space="preserve">${escapeXml(shorten(prompt + text))}</text>`
}

function shorten(text: string): string {
  return text.length <= COLUMNS ? text : `${text.slice(0, COLUMNS - 1)}…`
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
