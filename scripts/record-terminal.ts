/** `npm run record`: runs the demo, and draws what it says as docs/terminal.svg, the picture at the top of the README. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { selectLines } from './terminal/select-lines.ts'
import { terminalSvg } from './terminal/terminal-svg.ts'

const FILE = join(import.meta.dirname, '../docs/terminal.svg')

const child = spawn(process.execPath, [join(import.meta.dirname, 'demo.ts')], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
const [output] = await Promise.all([text(child.stdout), once(child, 'close')])
if (child.exitCode !== 0) throw new Error(`The demo ended with ${child.exitCode}:\n${output}`)
writeFileSync(
  FILE,
  terminalSvg(selectLines('npm run demo', output), {
    title: 'The demo in a terminal',
    description:
      'The demo starts the service, sends 1 ether with a low fee, replaces it with 2 ether while it waits, mines a block, and shows that the replacement was included, that the first transaction never was, and that one nonce was used. It ends with the same on Solana.',
  }),
)
