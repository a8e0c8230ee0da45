import type { KeyDirectory } from '../access/directory.ts'
import type { Config } from '../config/types.ts'
import type { Db } from '../database/db.ts'
import type { FindKey } from '../http/auth.ts'
import type { Mount } from '../http/server-options.ts'
import type { Clock } from '../lib/time.ts'
import type { Logger } from '../log.ts'
import type { PluginObserver } from '../plugins/host.ts'
import type { PluginManager } from '../plugins/manage.ts'
import type { Telemetry } from '../telemetry/open-telemetry.ts'

interface PluginDeps {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
  readonly telemetry: Telemetry | undefined
}

interface PluginParts {
  readonly db: Db
  readonly observer: PluginObserver | undefined
}

/** Creates the plugins of the configuration. Undefined if it has none: then nothing of them is loaded. */
export async function createPluginsOf(
  { config: { plugins, pluginHost: address }, clock, log, telemetry }: PluginDeps,
  { db, observer }: PluginParts,
): Promise<PluginManager | undefined> {
  if (plugins.length === 0) return undefined
  const { createPlugins } = await import('../plugins/manage.ts')
  const traceParent = telemetry?.traces?.transactions.requestContext
  return createPlugins({ plugins, address, db, clock, log, observer, traceParent })
}

/** Accepts the secrets of the plugins beside those of API keys. The directory decides about the key itself, as for any other. */
export function withKeysOfPlugins(directory: KeyDirectory, plugins: PluginManager | undefined): FindKey {
  if (plugins === undefined) return directory.find
  return (secretHash) => {
    const id = plugins.findKey(secretHash)
    return id === undefined ? directory.find(secretHash) : directory.byId(id)
  }
}

/** Returns the short paths of plugins, by their first segment. */
export function mountsOf(plugins: PluginManager | undefined): ReadonlyMap<string, Mount> {
  const mounted = (plugins?.list() ?? []).flatMap(({ config: { id, mount } }) =>
    mount ? [{ id, mount }] : [],
  )
  return new Map(
    mounted.map(({ id, mount: { name, isOpen } }) => [
      name,
      { prefix: `/api/v1/plugins/${id}/call/`, isOpen },
    ]),
  )
}
