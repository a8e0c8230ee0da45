import { readdirSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { copyPlugins, readPlugin, untilReady } from '../../support/plugins.ts'
import { startService } from '../../support/service.ts'
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
