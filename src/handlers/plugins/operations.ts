import { STATUS_CODES } from 'node:http'
import { ANONYMOUS } from '../../access/principal.ts'
import { stringifyJson } from '../../contract/exact-integers.ts'
import type { Schemas } from '../../contract/operations.ts'
import type { Db } from '../../database/db.ts'
import { AppError, methodNotAllowed } from '../../errors.ts'
import type { HandlerMap, RequestContext } from '../../http/handler.ts'
import { omitUndefined } from '../../lib/object.ts'
import { showHooks } from '../../plugins/hooks/show-hooks.ts'
import type { PluginOutcome } from '../../plugins/host.ts'
import { type Plugin, type PluginManager, shownSettings } from '../../plugins/manage.ts'
import {
  DEPTH_HEADER,
  HANDLER,
  MAX_DEPTH,
  MAX_PARAMS_BYTES,
  type PluginSettings,
  withoutBigints,
} from '../../plugins/plugin.ts'
import { parseDetails } from '../../plugins/receive.ts'
import { toPage } from '../present/shared.ts'
import type { CoreParts, EventParts } from '../service.ts'
import { headersFor } from './headers.ts'

type Operations =
  | 'listPlugins'
  | 'getPlugin'
  | 'updatePlugin'
  | 'callPlugin'
  | 'callPluginGet'
  | 'callPluginRoute'
  | 'callPluginRouteGet'

/** Bytes of the configuration that callers may give to a plugin: every call has it. */
const MAX_CONFIG_BYTES = 65_536

/** The time in ms that the service has for a call besides the time of the plugin. */
const CALL_GRACE_MS = 5_000

/** The operations of the tag Plugins. */
export function pluginHandlers({
  plugins: manager,
  db,
}: CoreParts & EventParts): Pick<HandlerMap, Operations> {
  const require = (id: string): { manager: PluginManager; plugin: Plugin } => {
    if (manager === undefined) throw new AppError('plugin_not_found', `There is no plugin ${id}.`)
    return { manager, plugin: manager.get(id) }
  }

  async function call(id: string, request: CallRequest, context: RequestContext) {
    const found = require(id)
    return callPlugin(found, request, context)
  }

  return {
    listPlugins: async ({ query }) => {
      const page = toPage(query)
      const all = manager?.list() ?? []
      const shown = all.slice(page.offset, page.offset + page.limit)
      return {
        data: await Promise.all(shown.map((plugin) => present(db, plugin, { withLogs: false }))),
        pagination: page.describe(all.length),
      }
    },
    getPlugin: async ({ path }) => ({
      data: await present(db, require(path.plugin_id).plugin, { withLogs: true }),
    }),
    updatePlugin: async ({ path, body }, { actor }) => {
      const { manager } = require(path.plugin_id)
      const plugin = await manager.change(actor, path.plugin_id, readPatch(body))
      return { data: await present(db, plugin, { withLogs: true }) }
    },
    callPlugin: ({ path, query, body }, context) =>
      call(path.plugin_id, { method: 'POST', route: query.route ?? '', query, body }, context),
    callPluginGet: ({ path, query }, context) =>
      call(path.plugin_id, { method: 'GET', route: query.route ?? '', query, body: {} }, context),
    callPluginRoute: ({ path, query, body }, context) =>
      call(path.plugin_id, { method: 'POST', route: `/${path.route}`, query, body }, context),
    callPluginRouteGet: ({ path, query }, context) =>
      call(path.plugin_id, { method: 'GET', route: `/${path.route}`, query, body: {} }, context),
  }
}

interface CallRequest {
  readonly method: 'GET' | 'POST'
  readonly route: string
  readonly query: { readonly route?: string; readonly query?: Readonly<Record<string, unknown>> }
  readonly body: unknown
}

async function callPlugin(
  { manager, plugin }: { readonly manager: PluginManager; readonly plugin: Plugin },
  { method, route, query, body }: CallRequest,
  context: RequestContext,
) {
  const { config } = plugin
  const settings = await plugin.settings()
  if (method === 'GET' && !settings.allowGetInvocation) throw methodNotAllowed(['POST', 'OPTIONS'])
  const depth = Number(context.headers[DEPTH_HEADER] ?? 0)
  if (!(depth >= 0 && depth < MAX_DEPTH))
    throw new AppError('invalid_request', `Plugins can call each other at most ${MAX_DEPTH} deep.`)
  const params = stringifyJson(paramsOf(body))
  const bytes = config.rawBody ? context.bytes : undefined
  if (Math.max(Buffer.byteLength(params), bytes?.length ?? 0) > MAX_PARAMS_BYTES)
    throw new AppError('body_too_large', `The parameters of a plugin have at most ${MAX_PARAMS_BYTES} bytes.`)
  const timeoutMs = settings.timeout * 1_000
  context.allow(timeoutMs + CALL_GRACE_MS)
  const outcome = await manager.call(context.actor, plugin, {
    entry: HANDLER,
    params,
    config: settings.config && JSON.stringify(settings.config),
    route,
    method,
    query: listsOf({ ...query.query, ...(query.route !== undefined && { route: query.route }) }),
    headers: headersFor(config.forwardHeaders, context),
    body: bytes && Buffer.from(bytes).toString('utf8'),
    timeoutMs,
    origin: { requestId: context.requestId, depth },
    forwardLogs: settings.forwardLogs,
    isAnonymous: context.actor.keyId === ANONYMOUS.id,
  })
  return answer(outcome, settings)
}

