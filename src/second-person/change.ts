import { callerName } from '../access/principal.ts'
import type { OperationId } from '../contract/operations.ts'
import { AppError } from '../errors.ts'
import { maskUrl } from '../lib/http/mask-url.ts'
import { maskWebhookUrl } from '../notifications/notification.ts'

/** The input of an operation, as far as a change consists of it. */
export interface ChangeInput {
  readonly path: Readonly<Record<string, string>>
  readonly body: unknown
}

interface Covered {
  /** The kind of the record, and the parameter of the path that names it; a new one is named by its body. */
  readonly record: 'api_key' | 'relayer' | 'signer' | 'notification'
  readonly parameter?: string
  /** The field of the body that names a new record. Default: `id`. */
  readonly field?: string
  /** The only field of a body that needs no second person, because with this value it only takes away. */
  readonly harmless?: readonly [field: string, value: unknown]
}

/**
 * The operations that need a second person: those that decide who may do what, which rules limit it, who
 * signs, and who receives. To delete a key, to disable it and to pause a relayer only takes rights away, and
 * must never wait.
 */
const COVERED = {
  createApiKey: { record: 'api_key' },
  updateApiKey: { record: 'api_key', parameter: 'api_key_id', harmless: ['disabled', true] },
  rotateApiKey: { record: 'api_key', parameter: 'api_key_id' },
  createRelayer: { record: 'relayer' },
  updateRelayer: { record: 'relayer', parameter: 'relayer_id', harmless: ['paused', true] },
  deleteRelayer: { record: 'relayer', parameter: 'relayer_id' },
  createSigner: { record: 'signer' },
  createKey: { record: 'signer', field: 'signer_id' },
  deleteSigner: { record: 'signer', parameter: 'signer_id' },
  createNotification: { record: 'notification' },
  updateNotification: { record: 'notification', parameter: 'notification_id' },
  deleteNotification: { record: 'notification', parameter: 'notification_id' },
  rotateSigningKey: { record: 'notification', parameter: 'notification_id' },
} as const satisfies Partial<Record<OperationId, Covered>>

/** An operation that needs a second person. */
export type CoveredId = keyof typeof COVERED

/** Every operation that needs a second person. */
export const COVERED_IDS = Object.keys(COVERED) as readonly CoveredId[]

/** Returns true if a change only takes rights away. */
export function isHarmless(operation: CoveredId, { body }: ChangeInput): boolean {
  const { harmless }: Covered = COVERED[operation]
  if (harmless === undefined) return false
  const [field, value] = harmless
  const entries = Object.entries(Object(body) as object)
  return entries.length === 1 && entries[0]?.[0] === field && entries[0][1] === value
}

/** Names the record of a change, such as `api_key:payments`; undefined for a new one without an id. */
export function targetOf(operation: CoveredId, { path, body }: ChangeInput): string | undefined {
  const { record, parameter, field = 'id' }: Covered = COVERED[operation]
  const fields = Object(body) as Readonly<Record<string, unknown>>
  const named = parameter === undefined ? fields[field] : path[parameter]
  return typeof named === 'string' ? `${record}:${named}` : undefined
}

/** Returns the names of the fields that the contract never returns (`writeOnly`). */
export function secretFields(document: unknown): ReadonlySet<string> {
  const found = new Set<string>()
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    const { properties } = node as { readonly properties?: Readonly<Record<string, unknown>> }
    for (const [name, schema] of Object.entries(properties ?? {}))
      if ((Object(schema) as { readonly writeOnly?: unknown }).writeOnly === true) found.add(name)
    for (const inner of Object.values(node)) walk(inner)
  }
  walk(document)
  return found
}

const HIDDEN = '***'

/** Returns a change as people may see it: without secrets, and with urls as responses show them. */
export function shownChange(operation: CoveredId, input: ChangeInput, secrets: ReadonlySet<string>): object {
  const isWebhook = COVERED[operation].record === 'notification'
  const maskOf = (url: string) => (isWebhook ? maskWebhookUrl({ url, urlUntrusted: true }) : maskUrl(url))
  const show = (value: unknown, name: string): unknown => {
    if (secrets.has(name)) return HIDDEN
    if (typeof value === 'bigint') return value.toString()
    if (typeof value === 'string') return /^[a-z]+:\/\//i.test(value) ? maskOf(value) : value
    if (Array.isArray(value)) return value.map((item) => show(item, name))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, show(inner, key)]))
  }
  return { ...input.path, ...(Object(show(input.body ?? {}, 'body')) as object) }
}

/** Makes the failure for a caller who cannot propose: only people can be two. */
export function personRequired(id: string): AppError {
  return new AppError(
    'second_person_required',
    `${callerName(id)} cannot change this: a person proposes it, and another person approves. The key of the environment can do it alone.`,
  )
}
