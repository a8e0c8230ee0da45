import { createHash } from 'node:crypto'
import type { View } from './state/state.ts'

/** The settings of a network for all its ledgers. Amounts are stroops (1 XLM is 10,000,000 of them). */
export interface Network {
  readonly passphrase: string
  /** SHA-256 of the passphrase; the first 32 bytes of everything that is signed for this network. */
  readonly id: Uint8Array
  /** From 30 on, ledgers may close within one second (CAP-88). */
  readonly protocolVersion: number
  /** The least inclusion fee of one operation. */
  readonly baseFee: bigint
  /** An account must keep this for each of its entries; an account itself counts as two. */
  readonly baseReserve: bigint
  /** A transaction may wait this many ledgers in the queue (stellar-core `TRANSACTION_QUEUE_TIMEOUT_LEDGERS`). */
  readonly queueLedgers: number
  /** For how many ledgers a banned transaction is refused (stellar-core `TRANSACTION_QUEUE_BAN_LEDGERS`). */
  readonly banLedgers: number
  /** The queue holds the operations of this many ledgers (stellar-core `TRANSACTION_QUEUE_SIZE_MULTIPLIER`). */
  readonly queueSizeLedgers: number
  /** The RPC server remembers this many ledgers; older transactions are NOT_FOUND. */
  readonly retentionLedgers: number
  /**
   * A simulation lists archived entries among those that the call itself restores (CAP-66), or asks for a transaction before it by
   * `restorePreamble`, like RPC servers did before protocol 23.
   */
  readonly restoresAutomatically: boolean
  /** The expected time of a ledger, in seconds; it decides how close to its end a transaction is refused. */
  readonly ledgerSeconds: number
}

/** The passphrase of a network that someone runs for themselves (stellar/quickstart `--local`). */
const STANDALONE_PASSPHRASE = 'Standalone Network ; February 2017'

/** Returns a network with the settings of stellar-core, except for `changes`. */
export function createNetwork(changes: Partial<Omit<Network, 'id'>> = {}): Network {
  const passphrase = changes.passphrase ?? STANDALONE_PASSPHRASE
  return {
    protocolVersion: 25,
    baseFee: 100n,
    baseReserve: 5_000_000n,
    queueLedgers: 4,
    banLedgers: 10,
    queueSizeLedgers: 2,
    // stellar-rpc `HISTORY_RETENTION_WINDOW`: a week of ledgers.
    retentionLedgers: 120_960,
    restoresAutomatically: true,
    ledgerSeconds: 5,
    ...changes,
    passphrase,
    id: createHash('sha256').update(passphrase).digest(),
  }
}

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
