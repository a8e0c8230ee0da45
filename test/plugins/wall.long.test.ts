import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundlePlugin, type PluginBundle } from '../../src/plugins/bundle.ts'
import { createLineReader } from '../../src/plugins/messages.ts'

/** What the file has that nothing may read. */
const SECRET = 'the-content-of-the-file'

/** Functions that one process calls: some of them break it. */
const CHUNK = 200

/** Milliseconds. A process that says nothing for this time, once it calls functions, is broken by one. It has longer to find them. */
const SILENT_MS = 1_500
const START_MS = 20_000

let folder: string
let bundle: PluginBundle
let server: Server
let connections = 0

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'relayer-wall-'))
  mkdirSync(join(folder, 'here'))
  writeFileSync(join(folder, 'here', 'secret'), SECRET)
  const file = join(import.meta.dirname, '../e2e/plugins/fixtures/walker.ts')
  bundle = await bundlePlugin({ id: 'walker', path: file } as never, file)
  server = createServer((socket) => {
    connections += 1
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(join(folder, 'here', 'socket'), resolve))
})
afterAll(() => {
  server?.close()
  bundle?.remove()
  rmSync(folder, { recursive: true, force: true })
})

/** Every form in which a function of Node.js takes a path, a descriptor or an address of a Unix socket. */
function values(): unknown[][] {
  const [secret, made, socket] = ['secret', 'made', 'socket'].map((name) => join(folder, 'here', name)) as [
    string,
    string,
    string,
  ]
  return [
    [secret],
    [made],
    [socket],
    [made, 'x'],
    [{}, socket],
    [{ path: socket }],
    [{ path: made }],
    [{ socketPath: socket, path: '/' }],
    [{ connect: { socketPath: socket } }],
    ['http://localhost/', { socketPath: socket }],
    [`file://${secret}`],
    [{ filename: made, file: made, directory: folder, dir: folder, cwd: folder }],
    [process.pid, 19],
    [process.pid, 0],
    [socket, -1, -1],
  ]
}

interface Said {
  readonly lines: readonly string[]
  readonly value?: unknown
}

/** Runs the plugin behind the wall alone, without the permission model of Node.js. */
function run(params: object): Promise<Said> {
  const child = spawn(process.execPath, ['--no-warnings', `--import=${bundle.wall}`, bundle.file], {
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  })
  const pipe = child.stdio[3] as Socket
  const lines: string[] = []
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout
    const listen = () => {
      clearTimeout(timer)
      const hasBegun = lines.some((line) => line.startsWith('at '))
      timer = setTimeout(() => child.kill('SIGKILL'), hasBegun ? SILENT_MS : START_MS)
    }
    listen()
    let value: unknown
    const read = createLineReader((line) => {
      const message = parse(line)
      if (message?.type === 'ready')
        pipe.write(
          `${JSON.stringify({ type: 'call', run: 1, entry: 'handler', params: JSON.stringify(params), route: '', method: 'POST', query: {}, headers: {} })}\n`,
        )
      if (message?.type === 'log') lines.push(String(message.message))
      listen()
      if (message?.type === 'failure') lines.push(JSON.stringify(message.error))
      if (message?.type !== 'result') return
      value = JSON.parse(String(message.value))
      child.kill('SIGKILL')
    })
    pipe.setEncoding('utf8').on('data', (piece: string) => read(piece))
    pipe.on('error', () => undefined)
    child.once('exit', () => {
      clearTimeout(timer)
      resolve({ lines, value })
    })
  })
}

/** A function that was called may have written anything to the pipe. */
function parse(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

test('no function of Node.js that a plugin reaches opens a path, a descriptor or a Unix socket', async () => {
  const modules = builtinModules.map((name) => name.replace(/^node:/, ''))
  const { value: paths } = (await run({ modules })) as { value: string[] }
  expect(paths).toContain('node:net.connect')
  expect(paths).toContain('pipe.Symbol(kHandle).__proto__.connect')
  expect(paths.length).toBeGreaterThan(2_000)
  const said: string[] = []
  for (let rest = paths; rest.length > 0; ) {
    const { lines, value } = await run({ modules, paths: rest.slice(0, CHUNK), values: values() })
    said.push(...lines)
    const last = lines.findLast((line) => line.startsWith('at '))?.slice(3)
    // A process that broke is followed by one that goes on behind the function that broke it.
    const done = value === 'done' ? CHUNK : Math.max(1, rest.indexOf(last ?? '') + 1)
    rest = rest.slice(done)
    expect(connections, `a Unix socket was reached, at the latest by ${last}`).toBe(0)
    expect(readdirSync(join(folder, 'here')).sort(), `something was made, at the latest by ${last}`).toEqual([
      'secret',
      'socket',
    ])
  }
  expect(said.filter((line) => line.includes(SECRET))).toEqual([])
  expect(readdirSync(folder)).toEqual(['here'])
}, 300_000)
