import type { Network } from './network.ts'
import type { View } from './state.ts'

/** Against what a transaction is judged. */
export interface Moment {
  readonly network: Network
  readonly view: View
  /** The ledger it is to become part of. */
  readonly ledger: number
  /** The close time that counts: of the last ledger while it waits, of its own while it is applied. Seconds since 1970. */
  readonly closeTime: bigint
  /** How much later than `closeTime` its ledger closes at least, and at most; 0 while it is applied. */
  readonly earliest: bigint
  readonly latest: bigint
  /** Its fee has been taken already. */
  readonly applying: boolean
}
