/**
 * Fuzzes the whole contract against a running service: schemathesis with all phases and all checks, with a chain of each kind
 * and real relayers and transactions behind it. Needs Python 3 for the tool itself, which goes into .venv.
 * Arguments are handed on, for example `npm run fuzz -- --seed 7`; with `--docker` the tool comes from its image instead.
 */
import { fuzzWithRootKey } from './fuzz/fuzz-with-root-key.ts'
import { prepareTool } from './fuzz/tool.ts'

const DOCKER_FLAG = '--docker'

const given = process.argv.slice(2)
const tool = await prepareTool({
  inDocker: given.includes(DOCKER_FLAG),
  args: given.filter((argument) => argument !== DOCKER_FLAG),
})
process.exitCode = await fuzzWithRootKey(tool)
