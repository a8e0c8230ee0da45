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

/** Names the lease of an account. */
export function accountLeaseName(relayerId: string): string {
  return `account:${relayerId}`
}

/**
 * Shares the accounts among the live processes. Every process computes the same division from the same list
 * of processes, so nothing is negotiated; a process that starts gets its part of the accounts of each other
 * one, and those of a dead one go to all others alike. Leases decide: a process gives up the lease of an
 * account that is no longer its own as soon as no step is under way.
 */
export class SharedAccounts implements AccountShare {
  /** Says that this process is alive, and looks for the others. Absent if there can be no others. */
  readonly loops: readonly Loop[]
  readonly #db: Db
  readonly #log: Logger
  readonly #owner: string
  readonly #leases = new Map<string, Lease>()
  /** The accounts whose lease this process may have without knowing: an answer of the database was lost. */
  readonly #unsure = new Set<string>()
  readonly #inUse = new Set<string>()
  #cannotAct: readonly string[] = []
  #live: readonly LiveProcess[]
  #accounts: readonly string[] = []
  #owners = new Map<string, string>()
  #version = 0
  #onIdle: (() => void) | undefined
  #onChange = () => {}

  constructor({ db, clock, log, owner, isAlone }: AccountShareDeps) {
    this.#db = db
    this.#log = log
    this.#owner = owner
    this.#live = [{ id: owner, cannotAct: [] }]
    const work = () => this.#look()
    const loop = createLoop({ name: 'processes', intervalMs: SIGNAL_MS, clock, log, work })
    this.loops = isAlone ? [] : [{ ...loop, stop: () => this.#stop(loop) }]
  }

  get version(): number {
    return this.#version
  }

  has(relayerId: string): boolean {
    if (this.#live.length === 1) return true
    return (this.#owners.get(relayerId) ?? favourite(relayerId, this.#live)) === this.#owner
  }

  async lease(relayerId: string): Promise<Lease | undefined> {
    if (this.#onIdle !== undefined) return undefined
    this.#inUse.add(relayerId)
    const lease = this.#leases.get(relayerId) ?? (await this.#acquire(relayerId))
    if (lease === undefined) this.#endUse(relayerId)
    else this.#leases.set(relayerId, lease)
    return lease
  }

  async release(relayerId: string, { lost }: { readonly lost: boolean }): Promise<void> {
    if (lost) this.#leases.delete(relayerId)
    this.#endUse(relayerId)
    if (!this.has(relayerId)) await this.#giveUp()
  }

  /**
   * Sets the accounts to share, by the ids of their relayers, and those among them that this process cannot
   * act for.
   */
  setAccounts(relayerIds: readonly string[], cannotAct: readonly string[]): void {
    this.#accounts = relayerIds
    this.#cannotAct = cannotAct
    if (this.#live.length > 1) this.#divide()
  }

  /** Sets what is called whenever other accounts belong to this process. */
  onChange(listener: () => void): void {
    this.#onChange = listener
  }

  async #look(): Promise<void> {
    const seen = await signalLife(this.#db, { id: this.#owner, cannotAct: this.#cannotAct })
    if (!isDeepStrictEqual(seen, this.#live)) {
      if (seen.length !== this.#live.length)
        this.#log.info({ processes: seen.length }, 'the live processes share the accounts')
      this.#live = seen
      this.#divide()
      this.#onChange()
    }
    await this.#giveUp()
  }

  #divide(): void {
    this.#owners = this.#live.length === 1 ? new Map() : divideAccounts(this.#accounts, this.#live)
    this.#version += 1
  }

  async #acquire(relayerId: string): Promise<Lease | undefined> {
    try {
      const name = accountLeaseName(relayerId)
      const lease = await acquireForLife(this.#db, { name, owner: this.#owner })
      this.#unsure.delete(relayerId)
      return lease
    } catch (error) {
      this.#unsure.add(relayerId)
      this.#endUse(relayerId)
      throw error
    }
  }

  #endUse(relayerId: string): void {
    this.#inUse.delete(relayerId)
    if (this.#inUse.size === 0) this.#onIdle?.()
  }

  /**
   * Gives up what belongs to others and is not in use. What the database did not confirm is given up again,
   * or no one could work for it.
   */
  async #giveUp(): Promise<void> {
    const leased = new Set([...this.#leases.keys(), ...this.#unsure])
    const ended = [...leased].filter((id) => !this.has(id) && !this.#inUse.has(id))
    if (ended.length === 0) return
    for (const id of ended) {
      this.#leases.delete(id)
      this.#unsure.add(id)
    }
    await releaseOwn(this.#db, { owner: this.#owner, names: ended.map(accountLeaseName) })
    for (const id of ended) this.#unsure.delete(id)
  }

  /** Ends when no step is under way, so that no other process begins one before. */
  async #stop(loop: Loop): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#onIdle = resolve
    if (this.#inUse.size === 0) resolve()
    await promise
    await loop.stop()
    await signalEnd(this.#db, this.#owner)
  }
}

/**
 * Divides the accounts among processes. Each account goes to the process that it favours among those that can
 * act for it, as long as that has not its part of all accounts already, and otherwise to the next one
 * (rendezvous hashing with bounded loads). So all have nearly the same number of accounts, and few accounts
 * move when a process comes or goes. Pure.
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
