/** The number of transactions of a relayer in a status. */
export interface StatusCount {
  readonly relayerId: string
  readonly networkType: string
  readonly status: string
  readonly count: number
}

/** The state that is read from the database. */
export interface StoredState {
  readonly transactions: readonly StatusCount[]
  /** The number of committed events whose delivery was never tried; absent without notifications. */
  readonly eventsLag?: number | undefined
  /** Dead letters by notification. */
  readonly deadLetters: ReadonlyMap<string, number>
  /** Relayers that the service has disabled, by type of the reason. */
  readonly disabledRelayers: ReadonlyMap<string, number>
  /** Leases of this process by kind. */
  readonly leases: ReadonlyMap<string, number>
}

/** The state of a loop of this process. */
export interface WorkerState {
  /** The name starts with the kind: `watch sepolia`. */
  readonly name: string
  /** Time in ms since the last successful round. */
  readonly quietMs: number
  /** The error of the last round; absent when it succeeded. */
  readonly error?: string
}

/** State that is read when metrics are read, instead of being counted as it happens. */
export interface StateSource {
  workers(): readonly WorkerState[]
  /** Reads the database; rejects when it does not answer. */
  stored(): Promise<StoredState>
}
