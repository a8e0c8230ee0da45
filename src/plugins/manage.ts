import { randomBytes } from 'node:crypto'
import { hashSecretHex } from '../access/api-key.ts'
import type { Actor } from '../access/principal.ts'
import { appendManagement } from '../audit/append-store.ts'
import { type AuditedChange, changedFields } from '../audit/entry.ts'
import type { Schemas } from '../contract/operations.ts'
import type { Db } from '../database/db.ts'
import { transact } from '../database/locks/transact.ts'
import { AppError } from '../errors.ts'
import { createBatcher } from '../lib/concurrency/batcher.ts'
import { omitUndefined } from '../lib/object.ts'
import type { Clock } from '../lib/time.ts'
import type { Logger } from '../log.ts'
import { createApiCaller } from './api-call.ts'
import { bundlePlugin, type PluginBundle } from './bundle.ts'
import { type ConnectPlugin, startChild } from './child.ts'
import { type PluginCall, PluginHost, type PluginObserver, type PluginOutcome } from './host.ts'
import { executeKv } from './kv-store.ts'
import {
  keyIdOf,
  type PluginConfig,
  type PluginHostAddress,
  type PluginSettings,
  type PluginUser,
} from './plugin.ts'
import { type ChangedSettings, lockSettings, readChangedSettings, saveSettings } from './settings-store.ts'

/** A plugin that this process runs. */
export interface Plugin {
  readonly config: PluginConfig
  readonly host: PluginHost
  /** Returns the settings as they apply now; other processes may have changed them within the last second. */
  settings(): Promise<PluginSettings>
}

/** The plugins of this process. */
export interface PluginManager {
  list(): readonly Plugin[]
  /** @throws AppError `plugin_not_found` */
  get(id: string): Plugin
  /**
   * Calls the handler of a plugin, and records a call that changed something. @throws AppError as
   * `PluginHost.run`
   */
  call(actor: Actor, plugin: Plugin, call: PluginCall): Promise<PluginOutcome>
  /** Stores changed settings and records the change. @throws AppError `plugin_not_found` */
  change(actor: Actor, id: string, patch: ChangedSettings): Promise<Plugin>
  /** Returns the id of the API key of the plugin whose secret has this hash, in hex digits. */
  findKey(secretHash: string): string | undefined
  /** Starts every process. The url is that of the service, which listens. */
  begin(url: string): void
  stop(): void
}

interface ManagerDeps {
  readonly plugins: readonly PluginConfig[]
  /** Another host runs the plugins; if absent, this process starts their processes. */
  readonly address?: PluginHostAddress | undefined
  /** The user of the processes; if absent, that of this process. */
  readonly user?: PluginUser | undefined
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
  readonly observer?: PluginObserver | undefined
  /** Returns the trace of the present request, as the header `traceparent`. */
  readonly traceParent?: (() => string | undefined) | undefined
}

/** Calls that end at the same time share a database transaction, up to this number. */
const MAX_RECORDS = 100

/** A process knows changes of settings by others after this time, in ms. */
const FRESH_MS = 1_000

/**
 * Creates the plugins of the configuration. It bundles their code, and starts nothing.
 * @throws ConfigError for a plugin that does not compile
 */
