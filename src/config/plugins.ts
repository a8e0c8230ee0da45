import { existsSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { findContradiction } from '../access/manage.ts'
import type { Rights } from '../access/principal.ts'
import { SCOPES, type Scope } from '../access/scope.ts'
import { type FieldType, flag, id, oneOf, openReader, type Reader, text, whole } from '../lib/fields.ts'
import type { LogLevel } from '../log.ts'
import {
  type BeforeSendHook,
  type EventHook,
  HOOK_TIMEOUTS,
  HOOKED_EVENTS,
  MAX_SCHEDULES,
  NO_HOOKS,
  type PluginHooks,
  type ScheduleHook,
} from '../plugins/hooks/hook.ts'
import {
  DEFAULT_MEMORY_MB,
  DEFAULT_SCOPES,
  DEFAULT_SETTINGS,
  DEFAULT_SOCKETS,
  MAX_ID_LENGTH,
  MAX_TIMEOUT,
  type PluginConfig,
  type PluginHostAddress,
  type PluginMount,
  type PluginSettings,
  type PluginSockets,
  RESERVED_MOUNTS,
  withoutBigints,
} from '../plugins/plugin.ts'
import { readTimes } from '../schedules/cron.ts'
import { readRules } from '../spending/rule-table.ts'
import { readPluginUser } from './plugin-user.ts'
import type { Sources } from './sources.ts'

/** Secrets of the service, and variables that would change the process of the plugin itself. */
const FORBIDDEN_ENV =
  /^(API_KEY|API_KEY_PREVIOUS|STORAGE_ENCRYPTION_KEY|DATABASE_URL|DATABASE_DIRECT_URL|RELAYER_API_KEY|RELAYER_PLUGINS_SECRET|NODE_.*|LD_.*)$/

const HEADER_NAME = /^[A-Za-z0-9-]{1,100}$/

const CREDENTIALS = ['authorization', 'cookie', 'proxy-authorization']

const pluginId: FieldType<string> = {
  ...id,
  expected: `an id of 1 to ${MAX_ID_LENGTH} letters, digits, ".", "_" or "-", not beginning with "."`,
  read: (value) => {
    const read = id.read(value)
    return read !== undefined && read.length <= MAX_ID_LENGTH ? read : undefined
  },
}

const scope: FieldType<Scope> = {
  expected: `a scope such as "transactions:write"; docs/api-keys.md lists them`,
  read: (value) => SCOPES.find((known) => known === value),
  blank: 'relayers:read',
}

const relayerPattern: FieldType<string> = {
  expected: 'the id of a relayer, or the beginning of ids and "*"',
  read: (value) =>
    typeof value === 'string' && /^([A-Za-z0-9_-][A-Za-z0-9._-]*)?\*?$/.test(value) && value !== ''
      ? value
      : undefined,
  blank: '',
}

/** Origins are exact: a browser sends the one of its page in this spelling. */
const webOrigin: FieldType<string> = {
  expected: 'an origin such as "https://app.example", without a path, or "*" for every page',
  read: (value) => {
    if (value === '*') return value
    const isOrigin = typeof value === 'string' && /^https?:/.test(value) && URL.canParse(value)
    return isOrigin && new URL(value).origin === value ? value : undefined
  },
  blank: '',
}

const mountName: FieldType<string> = {
  expected: `a path of one segment, such as "/x402", and none of the service (/${RESERVED_MOUNTS.join(', /')})`,
  read: (value) => {
    const [, name] = typeof value === 'string' ? (/^\/([a-z0-9][a-z0-9-]{0,49})$/.exec(value) ?? []) : []
    return name === undefined || RESERVED_MOUNTS.includes(name) ? undefined : name
  },
  blank: '',
}

const headerName: FieldType<string> = {
  expected: `the name of a header that carries no credential of the service (${CREDENTIALS.join(', ')})`,
  read: (value) => {
    if (typeof value !== 'string' || !HEADER_NAME.test(value)) return undefined
    const name = value.toLowerCase()
    return CREDENTIALS.includes(name) ? undefined : name
  },
  blank: '',
}

/**
 * Reads the list `plugins`, with the fields of OpenZeppelin Relayer and ours. `isRemote`: another host runs
 * them, so neither their files nor their variables have to be here.
 */
export function readPlugins(
  file: Reader,
  sources: Sources,
  { problems, isRemote }: { readonly problems: string[]; readonly isRemote: boolean },
): PluginConfig[] {
  const plugins = file.items('plugins').flatMap(({ value, path }) => {
    const reader = openReader(value, path, problems)
    if (!reader) return []
    const plugin = readPlugin(reader, sources, isRemote)
    reader.finish()
    return [plugin]
  })
  const mounts = plugins.flatMap(({ mount }) => mount?.name ?? [])
  for (const twice of new Set(mounts.filter((one, at) => mounts.indexOf(one) !== at)))
    file.problem(`the mount "/${twice}" is that of more than one plugin`)
  for (const twice of new Set(
    plugins.map((plugin) => plugin.id).filter((one, at, all) => all.indexOf(one) !== at),
  ))
    if (twice !== '') file.problem(`plugin "${twice}" is defined more than once`)
  return plugins
}

const timezone: FieldType<string> = {
  expected: 'an IANA name, e.g. Europe/Berlin',
  read: (value) => (typeof value === 'string' && isTimeZone(value) ? value : undefined),
  blank: 'UTC',
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

function readPlugin(reader: Reader, sources: Sources, isRemote: boolean): PluginConfig {
  const path = reader.get('path', text)
  return {
    id: reader.get('id', pluginId),
    path,
    file: isRemote || path === '' ? undefined : readFile(reader, path, sources),
    settings: readSettings(reader),
    rights: readRights(reader),
    env: readEnv(reader, sources, isRemote),
    memoryMb: reader.find('memory_mb', whole(16, 4_096)) ?? DEFAULT_MEMORY_MB,
    forwardHeaders: reader.list('forward_headers', headerName),
    rawBody: reader.find('raw_body', flag) ?? false,
    mount: readMount(reader),
    hooks: readHooks(reader),
  }
}

function readHooks(plugin: Reader): PluginHooks {
  const reader = plugin.object('hooks')
  if (reader === undefined) return NO_HOOKS
  const schedule = (reader.objects('schedule') ?? []).map(readSchedule)
  const hooks = {
    before_send: readPart(reader, 'before_send', readBeforeSend),
    on_event: readPart(reader, 'on_event', readEventHook),
    schedule,
  }
  if (schedule.length > MAX_SCHEDULES) reader.problem(`must have at most ${MAX_SCHEDULES} items`, 'schedule')
  const names = schedule.map(({ name }) => name)
  for (const twice of new Set(names.filter((name, at) => names.indexOf(name) !== at)))
    if (twice !== '') reader.problem(`has the name "${twice}" more than once`, 'schedule')
  reader.finish()
  return hooks
}

function readPart<T>(reader: Reader, key: string, read: (part: Reader) => T): T | undefined {
  const part = reader.object(key)
  if (part === undefined) return undefined
  const value = read(part)
  part.finish()
  return value
}

function readTimeout(reader: Reader, hook: keyof typeof HOOK_TIMEOUTS): number {
  const { standard, longest } = HOOK_TIMEOUTS[hook]
  return reader.find('timeout', whole(1, longest)) ?? standard
}

function readBeforeSend(reader: Reader): BeforeSendHook {
  const onFailure = reader.find('on_failure', oneOf('refuse', 'allow')) ?? 'refuse'
  return { timeout: readTimeout(reader, 'before_send'), onFailure }
}

function readEventHook(reader: Reader): EventHook {
  const types = reader.raw('types') === undefined ? undefined : reader.list('types', oneOf(...HOOKED_EVENTS))
  if (types?.length === 0) reader.problem('must name at least one type, or be absent', 'types')
  return { ...(types && { types }), timeout: readTimeout(reader, 'on_event') }
}

function readSchedule(reader: Reader): ScheduleHook {
  const schedule = {
    name: reader.get('name', id),
    cron: reader.get('cron', text),
    timezone: reader.find('timezone', timezone) ?? 'UTC',
    timeout: readTimeout(reader, 'schedule'),
  }
  if (schedule.cron !== '') {
    const problem = findCronProblem(schedule)
    if (problem !== undefined) reader.problem(`cannot be read: ${problem}`, 'cron')
  }
  reader.finish()
  return schedule
}

function findCronProblem(schedule: ScheduleHook): string | undefined {
  try {
    readTimes(schedule)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function readMount(reader: Reader): PluginMount | undefined {
  const name = reader.find('mount', mountName)
  const isOpen = reader.find('open_mount', flag)
  const corsOrigins = reader.list('cors_origins', webOrigin)
  if (name === undefined && isOpen !== undefined) reader.problem('needs "mount"', 'open_mount')
  if (name === undefined && corsOrigins.length > 0) reader.problem('needs "mount"', 'cors_origins')
  const sockets = readPart(reader, 'sockets', readSockets)
  if (name === undefined && sockets !== undefined) reader.problem('needs "mount"', 'sockets')
  return name === undefined ? undefined : { name, isOpen: isOpen ?? false, corsOrigins, sockets }
}

const socketPath: FieldType<string> = {
  expected: 'a path below the mount, such as "/ws"',
  read: (value) => {
    const [, path] = typeof value === 'string' ? (/^\/([A-Za-z0-9._/-]{1,100})$/.exec(value) ?? []) : []
    return path
  },
  blank: '',
}

const parameterName: FieldType<string> = {
  expected: 'the name of a query parameter, such as "apiKey"',
  read: (value) => (typeof value === 'string' && /^[A-Za-z0-9_-]{1,50}$/.test(value) ? value : undefined),
  blank: '',
}

/** The most WebSockets that an entry may allow. Each takes a connection and a file descriptor. */
const MAX_SOCKETS = 100_000

function readSockets(reader: Reader): PluginSockets {
  return {
    path: reader.find('path', socketPath) ?? DEFAULT_SOCKETS.path,
    keyParameter: reader.find('key_parameter', parameterName),
    max: reader.find('max', whole(1, MAX_SOCKETS)) ?? DEFAULT_SOCKETS.max,
    maxPerCaller: reader.find('max_per_caller', whole(1, MAX_SOCKETS)) ?? DEFAULT_SOCKETS.maxPerCaller,
  }
}

function readSettings(reader: Reader): PluginSettings {
  const config = reader.object('config') === undefined ? undefined : reader.raw('config')
  return {
    timeout: reader.find('timeout', whole(1, MAX_TIMEOUT)) ?? DEFAULT_SETTINGS.timeout,
    emitLogs: reader.find('emit_logs', flag) ?? DEFAULT_SETTINGS.emitLogs,
    emitTraces: reader.find('emit_traces', flag) ?? DEFAULT_SETTINGS.emitTraces,
    rawResponse: reader.find('raw_response', flag) ?? DEFAULT_SETTINGS.rawResponse,
    allowGetInvocation: reader.find('allow_get_invocation', flag) ?? DEFAULT_SETTINGS.allowGetInvocation,
    forwardLogs: reader.find('forward_logs', flag) ?? DEFAULT_SETTINGS.forwardLogs,
    ...(config !== undefined && { config: withoutBigints(config) as Record<string, unknown> }),
  }
}

function readRights(reader: Reader): Rights {
  const relayers = reader.raw('relayers') === undefined ? undefined : reader.list('relayers', relayerPattern)
  if (relayers?.length === 0) reader.problem('must name at least one relayer, or be absent', 'relayers')
  const scopes = reader.raw('scopes') === undefined ? DEFAULT_SCOPES : reader.list('scopes', scope)
  const rulesReader = reader.object('rules')
  const rules = rulesReader && readRules(rulesReader)
  const rights = {
    scopes: [...new Set(scopes)],
    visibility: { ...(relayers && { relayers }) },
    ...(rules && { rules }),
  }
  const contradiction = findContradiction(rights)
  if (contradiction !== undefined) reader.problem(contradiction.replace(/^body\.scopes: /, ''), 'scopes')
  return rights
}

function readEnv(reader: Reader, sources: Sources, isRemote: boolean): Record<string, string> {
  const names = reader.list('env', text)
  const found: Record<string, string> = {}
  for (const name of names) {
    sources.referred.add(name)
    const value = sources.env[name]
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) reader.problem('must be a list of names of variables', 'env')
    else if (FORBIDDEN_ENV.test(name)) reader.problem(`may not hand ${name} to a plugin`, 'env')
    else if (value !== undefined) found[name] = value
    else if (!isRemote) reader.problem(`refers to the environment variable ${name}, which is not set`, 'env')
  }
  return found
}

const EXTENSION = /\.(ts|mts|js|mjs)$/

/** Files of existing deployments name paths below a folder `plugins`, which is in the working directory. */
function readFile(reader: Reader, path: string, { folder, cwd }: Sources): string | undefined {
  if (!EXTENSION.test(path)) {
    reader.problem('must end in .ts, .mts, .js or .mjs', 'path')
    return undefined
  }
  const folders = [folder, join(folder, 'plugins'), join(cwd, 'plugins'), cwd]
  const candidates = isAbsolute(path) ? [path] : folders.map((one) => resolve(one, path))
  const file = candidates.find((one) => existsSync(one))
  if (file === undefined) reader.problem(`names a file that does not exist${suggestion(path)}`, 'path')
  return file
}

function suggestion(path: string): string {
  return isAbsolute(path)
    ? ''
    : '; relative paths count from the folder of the configuration file, from "plugins" in it, and from the working directory'
}

const MIN_SECRET = 32
const LEVELS: readonly LogLevel[] = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

/** Reads the settings of `relayer plugins serve`. */
export function readPluginHostSettings(
  env: Readonly<Record<string, string | undefined>>,
  problems: string[],
) {
  const { RELAYER_PLUGINS_SECRET: secret = '', RELAYER_PLUGINS_PORT: port = '8090', LOG_LEVEL: level } = env
  if (secret.length < MIN_SECRET) problems.push(TOO_SHORT)
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
    problems.push('RELAYER_PLUGINS_PORT must be a whole number from 0 to 65535')
  const logLevel = LEVELS.find((known) => known === (level ?? 'info').toLowerCase()) ?? 'info'
  const user = readPluginUser(env, problems)
  return { secret, port: Number(port), host: env.HOST || '0.0.0.0', user, logLevel }
}

const TOO_SHORT = `RELAYER_PLUGINS_SECRET must have at least ${MIN_SECRET} characters`

/** Reads where another host runs the plugins: RELAYER_PLUGINS_URL and RELAYER_PLUGINS_SECRET. */
export function readPluginHost(
  env: Readonly<Record<string, string | undefined>>,
  problems: string[],
): PluginHostAddress | undefined {
  const { RELAYER_PLUGINS_URL: url, RELAYER_PLUGINS_SECRET: secret = '' } = env
  if (!url) return undefined
  if (!/^wss?:\/\//.test(url) || !URL.canParse(url))
    problems.push('RELAYER_PLUGINS_URL must be a ws:// or wss:// url, e.g. ws://plugins:8090')
  if (secret.length < MIN_SECRET) problems.push(TOO_SHORT)
  return { url, secret }
}
