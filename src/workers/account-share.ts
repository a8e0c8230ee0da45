import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import type { Db } from '../database/db.ts'
import type { Lease } from '../database/lease.ts'
import {
  acquireForLife,
  LIFETIME_MS,
  type LiveProcess,
  releaseOwn,
  signalEnd,
  signalLife,
} from '../database/processes.ts'
import type { Clock } from '../lib/time.ts'
import type { AccountShare } from '../transactions/model/runtime.ts'
import { createLoop, type Loop } from './loop.ts'

/** Time in ms between two signs of life. Three of them may fail before the process counts as dead. */
const SIGNAL_MS = LIFETIME_MS / 4

interface AccountShareDeps {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
  /** Identifies this process in leases. */
  readonly owner: string
  /** No other process can have the database open, so this one says nothing to others. */
  readonly isAlone: boolean
}

/** The share of this process, with what keeps it current. */
export interface SharedAccounts extends AccountShare {
  /** Says that this process is alive, and looks for the others. Absent if there can be no others. */
  readonly loops: readonly Loop[]
  /** Sets the accounts to share, by the ids of their relayers, and those among them that this process cannot act for. */
  setAccounts(relayerIds: readonly string[], cannotAct: readonly string[]): void
  /** Sets what is called whenever other accounts belong to this process. */
  onChange(listener: () => void): void
}

/** Names the lease of an account. */
export function accountLeaseName(relayerId: string): string {
  return `account:${relayerId}`
}

/**
 * Shares the accounts among the live processes. Every process computes the same division from the same list of processes, so nothing is
 * negotiated; a process that starts gets its part of the accounts of each other one, and those of a dead one go to all others alike. Leases
 * decide: a process gives up the lease of an account that is no longer its own as soon as no step is under way.
 */
export function createAccountShare(deps: AccountShareDeps): SharedAccounts {
  const { db, clock, log, owner } = deps
  const leases = new Map<string, Lease>()
  /** The accounts whose lease this process may have without knowing: an answer of the database was lost. */
  const unsure = new Set<string>()
  const inUse = new Set<string>()
  let cannotAct: readonly string[] = []
  let live: readonly LiveProcess[] = [{ id: owner, cannotAct }]
  let accounts: readonly string[] = []
  let owners = new Map<string, string>()
  let version = 0
  let onIdle: (() => void) | undefined
  let tell = () => {}

  const has = (relayerId: string) =>
    live.length === 1 || (owners.get(relayerId) ?? favourite(relayerId, live)) === owner

  function divide(): void {
    owners = live.length === 1 ? new Map() : divideAccounts(accounts, live)
    version += 1
  }

  /** Gives up what belongs to others and is not in use. What the database did not confirm is given up again, or no one could work for it. */
  async function giveUp(): Promise<void> {
    const ended = [...new Set([...leases.keys(), ...unsure])].filter((id) => !has(id) && !inUse.has(id))
    if (ended.length === 0) return
    for (const id of ended) {
      leases.delete(id)
      unsure.add(id)
    }
    await releaseOwn(db, { owner, names: ended.map(accountLeaseName) })
    for (const id of ended) unsure.delete(id)
  }

  function endUse(relayerId: string): void {
    inUse.delete(relayerId)
    if (inUse.size === 0) onIdle?.()
  }

  async function acquire(relayerId: string): Promise<Lease | undefined> {
    try {
      const lease = await acquireForLife(db, { name: accountLeaseName(relayerId), owner })
      unsure.delete(relayerId)
      return lease
    } catch (error) {
      unsure.add(relayerId)
      endUse(relayerId)
      throw error
    }
  }

  const loop = createLoop({
    name: 'processes',
    intervalMs: SIGNAL_MS,
    clock,
    log,
    work: async () => {
      const seen = await signalLife(db, { id: owner, cannotAct })
      if (!isDeepStrictEqual(seen, live)) {
        if (seen.length !== live.length)
          log.info({ processes: seen.length }, 'the live processes share the accounts')
        live = seen
        divide()
        tell()
      }
      await giveUp()
    },
  })

  /** Ends when no step is under way, so that no other process begins one before. */
  async function stop(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    onIdle = resolve
    if (inUse.size === 0) resolve()
    await promise
    await loop.stop()
    await signalEnd(db, owner)
  }

  return {
    has,
    get version() {
      return version
    },
    async lease(relayerId) {
      if (onIdle !== undefined) return undefined
      inUse.add(relayerId)
      const lease = leases.get(relayerId) ?? (await acquire(relayerId))
      if (lease === undefined) endUse(relayerId)
      else leases.set(relayerId, lease)
      return lease
    },
    async release(relayerId, { lost }) {
      if (lost) leases.delete(relayerId)
      endUse(relayerId)
      if (!has(relayerId)) await giveUp()
    },
    setAccounts(relayerIds, unable) {
      accounts = relayerIds
      cannotAct = unable
      if (live.length > 1) divide()
    },
    onChange(listener) {
      tell = listener
    },
    loops: deps.isAlone ? [] : [{ ...loop, stop }],
  }
}

/**
 * Divides the accounts among processes. Each account goes to the process that it favours among those that can act for it, as long as that has
 * not its part of all accounts already, and otherwise to the next one (rendezvous hashing with bounded loads). So all have nearly the same
 * number of accounts, and few accounts move when a process comes or goes. Pure.
 */
export function divideAccounts(
  accounts: readonly string[],
  processes: readonly LiveProcess[],
): Map<string, string> {
  const most = Math.ceil(accounts.length / processes.length)
  const counts = new Map<string, number>()
  const owners = new Map<string, string>()
  const divided = processes.map(({ id, cannotAct }) => ({ id, cannotAct: new Set(cannotAct) }))
  for (const account of [...accounts].sort()) {
    const able = ableOf(account, divided)
    const open = able.filter(({ id }) => (counts.get(id) ?? 0) < most)
    const owner = favourite(account, open.length > 0 ? open : able)
    owners.set(account, owner)
    counts.set(owner, (counts.get(owner) ?? 0) + 1)
  }
  return owners
}

/** Returns the processes that can act for the account: all of them if none can. */
function ableOf<P extends { readonly cannotAct: ReadonlySet<string> }>(
  account: string,
  processes: readonly P[],
): readonly P[] {
  const able = processes.filter(({ cannotAct }) => !cannotAct.has(account))
  return able.length > 0 ? able : processes
}

/** Returns the id of the process whose weight with the account is the highest. Pure. */
function favourite(account: string, processes: readonly Pick<LiveProcess, 'id'>[]): string {
  let best = { id: '', weight: -1 }
  for (const { id } of processes) {
    const weight = weightOf(account, id)
    if (weight > best.weight) best = { id, weight }
  }
  return best.id
}

function weightOf(account: string, process: string): number {
  return createHash('sha1').update(`${process} ${account}`).digest().readUInt32BE()
}