export async function createPlugins(deps: ManagerDeps): Promise<PluginManager> {
  const { db, clock, log, observer, traceParent } = deps
  const bundles: PluginBundle[] = []
  const keys = new Map<string, string>()
  const settings = createSettingsReader(db)
  let serviceUrl = ''
  const plugins = new Map<string, Plugin>()
  for (const config of deps.plugins) {
    const { id } = config
    const secret = randomBytes(32).toString('base64url')
    keys.set(hashSecretHex(secret), keyIdOf(id))
    const { hooks, mount } = config
    const { before_send, on_event, schedule } = hooks
    const host = new PluginHost({
      id,
      hasHooks:
        before_send !== undefined ||
        on_event !== undefined ||
        schedule.length > 0 ||
        mount?.sockets !== undefined,
      connect: await connectorOf(config, deps, bundles),
      api: createApiCaller({ url: () => serviceUrl, secret }),
      kv: (message) => executeKv(db, id, message),
      clock,
      log,
      observer,
    })
    plugins.set(id, { config, host, settings: async () => merge(config, await settings.of(id)) })
  }

  function get(id: string): Plugin {
    const plugin = plugins.get(id)
    if (plugin === undefined) throw new AppError('plugin_not_found', `There is no plugin ${id}.`)
    return plugin
  }

  const record = createBatcher<AuditedChange, true>({
    keyOf: ({ target }) => target.id,
    maxItems: MAX_RECORDS,
    collectsTurn: true,
    run: async (changes) => {
      await transact(db, (tx) => appendManagement(tx, ...changes))
      return changes.map(() => true)
    },
  })

  return {
    list: () => [...plugins.values()],
    get,
    call: async (actor, { config, host }, call) => {
      const outcome = await host.run({
        ...call,
        origin: { ...call.origin, traceParent: traceParent?.() },
      })
      // What the plugin did has entries of its own, with its key as the actor; this one names the caller.
      const { kind, changes } = outcome
      if (changes > 0)
        await record({
          author: actor,
          action: 'callPlugin',
          target: { type: 'plugin', id: config.id },
          after: { route: call.route, outcome: kind, requests: changes },
        })
      return outcome
    },
    change: async (actor, id, patch) => {
      const plugin = get(id)
      await transact(db, async (tx) => {
        const before = await lockSettings(tx, id)
        const after: ChangedSettings = { ...before, ...omitUndefined(patch) }
        await saveSettings(tx, id, after)
        const states = changedFields({
          before: merge(plugin.config, before),
          after: merge(plugin.config, after),
          show: shownSettings,
        })
        await appendManagement(tx, {
          author: actor,
          action: 'updatePlugin',
          target: { type: 'plugin', id },
          ...states,
        })
      })
      settings.forget()
      return plugin
    },
    findKey: (secretHash) => keys.get(secretHash),
    begin: (url) => {
      serviceUrl = url
      for (const { host } of plugins.values()) host.begin()
    },
    stop: () => {
      for (const { host } of plugins.values()) host.stop()
      for (const bundle of bundles) bundle.remove()
    },
  }
}

/** Returns what starts a process of the plugin, here or in another container. */
async function connectorOf(
  config: PluginConfig,
  { address, user }: Pick<ManagerDeps, 'address' | 'user'>,
  bundles: PluginBundle[],
): Promise<ConnectPlugin> {
  if (address !== undefined) {
    const { connectRemote } = await import('./remote.ts')
    return (listener) => connectRemote(address, config.id, listener)
  }
  const bundle = await bundlePlugin(config, config.file ?? config.path, user)
  bundles.push(bundle)
  const { env, memoryMb } = config
  return (listener) => startChild({ bundle, env, memoryMb, user }, listener)
}

function createSettingsReader(db: Db) {
  let known:
    | { readonly at: number; readonly changed: Promise<ReadonlyMap<string, ChangedSettings>> }
    | undefined
  return {
    of: async (id: string): Promise<ChangedSettings> => {
      const now = performance.now()
      if (known === undefined || now - known.at > FRESH_MS)
        known = { at: now, changed: readChangedSettings(db) }
      const reading = known
      try {
        return (await reading.changed).get(id) ?? {}
      } catch (error) {
        if (known === reading) known = undefined
        throw error
      }
    },
    forget: () => {
      known = undefined
    },
  }
}

function merge({ settings }: PluginConfig, { config, ...changed }: ChangedSettings): PluginSettings {
  if (config === undefined) return { ...settings, ...omitUndefined(changed) }
  return { ...settings, ...omitUndefined(changed), config: config ?? undefined }
}

/** Gives settings under the names of the contract. */
export function shownSettings(settings: PluginSettings) {
  return omitUndefined({
    timeout: settings.timeout,
    emit_logs: settings.emitLogs,
    emit_traces: settings.emitTraces,
    raw_response: settings.rawResponse,
    allow_get_invocation: settings.allowGetInvocation,
    forward_logs: settings.forwardLogs,
    config: settings.config,
  }) satisfies Partial<Schemas['Plugin']>
}
