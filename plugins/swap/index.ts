import { setTimeout as sleep } from 'node:timers/promises'
import { CallError } from '../shared/call-error.ts'
import { type HostApi, type HostStore, isRecord, type PluginCall, Unavailable } from '../shared/host.ts'
import { readSettings, type Settings } from './config.ts'
import { report } from './report.ts'
import { run } from './run.ts'

interface QueriedCall extends PluginCall {
  readonly query: Readonly<Record<string, readonly string[]>>
}

/** Answers `POST /run`, which takes the steps of swaps that are due, and `GET /swaps`, what they cost. */
export async function handler(call: QueriedCall): Promise<unknown> {
  const { params, method, route, headers, query } = call
  const { settings, world } = contextOf(call)
  const [caller = ''] = headers['x-relayer-api-key-id'] ?? []
  if (!settings.callers.has(caller))
    throw new CallError(
      403,
      'caller_not_allowed',
      'This API key may not ask for swaps. Add it to "callers" of the plugin’s config.',
    )
  const path = route.replace(/\/+$/, '')
  try {
    if (method === 'POST' && path === '/run')
      return { swaps: await run(readRelayer(params), settings, world) }
    if (method === 'GET' && path === '/swaps') {
      const [day, ...others] = query.day ?? []
      return await report(others.length === 0 ? day : undefined, settings, world)
    }
  } catch (error) {
    if (error instanceof Unavailable) throw new CallError(503, 'unavailable', error.message)
    throw error
  }
  throw new CallError(404, 'not_found', 'The plugin has POST /run and GET /swaps.')
}

/** Takes the steps of all swaps that are due, at the times of the schedule. A hook of the service. */
export async function schedule(call: Pick<PluginCall, 'api' | 'kv' | 'config'>): Promise<void> {
  const { settings, world } = contextOf(call)
  for (const { swap, state, code, message } of await run(undefined, settings, world))
    if (code !== 'not_due')
      console.info(`swap ${swap}: ${state}${message === undefined ? '' : `: ${message}`}`)
}

function readRelayer(params: unknown): string | undefined {
  const { relayer_id: relayerId, ...others } = isRecord(params) ? params : {}
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw new CallError(400, 'unknown_field', `${unknown}: unknown field.`)
  if (relayerId === undefined || typeof relayerId === 'string') return relayerId
  throw new CallError(400, 'invalid_relayer_id', 'relayer_id: expected the id of a relayer.')
}

function contextOf({ api, kv, config }: { api: HostApi; kv: HostStore; config?: unknown }) {
  return { settings: settingsOf(config), world: { api, memory: api, kv, now: Date.now, sleep } }
}

/** The newest configuration and what was read from it: the same object comes with many calls. */
let known: { readonly text: string; readonly settings: Settings } | undefined

function settingsOf(config: unknown): Settings {
  const text = JSON.stringify(config ?? {})
  if (known?.text !== text) known = { text, settings: readSettings(config) }
  return known.settings
}
