/** What one request may cost. Times in milliseconds, sizes in bytes. */
export interface Limits {
  /** Request body. Default 1 MiB. */
  readonly bodyBytes: number
  /** Arrays and objects inside each other. Default 32. */
  readonly jsonDepth: number
  /** Request line and headers together. Default 16 KiB. */
  readonly headerBytes: number
  /** From the first byte of a connection to the end of the headers. Default 10 s. */
  readonly headersTimeoutMs: number
  /** From the headers to the answer, the arrival of the body included. Default 30 s. */
  readonly requestTimeoutMs: number
  /** How long an idle connection stays open; longer than the usual 60 s of load balancers. Default 65 s. */
  readonly keepAliveTimeoutMs: number
  /** Open connections; further ones are closed at once. Default 256. */
  readonly maxConnections: number
}

/** Limits that suit a service behind a load balancer. */
export const DEFAULT_LIMITS: Limits = {
  bodyBytes: 1_048_576,
  jsonDepth: 32,
  headerBytes: 16_384,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveTimeoutMs: 65_000,
  maxConnections: 256,
}
