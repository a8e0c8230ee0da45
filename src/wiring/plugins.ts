import type { KeyDirectory } from '../access/directory.ts'
import type { ChainRequest } from '../chains/request.ts'
import type { Config } from '../config/types.ts'
import type { Db } from '../database/db.ts'
import type { EventNotifier } from '../events/notifier.ts'
import { createSocketEndpoint } from '../handlers/plugins/sockets.ts'
import type { EventPresenter } from '../handlers/present/event.ts'
import { presentTransaction } from '../handlers/present/transaction.ts'
import type { FindKey } from '../http/auth.ts'
import type { Mount } from '../http/server-options.ts'
import type { Clock } from '../lib/time.ts'
import type { Logger } from '../log.ts'
import type { HookObserver } from '../plugins/hooks/hook.ts'
import type { PluginObserver } from '../plugins/host.ts'
import type { Plugin, PluginManager } from '../plugins/manage.ts'
import { ON_SOCKET } from '../plugins/messages.ts'
import type { Relayer } from '../relayers/relayer.ts'
import type { Telemetry } from '../telemetry/open-telemetry.ts'
import type { BeforeSend } from '../transactions/model/before-send.ts'
import type { RelayerRuntime } from '../transactions/model/runtime.ts'
import type { Loop } from '../workers/loop.ts'

interface PluginDeps {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
  readonly telemetry: Telemetry | undefined
}

/** Creates the plugins of the configuration. Undefined if it has none: then nothing of them is loaded. */
export async function createPluginsOf(
  { config: { plugins, pluginHost: address, pluginUser: user }, clock, log, telemetry }: PluginDeps,
  { db, observer }: { readonly db: Db; readonly observer: PluginObserver | undefined },
): Promise<PluginManager | undefined> {
  if (plugins.length === 0) return undefined
  const { createPlugins } = await import('../plugins/manage.ts')
  const traceParent = telemetry?.traces?.transactions.requestContext
  return createPlugins({ plugins, address, user, db, clock, log, observer, traceParent })
}

/** The hooks of the plugins of this process. */
interface Hooks {
  /** Undefined if no plugin is asked. */
  readonly beforeSend: BeforeSend | undefined
  readonly loops: readonly Loop[]
  /** Wakes the hooks that wait for events, until the returned function is called. */
  listen(subscribe: EventNotifier['subscribe']): () => void
}

interface HookParts {
  readonly db: Db
  /** Identifies this process in leases. */
  readonly owner: string
  readonly presentEvents: EventPresenter
  readonly runtimeOf: (relayer: Relayer) => RelayerRuntime
  readonly observer: HookObserver | undefined
}

/** Creates the hooks of plugins. Nothing of them is loaded without plugins. */
export async function createHooksOf(
  plugins: PluginManager | undefined,
  { clock, log }: Pick<PluginDeps, 'clock' | 'log'>,
  { runtimeOf, ...parts }: HookParts,
): Promise<Hooks> {
  const list = plugins?.list() ?? []
  if (list.length === 0) return { beforeSend: undefined, loops: [], listen: () => () => {} }
  const { createBeforeSend } = await import('../plugins/hooks/before-send.ts')
  const { createEventLoop } = await import('../plugins/hooks/events.ts')
  const { createScheduleLoop } = await import('../plugins/hooks/schedule.ts')
  const deps = { ...parts, clock, log }
  for (const plugin of list) void reportMissing(plugin, log)
  const eventLoops = list.flatMap((plugin) => {
    const hook = plugin.config.hooks.on_event
    return hook ? [createEventLoop(deps, plugin, hook)] : []
  })
  const hasSchedule = list.some(({ config }) => config.hooks.schedule.length > 0)
  return {
    beforeSend: createBeforeSend({
      plugins: list,
      log,
      showContent: (relayer, request) => showContent(relayer, request, runtimeOf(relayer)),
      observer: parts.observer,
    }),
    loops: [...eventLoops, ...(hasSchedule ? [createScheduleLoop(deps, list)] : [])],
    listen: (subscribe) => {
      const ends = eventLoops.map((loop) => subscribe(loop.wake))
      return () => {
        for (const end of ends) end()
      }
    },
  }
}

/**
 * A hook that the module does not export is an error of the operator, which is told before the first call
 * fails.
 */
async function reportMissing({ config: { id, hooks, mount }, host }: Plugin, log: Logger): Promise<void> {
  const wanted = [
    ...(hooks.before_send ? ['before_send'] : []),
    ...(hooks.on_event ? ['on_event'] : []),
    ...(hooks.schedule.length > 0 ? ['schedule'] : []),
    ...(mount?.sockets ? [ON_SOCKET.message] : []),
  ]
  for (const hook of wanted)
    if (!(await host.exports(hook))) log.error({ plugin: id, hook }, 'hook is not exported by its plugin')
}

/**
 * Shows content as the contract shows a transaction that is not signed, without what only a stored one has.
 */
function showContent(relayer: Relayer, request: ChainRequest, { chain }: RelayerRuntime): object {
  const transaction = {
    id: '',
    relayerId: relayer.id,
    network: relayer.network,
    from: relayer.address,
    status: 'pending',
    createdAt: new Date(0),
    nextRunAt: new Date(0),
    request,
    purpose: 'request',
    version: 1,
    cost: 0n,
  } as const
  const {
    id: _id,
    relayer_id: _relayer,
    status: _status,
    created_at: _created,
    from: _from,
    ...content
  } = presentTransaction({ transaction, attempts: [] }, chain)
  return content
}

/**
 * Accepts the secrets of the plugins beside those of API keys. The directory decides about the key itself, as
 * for any other.
 */
export function withKeysOfPlugins(directory: KeyDirectory, plugins: PluginManager | undefined): FindKey {
  if (plugins === undefined) return directory.find
  return (secretHash) => {
    const id = plugins.findKey(secretHash)
    return id === undefined ? directory.find(secretHash) : directory.byId(id)
  }
}

/** Returns the short paths of plugins, by their first segment. */
export function mountsOf(
  manager: PluginManager | undefined,
  observer: PluginObserver | undefined,
): ReadonlyMap<string, Mount> {
  const mounts = (manager?.list() ?? []).flatMap((plugin): [string, Mount][] => {
    const { id, mount } = plugin.config
    if (manager === undefined || mount === undefined) return []
    const { name, isOpen, corsOrigins, sockets } = mount
    const endpoint = sockets && createSocketEndpoint({ manager, plugin, observer }, sockets)
    return [[name, { prefix: `/api/v1/plugins/${id}/call/`, isOpen, corsOrigins, sockets: endpoint }]]
  })
  return new Map(mounts)
}
