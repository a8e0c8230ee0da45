/** `npm run check`: everything that can be known without running the service. All are run, so one run shows all of it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

const bin = (name: string) => join(import.meta.dirname, '../node_modules/.bin', name)
const script = (name: string, ...args: string[]) => [
  process.execPath,
  join(import.meta.dirname, name),
  ...args,
]

/**
 * TypeScript 7 checks in half of the CPU time of 5.9, and on several cores. Libraries that read TypeScript, such as openapi-typescript, still
 * need 5.9, which is the package `typescript`.
 */
const tsc = join(import.meta.dirname, '../node_modules/typescript-native/bin/tsc')

const CHECKS: readonly (readonly [string, readonly string[]])[] = [
  ['types', [tsc, '--noEmit', '-p', '.']],
  ['types of the console', [tsc, '--noEmit', '-p', 'console']],
  ['lint and format', [bin('biome'), 'check', '--error-on-warnings']],
  ['contract lint', [bin('redocly'), 'lint', 'openapi.yaml']],
  ['contract form', script('check-contract.ts')],
  ['generated types', script('generate.ts', '--check')],
  ['generated database schema', script('dump-schema.ts', '--check')],
  ['benchmark tables', script('bench-table.ts', '--check')],
  ['import arrows', script('check-imports.ts')],
  ['layout', script('check-layout.ts')],
  ['words of names and sentences', script('check-words.ts')],
  ['licences of packages', script('licences.ts')],
  ['unused code', [bin('knip'), '--no-progress']],
]

/** One check: silent when it is green, everything it said when it is red. */
async function run([name, [file = '', ...args]]: (typeof CHECKS)[number]): Promise<boolean> {
  const startedAt = performance.now()
  const child = spawn(file, args, { cwd: join(import.meta.dirname, '..'), stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const collect = (chunk: Buffer) => {
    output += chunk.toString()
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  const [code] = await once(child, 'close')
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0).padStart(3)
  console.log(`${code === 0 ? 'ok  ' : 'FAIL'} ${seconds} s  ${name}`)
  if (code !== 0) console.log(output)
  return code === 0
}

/** Two checks run at a time, because the compiler takes as long as all others together. A third one would only need more memory. */
const LANES = 2

const waiting = [...CHECKS]
let red = 0

async function runWaiting(): Promise<void> {
  for (let check = waiting.shift(); check !== undefined; check = waiting.shift())
    if (!(await run(check))) red += 1
}

await Promise.all(Array.from({ length: LANES }, runWaiting))
process.exitCode = red === 0 ? 0 : 1
