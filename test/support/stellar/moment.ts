import type { Network } from './network.ts'
import type { View } from './state.ts'

/** The moment against which a transaction is checked. */
export interface Moment {
  readonly network: Network
  readonly view: View
  /** The ledger it is to become part of. */
  readonly ledger: number
  /** The close time that counts: of the last ledger while it waits, of its own while it is applied. Seconds since 1970. */
  readonly closeTime: bigint
  /** Its ledger closes at least, and at most, this much later than `closeTime`; 0 while it is applied. */
  readonly earliest: bigint
  readonly latest: bigint
  /** Its fee has been taken already. */
  readonly applying: boolean
}
