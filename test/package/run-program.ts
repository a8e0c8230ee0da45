import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'

interface Place {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

/** Runs a program of the search path to its end. */
export async function runProgram(
  [file = '', ...args]: readonly string[],
  place: Place,
): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(file, args, { ...place, stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: child.exitCode, out, err }
}

/** A service that a program such as npx has started. */
export interface Started {
  readonly url: string
  /** Ends the program and what it started. */
  stop(): Promise<void>
}

/** Starts the service in a group of processes of its own and waits until it reports that it is ready. */
export async function startProgram([file = '', ...args]: readonly string[], place: Place): Promise<Started> {
  const child = spawn(file, args, { ...place, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const closed = once(child, 'close')
  const url = await readyUrl(child)
  return {
    url,
    stop: async () => {
      process.kill(-(child.pid ?? 0), 'SIGTERM')
      await closed
    },
  }
}

function readyUrl(child: ChildProcess): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const said: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue
    createInterface({ input: stream }).on('line', (line) => {
      said.push(line)
      const url = /"url":"([^"]+)".*"msg":"service ready"/.exec(line)?.[1]
      if (url !== undefined) resolve(url)
    })
  }
  child.once('error', reject)
  child.once('exit', (code) => reject(new Error(`the program ended with ${code}:\n${said.join('\n')}`)))
  return promise
}
