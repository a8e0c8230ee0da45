/** The limits of one request. Times are in milliseconds, sizes in bytes. */
export interface Limits {
  /** Request body. Default 1 MiB. */
  readonly bodyBytes: number
  /** Nesting of arrays and objects. Default 32. */
  readonly jsonDepth: number
  /** Values of a body. A larger number would hold the event loop for longer than other callers should wait. Default 20,000. */
  readonly jsonValues: number
  /** Request line and headers together. Default 16 KiB. */
  readonly headerBytes: number
  /** Time from the first byte of a connection to the end of the headers. Default 10 s. */
  readonly headersTimeoutMs: number
  /** Time from the headers to the answer, including the arrival of the body. Default 30 s. */
  readonly requestTimeoutMs: number
  /**
   * Life of an idle connection that has shown a valid key. It exceeds the usual 60 s of load balancers, which must close first.
   * Default 65 s.
   */
  readonly keepAliveTimeoutMs: number
  /** Life of an idle connection that has not shown a valid key. Default 5 s. */
  readonly unauthenticatedKeepAliveMs: number
  /** Number of open connections; for one more, the server closes the least recently used unauthenticated one. Default 4096. */
  readonly maxConnections: number
  /** Number of connections of one peer that have not shown a valid key. Absent: a quarter of `maxConnections`. */
  readonly connectionsPerPeer?: number | undefined
}

/** The default limits suit a service behind a load balancer. */
export const DEFAULT_LIMITS: Limits = {
  bodyBytes: 1_048_576,
  jsonDepth: 32,
  jsonValues: 20_000,
  headerBytes: 16_384,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveTimeoutMs: 65_000,
  unauthenticatedKeepAliveMs: 5_000,
  maxConnections: 4_096,
}
