import { askEvmSource } from '../../shared/evm-prices.ts'
import { type Rpc, Unavailable } from '../../shared/host.ts'
import { agreedPrice, type Price } from '../../shared/prices.ts'
import type { FeeToken } from './tokens.ts'

/**
 * Reads the price of a token: of sources that agree, the one at which the token is cheaper, so that the
 * relayer does not pay for the difference. @throws Unavailable without a price
 */
export async function readTokenPrice(
  { address, decimals, sources, maxDifferencePercent }: FeeToken,
  { rpc, now }: { readonly rpc: Rpc; readonly now: number },
): Promise<Price> {
  const token = { address, decimals }
  const prices = await Promise.all(sources.map((source) => askEvmSource(source, token, { rpc, now })))
  const agreed = agreedPrice(prices, BigInt(maxDifferencePercent) * 100n)
  if (agreed !== undefined) return agreed
  throw new Unavailable(
    `The sources of the price of ${address} differ by more than ${maxDifferencePercent} percent.`,
  )
}
