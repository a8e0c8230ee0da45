import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const VERSION = '4.32.5'
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const VENV = `${ROOT}.venv`
const TOOL = `${VENV}/bin/schemathesis`

/** On the host's network, because the service listens on loopback; the image finds its configuration in the folder. */
const DOCKER_COMMAND = [
  'docker',
  'run',
  '--rm',
  '--network=host',
  '--env=FUZZ_API_KEY',
  `--volume=${ROOT}:/app`,
  '--workdir=/app',
  `schemathesis/schemathesis:${VERSION}`,
]

/** Schemathesis, ready to run. */
export interface Tool {
  /** Runs it to its end with a configuration file, named from the root of the repository, and returns its exit code. */
  run(configFile: string, url: string, apiKey: string): Promise<number>
}

interface ToolOptions {
  /** The tool comes from its image, and not from .venv. */
  readonly inDocker: boolean
  /** More arguments of every run. */
  readonly args: readonly string[]
}

/** Makes the pinned version ready. */
export async function prepareTool({ inDocker, args }: ToolOptions): Promise<Tool> {
  if (inDocker) await mkdir(VENV, { recursive: true })
  else install()
  return {
    run: async (configFile, url, apiKey) => {
      const command = inDocker ? DOCKER_COMMAND : [TOOL]
      const wanted = ['--config-file', configFile, 'run', `${url}/openapi.json`, '--url', url, ...args]
      const [file = '', ...rest] = [...command, ...wanted]
      const env = { ...process.env, FUZZ_API_KEY: apiKey }
      const [code] = await once(spawn(file, rest, { cwd: ROOT, env, stdio: 'inherit' }), 'exit')
      return code ?? 1
    },
  }
}

/** Installs the pinned version into .venv, unless it is there. */
function install(): void {
  if (existsSync(TOOL) && execFileSync(TOOL, ['--version'], { encoding: 'utf8' }).includes(VERSION)) return
  execFileSync('python3', ['-m', 'venv', VENV], { stdio: 'inherit' })
  execFileSync(`${VENV}/bin/pip`, ['install', '--quiet', `schemathesis==${VERSION}`], { stdio: 'inherit' })
}

/** Writes a dictionary of the tool; its configuration names the file. Beside real ids there is one of nothing. */
export async function writeIds(name: string, ids: readonly string[]): Promise<void> {
  await writeFile(`${VENV}/${name}`, [...ids, 'nothing'].map((id) => JSON.stringify(id)).join('\n'))
}

/** Writes what a check of the tool reads; its configuration names the file. */
export async function writeFacts(name: string, facts: object): Promise<void> {
  await writeFile(`${VENV}/${name}`, JSON.stringify(facts, null, 2))
}
