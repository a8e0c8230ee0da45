import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { SHOWN_STEPS, selectLines } from '../../scripts/terminal/select-lines.ts'
import { terminalSvg } from '../../scripts/terminal/terminal-svg.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const SVG = join(ROOT, 'docs/terminal.svg')

const OUTPUT = `
 1. Start a chain  (0.1 s)
      JSON-RPC     http://127.0.0.1:1

 2. Start the service  (0.2 s)
      API          http://127.0.0.1:2

10. EVM: send 1 ether  (1.0 s)
      hash         0x1

Sent.

11. Stellar: pay  (2.0 s)
      hash         0x2

Paid.
`

describe('the lines of the picture', () => {
  test('are those of the shown steps and their results; what is left out between them is counted', () => {
    expect(selectLines('npm run demo', OUTPUT)).toEqual([
      { kind: 'command', text: 'npm run demo' },
      { kind: 'cut', text: '⋮ 2 lines' },
      { kind: 'step', text: ' 2. Start the service  (0.2 s)' },
      { kind: 'fact', text: '      API          http://127.0.0.1:2' },
      { kind: 'step', text: '10. EVM: send 1 ether  (1.0 s)' },
      { kind: 'fact', text: '      hash         0x1' },
      { kind: 'result', text: 'Sent.' },
      { kind: 'cut', text: '⋮ 3 lines' },
    ])
  })

  test('stand in the picture as they are, with a title for those who do not see it', () => {
    const lines = [{ kind: 'fact', text: `  <a & b> ${'x'.repeat(200)}` }] as const
    const svg = terminalSvg(lines, { title: 'A & B', description: 'C < D' })
    expect(svg).toContain('<title id="title">A &amp; B</title>')
    expect(svg).toContain('<desc id="description">C &lt; D</desc>')
    expect(svg).toMatch(/> {2}&lt;a &amp; b&gt; x+…<\/text>/)
  })
})

describe('docs/terminal.svg', () => {
  const svg = readFileSync(SVG, 'utf8')

  test('is small, needs no other file, and follows the colours of the reader', () => {
    expect(svg.length).toBeLessThan(60_000)
    expect(svg.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/href|url\(|@import|<script|<image/)
    expect(svg).toContain('prefers-color-scheme: dark')
    expect(svg).toMatch(/role="img" aria-labelledby="title description"/)
  })

  test('shows every step that it should, and the demo still has these steps', () => {
    const folder = join(ROOT, 'scripts/demo')
    const sources = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
    const titles = [...svg.matchAll(/class="step"[^>]*> ?\d+\. (.*?) {2}\(/g)].map(([, title = '']) => title)
    expect(titles).toHaveLength(SHOWN_STEPS.length)
    // Numbers in a title may be computed.
    const parts = titles.flatMap((title) => title.split(/\d+/)).map((part) => part.trim())
    expect(parts.filter((part) => !sources.some((source) => source.includes(part)))).toEqual([])
  })

  test('is shown by the README', () => {
    expect(readFileSync(join(ROOT, 'README.md'), 'utf8')).toContain('(docs/terminal.svg)')
    expect(existsSync(SVG)).toBe(true)
  })
})
