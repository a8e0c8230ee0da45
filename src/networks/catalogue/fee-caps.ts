/** One coin of every EVM network, in wei. */
const COIN = 10n ** 18n

/**
 * The default of `tx_fee_cap`, in whole coins by the symbol of the network's currency: the order of what one ETH was worth when it became the
 * default of geth's `--rpc.txfeecap`. A lower number holds up what people pay when a network is crowded; a higher one lets a lying endpoint cost
 * more.
 */
const FEE_CAPS: Readonly<Record<string, bigint>> = {
  AVAX: 50n,
  BERA: 500n,
  BNB: 2n,
  CELO: 3_000n,
  DEV: 10_000n,
  ETH: 1n,
  GLMR: 10_000n,
  MNT: 1_000n,
  MOVR: 100n,
  POL: 3_000n,
  S: 3_000n,
  SEI: 5_000n,
  xDAI: 1_000n,
}

/** Returns the most that one transaction may cost in fees, in wei, on a network with this currency; one coin if the currency is unknown. */
export function defaultTxFeeCap(symbol: string): bigint {
  return (FEE_CAPS[symbol] ?? 1n) * COIN
}
