/** For a network that does not say. Ethereum's own slot time. */
export const DEFAULT_BLOCKTIME_MS = 12_000

/** For a Stellar network that does not say: how long SCP takes to close a ledger. */
export const DEFAULT_LEDGER_TIME_MS = 5_000

/** For a Solana network that does not say: how long a leader has for a slot. */
export const DEFAULT_SLOT_TIME_MS = 400

/** Blocks on top before a transaction counts as final: careful where money is real, quick where it is not. */
export function defaultConfirmations(isTestnet: boolean): number {
  return isTestnet ? 1 : 12
}
