import type { HealthReading } from '../relayers/health/health.ts'

/** The number of transactions of a relayer in a status. */
export interface StatusCount {
  readonly relayerId: string
  readonly networkType: string
  readonly status: string
  readonly count: number
  /** The time when the oldest of them was created; absent for final ones. */
  readonly oldestAt?: Date
}

/** The state of an RPC endpoint in the eyes of this process. */
export interface EndpointState {
  readonly network: string
  readonly host: string
  readonly up: boolean
  /** It only takes the bytes of private transactions. */
  readonly isPrivate: boolean
}

/** The newest block of a network, as the endpoints report it to this process. */
export interface HeadAge {
  readonly network: string
  /** The time for which no newer one has been seen, in seconds. */
  readonly ageSeconds: number
  /** From this age on, the network counts as halted; undefined if its age means nothing. */
  readonly limitSeconds: number | undefined
}

/** The state that is read from the database. */
export interface StoredState {
  readonly transactions: readonly StatusCount[]
  /** The number of committed events whose delivery was never tried; absent without notifications. */
  readonly eventsLag?: number | undefined
  /**
   * The time of the oldest event that waits for its delivery, by notification; notifications without any, and
   * paused ones, are absent.
   */
  readonly oldestWaiting: ReadonlyMap<string, Date>
  /** Dead letters by notification. */
  readonly deadLetters: ReadonlyMap<string, number>
  /** Relayers that the service has disabled, by type of the reason. */
  readonly disabledRelayers: ReadonlyMap<string, number>
  /** Alerts that fire, by kind. */
  readonly alerts: ReadonlyMap<string, number>
  /** 1 if a standby has every answered commit, 0 if none must; absent where the database cannot tell. */
  readonly synchronous?: 0 | 1 | undefined
  /** Leases of this process by kind. */
  readonly leases: ReadonlyMap<string, number>
}

/** The state of a loop of this process. */
export interface WorkerState {
  /** The name starts with the kind: `watch sepolia`. */
  readonly name: string
  /** Time in ms since the last successful round. */
  readonly quietMs: number
  /** The error of the last round; absent if it succeeded. */
  readonly error?: string
}

/** State that is read when metrics are read, instead of being counted as it happens. */
export interface StateSource {
  workers(): readonly WorkerState[]
  readings(): readonly HealthReading[]
  endpoints(): readonly EndpointState[]
  heads(): readonly HeadAge[]
  /** Reads the database; rejects when it does not answer. */
  stored(): Promise<StoredState>
}
