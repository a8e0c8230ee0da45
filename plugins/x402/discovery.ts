import { CallError } from '../shared/call-error.ts'
import { normalized } from '../shared/fields.ts'
import { isRecord, locked, type World } from '../shared/host.ts'
import type { Asked } from './asked.ts'
import type { Settings } from './config.ts'

/** A resource that was paid for, as x402's clients read it. */
interface Resource {
  readonly resource: string
  readonly type: 'http'
  readonly x402Version: 2
  /** The requirements of the newest payment. */
  readonly accepts: readonly Accepted[]
  readonly lastUpdated: string
}

interface Accepted {
  readonly scheme: string
  readonly network: string
  readonly amount: string
  readonly asset: string
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  readonly extra: object
}

/** All are one value of the plugin, so that filling it up takes no room from others. */
const KEY = 'discovery'

/** The most resources that are listed: the newest ones. */
const MAX_RESOURCES = 200

/** A value has at most 256 KiB; URLs and requirements are short. */
const MAX_RESOURCE_CHARACTERS = 512
const MAX_EXTRA_CHARACTERS = 512

/** A resource that was noted is not noted again before this time, in ms. */
const FRESH_MS = 3_600_000

/** The times at which this process noted each resource of a service. */
const noted = new WeakMap<object, Map<string, number>>()

/**
 * Notes that a resource was paid for, if the operator lists its payee and the origin of its URL. The URL is
 * what the payer sent, so the origin is what keeps others out. A failure costs the payment nothing.
 */
export async function noteResource({ request }: Asked, settings: Settings, world: World): Promise<void> {
  const { resource, requirements, version, networkName, scheme, maximum } = request
  const origins = settings.discovery.get(normalized(requirements.payTo))
  const url = readUrl(resource)
  if (version !== 2 || url === undefined || origins?.has(url.origin) !== true) return
  // The query may be the payer's own.
  const name = `${url.origin}${url.pathname}`
  const extra = JSON.stringify(requirements.extra)
  if (name.length > MAX_RESOURCE_CHARACTERS || extra.length > MAX_EXTRA_CHARACTERS) return
  const known = noted.get(world.memory) ?? new Map<string, number>()
  noted.set(world.memory, known)
  const now = world.now()
  if (now - (known.get(name) ?? -FRESH_MS) < FRESH_MS) return
  if (known.size >= MAX_RESOURCES) known.clear()
  known.set(name, now)
  const accepted: Accepted = {
    scheme,
    network: networkName,
    amount: maximum.toString(),
    asset: requirements.asset,
    payTo: requirements.payTo,
    maxTimeoutSeconds: requirements.maxTimeoutSeconds,
    extra: requirements.extra,
  }
  const entry: Resource = {
    resource: name,
    type: 'http',
    x402Version: 2,
    accepts: [accepted],
    lastUpdated: new Date(now).toISOString(),
  }
  await locked(world, `${KEY}:lock`, async () => {
    const others = (await readAll(world)).filter((each) => each.resource !== name)
    await world.kv.set(KEY, [entry, ...others].slice(0, MAX_RESOURCES))
  }).catch((error: unknown) => {
    known.delete(name)
    console.warn(error)
  })
}

function readUrl(resource: string | undefined): URL | undefined {
  const url = URL.parse(resource ?? '')
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' ? url : undefined
}

async function readAll(world: World): Promise<readonly Resource[]> {
  const value = await world.kv.get(KEY)
  return Array.isArray(value) ? (value.filter(isRecord) as unknown as Resource[]) : []
}

/** The resources of one answer. */
const MAX_LIMIT = 100
const DEFAULT_LIMIT = 20

/** Answers `GET /discovery/resources`: what was paid for lately, with the filters of x402's clients. */
export async function discovered(
  query: Readonly<Record<string, readonly string[]>>,
  settings: Settings,
  world: World,
): Promise<object> {
  if (settings.discovery.size === 0)
    throw new CallError(404, 'not_found', 'No resources are listed here: "discovery" of the config is empty.')
  const wanted = (name: string) => query[name]?.[0]
  const [type, payTo] = [wanted('type'), wanted('payTo')]
  const items = (await readAll(world)).filter(
    ({ accepts: [accepted] }) =>
      accepted !== undefined &&
      // One that the operator no longer lists is not told, either.
      settings.discovery.has(normalized(accepted.payTo)) &&
      (type === undefined || type === 'http') &&
      (payTo === undefined || normalized(payTo) === normalized(accepted.payTo)) &&
      isWanted(wanted('scheme'), accepted.scheme) &&
      isWanted(wanted('network'), accepted.network) &&
      wanted('extensions') === undefined,
  )
  const limit = Math.min(MAX_LIMIT, wholeOf(wanted('limit'), 'limit') ?? DEFAULT_LIMIT)
  const offset = wholeOf(wanted('offset'), 'offset') ?? 0
  return {
    x402Version: 2,
    items: items.slice(offset, offset + limit),
    pagination: { limit, offset, total: items.length },
  }
}

function isWanted(wanted: string | undefined, value: string): boolean {
  return wanted === undefined || wanted === value
}

function wholeOf(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,6}$/.test(text)) return Number(text)
  throw new CallError(400, `invalid_${name}`, `${name}: expected a number of at most six digits.`)
}
