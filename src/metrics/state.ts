/** How many transactions of a relayer are in a status. */
export interface StatusCount {
  readonly relayerId: string
  readonly networkType: string
  readonly status: string
  readonly count: number
}

/** What the database knows. */
export interface StoredState {
  readonly transactions: readonly StatusCount[]
  /** Committed events that the relay has not looked at; absent when there is nobody to tell. */
  readonly eventsLag?: number | undefined
  /** Dead letters by notification. */
  readonly deadLetters: ReadonlyMap<string, number>
  /** Relayers that the service has disabled, by type of the reason. */
  readonly disabledRelayers: ReadonlyMap<string, number>
  /** Leases of this process by kind. */
  readonly leases: ReadonlyMap<string, number>
}

/** How a loop of this process is doing. */
export interface WorkerState {
  /** The kind comes first: `watch sepolia`. */
  readonly name: string
  /** Milliseconds since the last round that ended well. */
  readonly quietMs: number
  /** The last round failed. */
  readonly error?: string
}

/** What is not counted while it happens but asked for when somebody looks. */
export interface StateSource {
  workers(): readonly WorkerState[]
  /** Rejects when the database does not answer. */
  stored(): Promise<StoredState>
}
