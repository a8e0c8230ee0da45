import { randomUUID } from 'node:crypto'
import { appendManagement } from '../audit/append-store.ts'
import { CLI_AUTHOR, CONFIGURATION, changedFields, SERVICE } from '../audit/entry.ts'
import type { Schemas } from '../contract/operations.ts'
import type { Db, Tx } from '../database/db.ts'
import { transact } from '../database/locks/transact.ts'
import { AppError } from '../errors.ts'
import { omitUndefined } from '../lib/object.ts'
import type { Clock } from '../lib/time.ts'
import type { SpendingRules } from '../spending/rules.ts'
import { type ApiKey, drawSecret, hashSecret, KEYS_OF_PLUGINS, prefixOf } from './api-key.ts'
import {
  deleteApiKey,
  findApiKey,
  insertApiKey,
  listApiKeys,
  lockApiKey,
  type NewSecret,
  replaceSecret,
  updateApiKey,
} from './api-keys-store.ts'
import type { Rights } from './principal.ts'
import { type Actor, IDS_OF_PEOPLE, isWithin, type Principal, ROOT_ID, seesEverything } from './principal.ts'
import { deploymentScopes } from './scope.ts'

/** A request for a new key. */
export interface ApiKeyRequest extends Rights {
  /** The id; a new UUID by default. */
  readonly id?: string | undefined
  readonly name: string
}

/** The fields to change. Null removes a limit. */
interface ApiKeyPatch {
  readonly name?: string | undefined
  readonly scopes?: Rights['scopes'] | undefined
  readonly relayers?: readonly string[] | null | undefined
  readonly networks?: readonly string[] | null | undefined
  readonly disabled?: boolean | undefined
  readonly rules?: SpendingRules | null | undefined
  readonly expiresAt?: Date | null | undefined
}

/** The sender of a request that manages keys. */
interface Requester {
  readonly principal: Principal
  readonly actor: Actor
}

/** A key with a secret that was just drawn. It is the only copy. */
export interface IssuedApiKey {
  readonly key: ApiKey
  readonly secret: string
}

/**
 * The verbs of callers on API keys. A key manages only keys that it could have created, so that no key can
 * pass on more than its own rights.
 */
export interface ApiKeyManager {
  list(range: { readonly offset: number; readonly limit: number }): ReturnType<typeof listApiKeys>
  /** @throws AppError 404 */
  get(id: string): Promise<ApiKey>
  /**
   * @throws AppError 400 for rights that contradict each other, that the creator does not have, or that have
   * ended; 409 if the id was used
   */
  create(requester: Requester, request: ApiKeyRequest): Promise<IssuedApiKey>
  /** @throws AppError 404; 400 as for `create` */
  change(requester: Requester, id: string, patch: ApiKeyPatch): Promise<ApiKey>
  /**
   * Issues another secret. The current one is accepted for another `overlapMs`.
   * @throws AppError 404; 400 for a key that the caller could not have created
   */
  rotate(requester: Requester, id: string, overlapMs: number): Promise<IssuedApiKey>
  /** @throws AppError 404; 400 for a key that the caller could not have created */
  delete(requester: Requester, id: string): Promise<void>
}

/** Names by which the audit log knows others than API keys. */
const RESERVED: ReadonlySet<string> = new Set([ROOT_ID, CONFIGURATION.keyId, CLI_AUTHOR.keyId, SERVICE.keyId])

type ApiKeyAction = 'updateApiKey' | 'rotateApiKey' | 'deleteApiKey'

interface ApiKeyManagerDeps {
  readonly db: Db
  readonly clock: Clock
  /** Applies the change in this process before its caller gets the response. */
  readonly changed: () => Promise<void>
}

/** Creates the manager of this database's API keys. */
export function createApiKeyManager({ db, clock, changed }: ApiKeyManagerDeps): ApiKeyManager {
  const now = () => new Date(clock.now())

  async function get(id: string): Promise<ApiKey> {
    const key = await findApiKey(db, id, now())
    if (key === undefined) throw absent(id)
    return key
  }

  /**
   * Changes a key under its lock, if the caller could have created it, and records the change in the same
   * commit.
   */
  async function change(
    { principal, actor }: Requester,
    { id, action }: { readonly id: string; readonly action: ApiKeyAction },
    work: (tx: Tx, key: ApiKey) => Promise<void>,
  ): Promise<void> {
    await transact(db, async (tx) => {
      const key = (await lockApiKey(tx, id)) ? await findApiKey(tx, id, now()) : undefined
      if (key === undefined) throw absent(id)
      if (key.createdBy === CONFIGURATION.keyId) throw ofConfiguration(id)
      if (findMissingRight(key, principal) !== undefined) throw stronger(id)
      await work(tx, key)
      const after = await findApiKey(tx, id, now())
      const target = { type: 'api_key', id } as const
      await appendManagement(tx, { author: actor, action, target, ...recorded(key, after) })
    })
    await changed()
  }

  function drawn(): { secret: string; stored: NewSecret } {
    const secret = drawSecret()
    return { secret, stored: { hash: hashSecret(secret), prefix: prefixOf(secret), createdAt: now() } }
  }

  return {
    list: (range) => listApiKeys(db, { ...range, now: now() }),
    get,
    create: async ({ principal, actor }, { id = randomUUID(), name, ...rights }) => {
      requireGrantable(rights, principal)
      requireFuture(rights.expiresAt, now())
      if (RESERVED.has(id) || [KEYS_OF_PLUGINS, IDS_OF_PEOPLE].some((start) => id.startsWith(start)))
        throw idInUse(id)
      const { secret, stored } = drawn()
      const key = { id, name, ...rights, createdBy: principal.id, createdAt: stored.createdAt }
      const created = await transact(db, async (tx) => {
        if (!(await insertApiKey(tx, key, stored))) throw idInUse(id)
        const inserted = await findApiKey(tx, id, now())
        if (inserted === undefined) throw new Error(`API key ${id} was stored and is not there`)
        const target = { type: 'api_key', id } as const
        const after = shownApiKey(inserted)
        await appendManagement(tx, { author: actor, action: 'createApiKey', target, after })
        return inserted
      })
      await changed()
      return { key: created, secret }
    },
    change: async (requester, id, patch) => {
      if (patch.expiresAt) requireFuture(patch.expiresAt, now())
      await change(requester, { id, action: 'updateApiKey' }, async (tx, key) => {
        const patched = apply(key, patch)
        requireGrantable(patched, requester.principal)
        await updateApiKey(tx, id, patched)
      })
      return get(id)
    },
    rotate: async (requester, id, overlapMs) => {
      const { secret, stored } = drawn()
      const previousEnds = new Date(stored.createdAt.getTime() + overlapMs)
      const way = { id, action: 'rotateApiKey' } as const
      await change(requester, way, (tx) => replaceSecret(tx, id, { secret: stored, previousEnds }))
      return { key: await get(id), secret }
    },
    delete: (requester, id) =>
      change(requester, { id, action: 'deleteApiKey' }, (tx) => deleteApiKey(tx, id, now())),
  }
}

