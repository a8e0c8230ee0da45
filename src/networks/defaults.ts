/** The default block time of an EVM network: Ethereum's slot time. */
export const DEFAULT_BLOCKTIME_MS = 12_000

/** The default block time of a Stellar network: SCP closes a ledger in this time. */
export const DEFAULT_LEDGER_TIME_MS = 5_000

/** The default block time of a Solana network: a leader has this time for a slot. */
export const DEFAULT_SLOT_TIME_MS = 400

/** Returns the number of blocks on top that make a transaction final: careful where money is real, quick on a test network. */
export function defaultConfirmations(isTestnet: boolean): number {
  return isTestnet ? 1 : 12
}
