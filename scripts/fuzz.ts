/**
 * Fuzzes the whole contract against a running service with a chain of each kind and real relayers and transactions behind it: first
 * schemathesis with all phases, all checks and the key that can do everything, then shorter with a key that sees one relayer, whose
 * answers must not show the others. Needs Python 3 for the tool itself, which goes into .venv.
 * Arguments are handed on, for example `npm run fuzz -- --seed 7`; with `--docker` the tool comes from its image instead, and
 * `--narrow-key` leaves out the first run. `--deep` tries many more examples of each operation and many more walks along the links: CI makes
 * the short run, and the nightly workflow the deep one.
 */
import { fuzzWithNarrowKey } from './fuzz/fuzz-with-narrow-key.ts'
import { fuzzWithRootKey } from './fuzz/fuzz-with-root-key.ts'
import { prepareTool } from './fuzz/tool.ts'

const DOCKER_FLAG = '--docker'
const NARROW_KEY_FLAG = '--narrow-key'
const DEEP_FLAG = '--deep'

/** The examples of an operation, and the walks along the links, of a deep run. It takes an hour on two cores. */
const DEEP = ['--max-examples', '250']

const given = process.argv.slice(2)
const tool = await prepareTool({
  inDocker: given.includes(DOCKER_FLAG),
  args: [
    ...(given.includes(DEEP_FLAG) ? DEEP : []),
    ...given.filter((argument) => ![DOCKER_FLAG, NARROW_KEY_FLAG, DEEP_FLAG].includes(argument)),
  ],
})
const runs = given.includes(NARROW_KEY_FLAG) ? [fuzzWithNarrowKey] : [fuzzWithRootKey, fuzzWithNarrowKey]
// One run after the other, and all of them, so that one `npm run fuzz` shows everything.
for (const run of runs) {
  const code = await run(tool)
  if (code !== 0) process.exitCode = code
}
