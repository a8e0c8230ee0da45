import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The configuration of the network `anvil`, with any further or other fields of it. */
export function anvilNetwork(rpcUrls: readonly string[], changes: object = {}) {
  return {
    type: 'evm',
    network: 'anvil',
    chain_id: 31337,
    symbol: 'ETH',
    is_testnet: true,
    features: ['eip1559'],
    average_blocktime_ms: 200,
    required_confirmations: 1,
    rpc_urls: rpcUrls,
    ...changes,
  }
}

/** The fields of a relayer on it, besides its names. */
export const ON_ANVIL = { network: 'anvil', network_type: 'evm', paused: false } as const

const LAUNCHER = fileURLToPath(new URL('../../node_modules/.bin/anvil', import.meta.url))
const PLATFORM = `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`
const PROGRAM = fileURLToPath(
  new URL(`../../node_modules/@foundry-rs/anvil-${PLATFORM}/bin/anvil`, import.meta.url),
)

/** The launcher of npm would start a process of Node.js before each anvil, which takes more CPU time than anvil's own start. */
const BINARY = existsSync(PROGRAM) ? PROGRAM : LAUNCHER

const START_DEADLINE_MS = 20_000
const CALL_DEADLINE_MS = 10_000

/** The options with which anvil starts. */
export interface AnvilOptions {
  /** Further arguments of the command line, e.g. `['--block-time', '1']` or `['--no-mining']`. */
  readonly args?: readonly string[]
}

/** A real EVM node of our own, on a port that the system chose; its chain id is 31337 unless `args` sets another one. */
export interface Anvil {
  /** The url of its JSON-RPC, e.g. `http://127.0.0.1:43383`. */
  readonly url: string
  /** The process to end. */
  readonly pid: number
  /** One JSON-RPC call: its `result`, as JSON gave it. Throws with the node's message when it answers an error. */
  rpc<Result = unknown>(method: string, params?: readonly unknown[]): Promise<Result>
  /** Ends the process and waits for its end. Calling it again does nothing more. */
  stop(): Promise<void>
}

/** Starts anvil and resolves when it listens; fails with its output when it ends before. */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  // `--port 0` comes first, so that a test which needs a known port can say so in `args`.
  const args = options.args?.includes('--port') ? options.args : ['--port', '0', ...(options.args ?? [])]
  const child = spawn(BINARY, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const kill = () => void child.kill('SIGTERM')
  process.once('exit', kill)
  const url = await listening(child).catch((error: unknown) => {
    process.off('exit', kill)
    kill()
    throw error
  })
  return {
    url,
    pid: child.pid ?? 0,
    rpc: (method, params = []) => call(url, method, params),
    async stop() {
      process.off('exit', kill)
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      kill()
      await ended
    },
  }
}

async function listening(child: ChildProcess): Promise<string> {
  let output = ''
  return new Promise<string>((resolve, reject) => {
    const fail = (reason: string) => reject(new Error(`anvil did not start (${reason}):\n${output}`))
    const deadline = setTimeout(() => fail('too slow'), START_DEADLINE_MS)
    const read = (chunk: Buffer) => {
      output += chunk.toString()
      const address = /Listening on (\S+)/.exec(output)?.[1]
      if (!address) return
      clearTimeout(deadline)
      // A full pipe that no one reads stops the writer, so the output is read and dropped.
      child.stdout?.off('data', read).resume()
      child.stderr?.off('data', read).resume()
      resolve(`http://${address}`)
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.once('error', (error) => fail(error.message))
    child.once('exit', (code) => {
      clearTimeout(deadline)
      fail(`exit code ${code}`)
    })
  })
}

async function call<Result>(url: string, method: string, params: readonly unknown[]): Promise<Result> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(CALL_DEADLINE_MS),
  })
  const body = (await response.json()) as { result?: Result; error?: { message: string } }
  if (body.error) throw new Error(`${method}: ${body.error.message}`)
  return body.result as Result
}
