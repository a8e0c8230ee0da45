import type { Db } from '../database/db.ts'
import type { Clock } from '../lib/time.ts'
import { encodeRules } from '../spending/rule-table.ts'
import { type ApiKey, endOfKey } from './api-key.ts'
import { type KeySnapshot, readKeySnapshot, readKeyVersion, saveUses } from './api-keys-store.ts'
import { type Principal, principalOf, ROOT, ROOT_ID } from './principal.ts'

/** The longest time in ms between two writes of the last use of a key. */
const USES_EVERY_MS = 60_000

/**
 * The API keys of the database, as this process knows them, so that a request costs no query. A database
 * notification brings changes immediately; `look`, which the caller repeats, brings those whose notification
 * was lost.
 */
export interface KeyDirectory {
  /**
   * Returns the principal of a secret by its hash in hex digits; undefined for an unknown one, and for a key
   * that is disabled or has ended.
   */
  find(secretHash: string): Principal | undefined
  /** Returns the principal of a key, by the same rules. */
  byId(id: string): Principal | undefined
  /**
   * Reads the keys, if any of them changed. Ends the principals of those that did, and writes the last uses.
   */
  look(): Promise<void>
}

interface Known {
  readonly key: ApiKey
  readonly principal: Principal
  readonly end: AbortController
}

/** Creates a directory, which knows no key until its first look. */
export function createKeyDirectory({ db, clock }: { db: Db; clock: Clock }): KeyDirectory {
  let version: bigint | undefined
  let byId: ReadonlyMap<string, Known> = new Map()
  let byHash: ReadonlyMap<string, { readonly keyId: string; readonly expiresAt?: Date | undefined }> =
    new Map()
  let uses = new Map<string, Date>()
  let usesSavedAt = clock.monotonic()

  const isOver = (expiresAt: Date | undefined) =>
    expiresAt !== undefined && expiresAt.getTime() <= clock.now()

  function valid(id: string): Principal | undefined {
    if (id === ROOT_ID) return ROOT
    const known = byId.get(id)
    return known === undefined || endOfKey(known.key, clock.now()) ? undefined : known.principal
  }

  function adopt(snapshot: KeySnapshot): void {
    const next = new Map(snapshot.keys.map((key) => [key.id, unchanged(byId.get(key.id), key) ?? known(key)]))
    const gone = [...byId].filter(([id, { principal }]) => next.get(id)?.principal !== principal)
    byId = next
    byHash = new Map(snapshot.secrets.map((secret) => [secret.hash, secret]))
    version = snapshot.version
    for (const [, { end }] of gone) end.abort()
  }

  function endExpired(): void {
    for (const { key, end } of byId.values()) if (endOfKey(key, clock.now())) end.abort()
  }

  async function writeUses(): Promise<void> {
    if (uses.size === 0 || clock.monotonic() - usesSavedAt < USES_EVERY_MS) return
    const written = uses
    uses = new Map()
    usesSavedAt = clock.monotonic()
    await saveUses(db, written)
  }

  return {
    find: (secretHash) => {
      const found = byHash.get(secretHash)
      const principal = found && !isOver(found.expiresAt) ? valid(found.keyId) : undefined
      if (principal !== undefined) uses.set(principal.id, new Date(clock.now()))
      return principal
    },
    byId: valid,
    look: async () => {
      if (version === undefined || (await readKeyVersion(db)) !== version) adopt(await readKeySnapshot(db))
      endExpired()
      await writeUses()
    },
  }
}

function known(key: ApiKey): Known {
  const end = new AbortController()
  return { key, principal: principalOf(key.id, key, end.signal), end }
}

/** Keeps the entry of a key whose rights did not change, so that its streams continue. */
function unchanged(before: Known | undefined, key: ApiKey): Known | undefined {
  return before !== undefined && rightsOf(before.key) === rightsOf(key) ? before : undefined
}

function rightsOf({ scopes, visibility, rules, expiresAt, disabled }: ApiKey): string {
  const { relayers, networks } = visibility
  return JSON.stringify([scopes, relayers, networks, rules && encodeRules(rules), expiresAt, disabled])
}
