import { copyFile, mkdir } from 'node:fs/promises'
import { JAR } from './install.ts'
import { CONTRACT_JSON, CONTRACT_YAML, GO_MODULE, PROGRAMS, PYTHON } from './paths.ts'
import { run } from './run.ts'
import type { Step } from './steps.ts'

const FILES = [CONTRACT_YAML, CONTRACT_JSON]

/** The readers of YAML 1.1 and 1.2 that the tools of other languages use. */
export const READERS: readonly Step[] = [
  {
    name: 'openapi.yaml read by PyYAML',
    run: () => run([`${PYTHON}/bin/python`, `${PROGRAMS}/readers/read_yaml.py`, ...FILES]),
  },
  {
    name: 'openapi.yaml read by SnakeYAML',
    needs: 'java',
    run: () => run(['java', '-cp', JAR, `${PROGRAMS}/readers/ReadYaml.java`, ...FILES]),
  },
  { name: 'openapi.yaml read by go-yaml', needs: 'go', run: readInGo },
]

async function readInGo(): Promise<void> {
  await mkdir(`${GO_MODULE}/readyaml`, { recursive: true })
  await copyFile(`${PROGRAMS}/readers/read_yaml.go`, `${GO_MODULE}/readyaml/main.go`)
  await run(['go', 'run', './readyaml', ...FILES], { cwd: GO_MODULE })
}
