import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { ROOT } from './paths.ts'

export interface RunOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

/**
 * Runs a command to its end and gives its output. Scripts of npm packages run with the Node version of this repository.
 *
 * @throws Error with the output when the command fails
 */
export async function run(
  command: readonly string[],
  { cwd = ROOT, env = {} }: RunOptions = {},
): Promise<string> {
  const [file = '', ...args] = command
  const PATH = `${ROOT}node_modules/.bin:${process.env.PATH}`
  const child = spawn(file, args, {
    cwd,
    env: { ...process.env, PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const collect = (chunk: Buffer) => {
    output += chunk.toString()
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}:\n${output}`)
  return output
}
