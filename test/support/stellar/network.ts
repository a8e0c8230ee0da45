import { createHash } from 'node:crypto'

/** What a network decides for all its ledgers. Amounts are stroops (1 XLM is 10,000,000 of them). */
export interface Network {
  readonly passphrase: string
  /** SHA-256 of the passphrase; the first 32 bytes of everything that is signed for this network. */
  readonly id: Uint8Array
  readonly protocolVersion: number
  /** The least inclusion fee of one operation. */
  readonly baseFee: bigint
  /** What an account must keep for each of its entries; an account itself counts as two. */
  readonly baseReserve: bigint
  /** How many ledgers a transaction may wait in the queue (stellar-core `TRANSACTION_QUEUE_TIMEOUT_LEDGERS`). */
  readonly queueLedgers: number
  /** For how many ledgers a banned transaction is refused (stellar-core `TRANSACTION_QUEUE_BAN_LEDGERS`). */
  readonly banLedgers: number
  /** How many ledgers' worth of operations the queue holds (stellar-core `TRANSACTION_QUEUE_SIZE_MULTIPLIER`). */
  readonly queueSizeLedgers: number
  /** How many ledgers the RPC server remembers; older transactions are NOT_FOUND. */
  readonly retentionLedgers: number
  /**
   * Whether a simulation puts archived entries among those that the call itself restores (CAP-66), or asks for a
   * transaction before it by `restorePreamble`, as RPC servers did before protocol 23.
   */
  readonly restoresAutomatically: boolean
  /** What the network believes a ledger takes, in seconds; decides how close to its end a transaction is refused. */
  readonly ledgerSeconds: number
}

/** The passphrase of a network that somebody runs for themselves (stellar/quickstart `--local`). */
const STANDALONE_PASSPHRASE = 'Standalone Network ; February 2017'

/** A network as stellar-core configures it, except for what `changes` says. */
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
