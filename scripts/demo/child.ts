import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A process of the demo's own. */
export interface Child {
  /** What the line said that was waited for. */
  readonly found: string
  stop(): Promise<void>
}

interface ChildOptions {
  readonly command: readonly string[]
  readonly env?: NodeJS.ProcessEnv
  /** The first capture of the first line that fits ends the waiting. */
  readonly ready: RegExp
}

/** Starts a process and waits for the line that says it is ready. */
export async function startChild({
  command: [file = '', ...args],
  env,
  ready,
}: ChildOptions): Promise<Child> {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } })
  const exited = once(child, 'exit')
  return {
    found: await waitFor(child, ready),
    stop: async () => {
      child.kill('SIGTERM')
      await exited
    },
  }
}

/** Runs a process to its end and gives its output, which is an error when it fails. */
export async function runChild(
  [file = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<string> {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  child.stderr.on('data', (chunk) => {
    output += chunk
  })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`${[file, ...args].join(' ')} ended with ${code}:\n${output}`)
  return output
}

function waitFor(child: ChildProcess, ready: RegExp): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const output: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue
    createInterface({ input: stream }).on('line', (line) => {
      if (output.length < 50) output.push(line)
      const found = ready.exec(line)?.[1]
      if (found !== undefined) resolve(found)
    })
  }
  child.once('error', reject)
  child.once('exit', (code) =>
    reject(new Error(`a process ended with ${code} before it was ready:\n${output.join('\n')}`)),
  )
  return promise
}
