/**
 * Changes the code in small ways and reports the changes that no test notices (mutation testing, https://stryker-mutator.io).
 *
 *     npm run mutate -- src/security
 *     npm run mutate -- src/transactions/watch src/transactions/replace
 *     npm run mutate -- src/chains/evm/prepare/fees.ts --tests test/chains/evm
 *     npm run mutate -- src/transactions --sample 80 --seed 7
 *
 * A whole folder that needs a database takes hours; `--sample` changes only so many random lines of it, the same ones for the same seed.
 *
 * Each folder or file is tested by the tests of its part: `src/security/…` by `test/security`, `src/chains/evm/…` by `test/chains/evm`.
 * Fails below a score of 85 %.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRandom } from '../test/support/random.ts'
import { readOptions } from './read-options.ts'

/** The least share of noticed changes, in percent. */
const LEAST_SCORE = 85

/** Mutants tested at the same time; each runs its own tests. */
const CONCURRENCY = '2'

const { values, positionals } = readOptions({
  options: {
    tests: { type: 'string', multiple: true },
    concurrency: { type: 'string', default: CONCURRENCY },
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
  allowPositionals: true,
})
if (positionals.length === 0)
  throw new Error('Name what to change, for instance: npm run mutate -- src/security')

const root = join(import.meta.dirname, '..')
const folder = await mkdtemp(join(tmpdir(), 'mutate-'))
const config = join(folder, 'stryker.config.json')
await writeFile(config, JSON.stringify(configOf(positionals), null, 2))
const child = spawn(
  process.execPath,
  [join(root, 'node_modules/@stryker-mutator/core/bin/stryker.js'), 'run', config],
  {
    cwd: root,
    env: { ...process.env, MUTATION_TESTS: (values.tests ?? positionals.map(testsOf)).join(',') },
    stdio: 'inherit',
  },
)
const [code] = await once(child, 'exit')
await rm(folder, { recursive: true })
process.exitCode = Number(code)

function configOf(paths: readonly string[]) {
  return {
    testRunner: 'vitest',
    vitest: { configFile: 'vitest.config.ts' },
    mutate: values.sample === undefined ? paths.map(patternOf) : sampleOf(paths, Number(values.sample)),
    // Only a test that reaches a change can notice it.
    coverageAnalysis: 'perTest',
    // Changes of constants that are evaluated once would need a run of all tests each.
    ignoreStatic: true,
    concurrency: Number(values.concurrency),
    timeoutMS: 30_000,
    // The tests of a folder run once before; on a busy machine they take longer than the five minutes of the default.
    dryRunTimeoutMinutes: 30,
    thresholds: { high: 95, low: LEAST_SCORE, break: LEAST_SCORE },
    reporters: ['clear-text', 'progress'],
    clearTextReporter: { allowColor: false, reportTests: false },
    tempDirName: join(folder, 'work'),
    // Stryker copies the project, and fails on the links of a virtual environment.
    ignorePatterns: ['.venv', 'dist', 'coverage'],
    allowConsoleColors: false,
    checkers: [],
  }
}

function patternOf(path: string): string {
  return path.endsWith('.ts') ? path : `${path.replace(/\/$/, '')}/**/*.ts`
}

/** Draws lines of code, which Stryker takes as `file:first-last`. */
function sampleOf(paths: readonly string[], count: number): string[] {
  const lines = paths.flatMap((path) => globSync(patternOf(path), { cwd: root })).flatMap(codeLinesOf)
  const random = createRandom(Number(values.seed))
  return Array.from({ length: Math.min(count, lines.length) }, () => {
    const [line = ''] = lines.splice(random.int(0, lines.length - 1), 1)
    return line
  })
}

/** The lines in which something can be changed: not those of imports, comments and types. */
function codeLinesOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8').split('\n')
  return text.flatMap((line, index) =>
    /^\s*(import|export (interface|type)|interface|type|readonly|\*|\/\*|\/\/|[\])}]*,?$)/.test(line)
      ? []
      : [`${file}:${index + 1}-${index + 1}`],
  )
}

/** `src/transactions/watch/resolve.ts` → `test/transactions`, `src/chains/evm/prepare` → `test/chains/evm`. */
function testsOf(path: string): string {
  const [, part = '', chain = ''] = path.split('/')
  return part === 'chains' && chain !== '' && !chain.endsWith('.ts') ? `test/chains/${chain}` : `test/${part}`
}