/** A parameter that is given more than once has several values. */
function listsOf(query: Readonly<Record<string, unknown>>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, [value].flat().map(String)]))
}

/**
 * A body may hold the parameter in the field `params`, or be it. A request of JSON-RPC has such a field as
 * well, and is handed over whole.
 */
function paramsOf(body: unknown): unknown {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
  return isObject && 'params' in body && !('jsonrpc' in body) ? body.params : body
}

/**
 * A call may have done something, so its response is never withheld because its caller leaves others unread.
 */
const AS_JSON = { contentType: 'application/json; charset=utf-8', repeatable: false }

/** Writes the response. The result is JSON text already, so it is not parsed again. */
function answer(outcome: PluginOutcome, settings: PluginSettings) {
  if (outcome.kind === 'result' && settings.rawResponse)
    return { status: 200, body: outcome.value, ...AS_JSON }
  const metadata = metadataOf(outcome, settings)
  const tail = metadata === undefined ? '' : `,"metadata":${JSON.stringify(metadata)}`
  if (outcome.kind === 'result')
    return { status: 200, body: `{"success":true,"data":${outcome.value}${tail}}`, ...AS_JSON }
  const { status, ...failure } = failureOf(outcome, settings)
  if (settings.rawResponse) return { status, body: JSON.stringify(failure.data), ...AS_JSON }
  const fields = JSON.stringify({ success: false, ...failure, message: STATUS_CODES[status] ?? 'Error' })
  return { status, body: `${fields.slice(0, -1)}${tail}}`, ...AS_JSON }
}

function failureOf(outcome: Exclude<PluginOutcome, { kind: 'result' }>, { timeout }: PluginSettings) {
  if (outcome.kind === 'timeout')
    return {
      status: 504,
      code: 'plugin_timeout',
      error: `The plugin did not answer within ${timeout} s.`,
      data: { code: 'TIMEOUT', details: null },
    }
  if (outcome.kind === 'failed')
    return {
      status: 500,
      code: 'plugin_failed',
      error: 'The plugin failed. Its log has the reason.',
      data: { code: 'PLUGIN_ERROR', details: null },
    }
  const { status = 500, message, code = null, details } = outcome.error
  return {
    status,
    code: 'plugin_failed',
    error: message,
    data: { code, details: details === undefined ? null : (parseDetails(details) ?? null) },
  }
}

function metadataOf({ logs, traces }: PluginOutcome, { emitLogs, emitTraces }: PluginSettings) {
  if (!emitLogs && !emitTraces) return undefined
  return { ...(emitLogs && { logs }), ...(emitTraces && { traces }) }
}

async function present(
  db: Db,
  { config, host, settings }: Plugin,
  { withLogs }: { readonly withLogs: boolean },
): Promise<Schemas['Plugin']> {
  const { id, path, rights, memoryMb, mount } = config
  const { lastFailure, logs, calls, failures, sockets, ...state } = host.state()
  const timed = ({ at, ...rest }: { readonly at: number; readonly message: string }) => ({
    at: new Date(at).toISOString(),
    ...rest,
  })
  return omitUndefined({
    id,
    path,
    ...shownSettings(await settings()),
    scopes: [...rights.scopes],
    relayers: rights.visibility.relayers,
    rules: rights.rules,
    memory_mb: memoryMb,
    mount: mount && `/${mount.name}`,
    open_mount: mount?.isOpen,
    sockets: mount?.sockets && {
      path: `/${mount.sockets.path}`,
      key_parameter: mount.sockets.keyParameter,
      max: mount.sockets.max,
      max_per_caller: mount.sockets.maxPerCaller,
    },
    hooks: await showHooks(db, config),
    state: omitUndefined({
      ...state,
      sockets: mount?.sockets && sockets,
      calls: String(calls),
      failures: String(failures),
      last_failure: lastFailure && timed({ ...lastFailure, message: lastFailure.message.slice(0, 1_000) }),
      logs: withLogs ? logs.map(({ level, ...line }) => ({ ...timed(line), level })) : undefined,
    }),
  }) as Schemas['Plugin']
}

function readPatch(body: Schemas['UpdatePluginRequest']) {
  const config = withoutBigints(body.config) as typeof body.config
  if (config && Buffer.byteLength(JSON.stringify(config)) > MAX_CONFIG_BYTES)
    throw new AppError('invalid_request', `body.config: expected at most ${MAX_CONFIG_BYTES} bytes of JSON.`)
  return {
    timeout: body.timeout,
    emitLogs: body.emit_logs,
    emitTraces: body.emit_traces,
    rawResponse: body.raw_response,
    allowGetInvocation: body.allow_get_invocation,
    forwardLogs: body.forward_logs,
    config,
  }
}
