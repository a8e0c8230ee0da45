import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { copyPlugins, readPlugin, untilReady } from '../../support/plugins.ts'
import { serveCommand } from '../../support/program.ts'
import { API_KEY, callService, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const USER = 12_345

/** The processes of the user, with the capabilities that they could use. */
function processesOf(user: number): { readonly pid: string; readonly capabilities: string | undefined }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        if (statSync(`/proc/${pid}`).uid !== user) return []
        const status = readFileSync(`/proc/${pid}/status`, 'utf8')
        return [{ pid, capabilities: /^CapPrm:\s*(\w+)/m.exec(status)?.[1] }]
      } catch {
        return [] // It has just ended.
      }
    })
}

test('plugins run as a user of their own, who has no rights, and are ended like any other', async () => {
  const folder = copyPlugins()
  const service = await startService({
    rpcUrls: [],
    relayers: [],
    env: { RELAYER_PLUGINS_USER: `${USER}:${USER}` },
    plugins: [{ id: 'one', path: folder.path('every-thing.ts'), timeout: 1 }],
  })
  try {
    await untilReady(service)
    const [running, ...others] = processesOf(USER)
    expect(others).toEqual([])
    expect(running?.capabilities).toMatch(/^0+$/)
    const bundles = readdirSync(tmpdir()).filter((name) => name.startsWith('relayer-plugin-'))
    const own = bundles.map((name) => statSync(join(tmpdir(), name))).filter(({ gid }) => gid === USER)
    expect(own.map(({ uid, mode }) => [uid, mode & 0o777])).toEqual([[0, 0o710]])
    expect((await service.api<never>('POST', '/plugins/one/call/kv', { params: { n: 1 } })).status).toBe(200)
    // A late call ends its process, which the service must have the right to do.
    expect((await service.api<never>('POST', '/plugins/one/call/never', {})).status).toBe(504)
    await until(
      () => readPlugin(service, 'one'),
      ({ state }) => state.status === 'ready' && state.restarts > 0,
    )
    await until(
      async () => processesOf(USER),
      (processes) => processes.length === 1 && processes[0]?.pid !== running?.pid,
    )
  } finally {
    await service.stop()
    folder.remove()
  }
  await until(
    async () => processesOf(USER),
    (processes) => processes.length === 0,
  )
})

const OWNER = 12_346

/** The user and group of the entry of the image for plugins, which no process of a test has. */
const PLUGINS = 10_001

/** CHOWN, KILL, SETGID and SETUID, by their bits. */
const FOUR = '00000000000000e1'

/** The capabilities of a process that it has, and that it can hand on or get back. */
function capabilitiesOf(pid: string | number | undefined): string[] {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return ['Prm', 'Eff', 'Inh', 'Amb'].map(
    (name) => new RegExp(`^Cap${name}:\\s*(\\w+)`, 'm').exec(status)?.[1] ?? '',
  )
}

test.each([
  ['four capabilities where it has plugins', { plugins: true }, FOUR],
  ['none where it has no plugins', { plugins: false }, '0000000000000000'],
])(
  'the image gives the service the owner of the data as its user, and %s',
  async (_, { plugins }, capabilities) => {
    const folder = copyPlugins()
    const home = mkdtempSync(join(tmpdir(), 'relayer-image-'))
    const [data, config] = ['data', 'config'].map((name) => join(home, name)) as [string, string]
    for (const path of [data, config]) mkdirSync(path, { mode: 0o700 })
    const entries = plugins
      ? { plugins: [{ id: 'one', path: folder.path('every-thing.ts'), timeout: 1 }] }
      : {}
    const file = { relayers: [], signers: [], notifications: [], networks: [], ...entries }
    writeFileSync(join(config, 'config.json'), JSON.stringify(file), { mode: 0o600 })
    for (const path of [home, folder.path('.')]) chmodSync(path, 0o755)
    for (const path of [data, config, join(config, 'config.json')]) chownSync(path, OWNER, OWNER)
    const entry = join(import.meta.dirname, '../../../ops/image-entry.sh')
    const env = {
      PATH: process.env.PATH,
      API_KEY,
      HOST: '127.0.0.1',
      APP_PORT: '0',
      CONFIG_DIR: config,
      DATA_DIR: data,
    }
    const service = spawn(entry, serveCommand(), { cwd: home, env, stdio: ['ignore', 'pipe', 'inherit'] })
    const exited = once(service, 'exit')
    try {
      const url = await new Promise<string>((resolve) =>
        createInterface({ input: service.stdout }).on('line', (line) => {
          const found = /"url":"([^"]+)"/.exec(line)?.[1]
          if (found !== undefined) resolve(found)
        }),
      )
      expect(statSync(`/proc/${service.pid}`).uid).toBe(OWNER)
      expect(capabilitiesOf(service.pid)).toEqual(Array(4).fill(capabilities))
      const call = (route: string) =>
        callService<never>(url, {
          method: 'POST',
          path: `/plugins/one/call${route}`,
          body: { params: { n: 1 } },
        })
      if (!plugins) {
        expect((await call('/kv')).status).toBe(404)
        return
      }
      await until(
        async () => (await call('/kv')).status,
        (status) => status === 200,
      )
      const [running, ...others] = processesOf(PLUGINS)
      expect(others).toEqual([])
      expect(capabilitiesOf(running?.pid)).toEqual(Array(4).fill('0000000000000000'))
      // Nothing of the service belongs to the user of its plugins, or is open to everybody.
      for (const path of [data, config]) expect(statSync(path)).toMatchObject({ uid: OWNER, mode: 0o40700 })
      expect((await call('/never')).status).toBe(504)
      await until(
        async () => processesOf(PLUGINS),
        (processes) => processes.length === 1 && processes[0]?.pid !== running?.pid,
      )
    } finally {
      service.kill('SIGTERM')
      await exited
      folder.remove()
      rmSync(home, { recursive: true })
    }
    expect(processesOf(PLUGINS)).toEqual([])
  },
)