/** Returns the changed fields; all fields of a deleted key. */
function recorded(before: ApiKey, after: ApiKey | undefined) {
  if (after === undefined) return { before: shownApiKey(before) }
  return changedFields({ before, after, show: shownApiKey })
}

function apply(key: ApiKey, patch: ApiKeyPatch): ApiKey {
  const { name = key.name, scopes = key.scopes, disabled = key.disabled } = patch
  const {
    relayers = key.visibility.relayers,
    networks = key.visibility.networks,
    rules = key.rules,
    expiresAt = key.expiresAt,
  } = patch
  return {
    ...key,
    name,
    scopes,
    disabled,
    visibility: { relayers: relayers ?? undefined, networks: networks ?? undefined },
    rules: rules ?? undefined,
    expiresAt: expiresAt ?? undefined,
  }
}

function requireGrantable(rights: Rights, principal: Principal): void {
  const problem = findContradiction(rights) ?? findMissingRight(rights, principal)
  if (problem !== undefined) throw new AppError('invalid_request', problem)
}

function requireFuture(expiresAt: Date | undefined, now: Date): void {
  if (expiresAt === undefined || expiresAt.getTime() > now.getTime()) return
  throw new AppError('invalid_request', 'body.expires_at: expected a time in the future.')
}

function ofConfiguration(id: string) {
  return new AppError(
    'invalid_request',
    `API key ${id} belongs to a plugin, so only the configuration file can change it.`,
  )
}

function stronger(id: string) {
  return new AppError(
    'invalid_request',
    `API key ${id} has rights that your own key lacks, so your key cannot change it.`,
  )
}

function idInUse(id: string) {
  return new AppError('already_exists', `There is an API key with the id ${id} already, or there was one.`)
}

function absent(id: string) {
  return new AppError('api_key_not_found', `There is no API key ${id}.`)
}

/**
 * Returns the contradiction in the rights of a key, as a sentence that names the field; undefined if there is
 * none.
 */
export function findContradiction({ scopes, visibility, rules }: Rights): string | undefined {
  if (rules !== undefined && scopes.includes('api-keys:admin'))
    return 'body.scopes: api-keys:admin cannot be limited by rules, because it could create keys without rules. Remove the scope or the rules.'
  const [first, ...others] = seesEverything(visibility) ? [] : deploymentScopes(scopes)
  if (first === undefined) return undefined
  const all = [first, ...others].join(', ')
  return `body.scopes: ${all} cannot be limited to relayers or networks. Remove the scope, or relayers and networks.`
}

/**
 * Returns the right that a key would have and its creator has not, as a sentence that names the field;
 * undefined if there is none.
 */
export function findMissingRight(rights: Rights, creator: Principal): string | undefined {
  const further = rights.scopes.filter((scope) => !creator.may(scope))
  if (further.length > 0)
    return `body.scopes: your own key lacks ${further.join(', ')}, and a key can grant only what it has.`
  if (!isWithin(rights.visibility, creator.visibility))
    return 'body.relayers, body.networks: your own key does not see all of them.'
  if (isLater(rights.expiresAt, creator.expiresAt))
    return `body.expires_at: your own key ends at ${creator.expiresAt?.toISOString()}; expected that time or an earlier one.`
  return undefined
}

function isLater(wanted: Date | undefined, known: Date | undefined): boolean {
  return known !== undefined && (wanted === undefined || wanted.getTime() > known.getTime())
}

/** Gives the form of an API key that answers and the audit log may show. */
export function shownApiKey({ id, name, scopes, visibility, ...key }: ApiKey): Schemas['ApiKey'] {
  return omitUndefined({
    id,
    name,
    scopes,
    relayers: visibility.relayers,
    networks: visibility.networks,
    rules: key.rules,
    disabled: key.disabled,
    expires_at: key.expiresAt?.toISOString(),
    last_used_at: key.lastUsedAt?.toISOString(),
    created_at: key.createdAt.toISOString(),
    created_by: key.createdBy,
    secrets: key.secrets.map(({ prefix, createdAt, expiresAt }) =>
      omitUndefined({ prefix, created_at: createdAt.toISOString(), expires_at: expiresAt?.toISOString() }),
    ),
  })
}
