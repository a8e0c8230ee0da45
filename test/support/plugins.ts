import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Service } from './service.ts'
import { until } from './until.ts'

/** Plugins in a folder without packages, as an operator has them: imports of the SDK find nothing but the part of the service. */
export interface PluginFolder {
  /** Returns the path of a fixture. */
  path(name: string): string
  remove(): void
}

/** Copies the fixtures of plugins out of the repository. */
export function copyPlugins(): PluginFolder {
  const folder = mkdtempSync(join(tmpdir(), 'relayer-plugins-'))
  cpSync(join(import.meta.dirname, '../e2e/plugins/fixtures'), folder, { recursive: true })
  return {
    path: (name) => join(folder, name),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** The state of a plugin, as the API shows it. */
export interface ShownPlugin {
  readonly timeout: number
  readonly config?: object
  readonly state: {
    readonly status: string
    readonly restarts: number
    readonly running: number
    readonly failures: string
    readonly last_failure?: { readonly message: string }
    readonly logs?: readonly { readonly level: string; readonly message: string }[]
  }
}

/** Reads a plugin. */
export async function readPlugin(service: Service, id: string): Promise<ShownPlugin> {
  return (await service.api<ShownPlugin>('GET', `/plugins/${id}`)).body.data
}

/** Waits until every plugin has a process that takes calls. */
export async function untilReady(service: Service): Promise<void> {
  await until(
    async () => (await service.api<ShownPlugin[]>('GET', '/plugins')).body.data,
    (plugins) => plugins.every(({ state }) => state.status === 'ready'),
  )
}
