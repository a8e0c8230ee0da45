import type { Answer } from '../../answer.ts'
import type { ToldPrice } from '../../capabilities.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import type { OraclePrice } from '../../sponsoring.ts'
import { isAddress } from '../wire/addresses.ts'
import { type AccountState, readAccounts } from './accounts.ts'

/**
 * Pyth's receiver program, which owns the accounts and alone writes them (pyth-network/pyth-crosschain,
 * solana_receiver).
 */
const PYTH_RECEIVER = 'rec5EKMGg6MxZYaMdyBfgwp4d5rB9T1VQH5pJv5LtFJ'

/** The first eight bytes of a `PriceUpdateV2`: SHA-256 of `account:PriceUpdateV2`. */
const DISCRIMINATOR = '22f123639d7ef4cd'

/**
 * The layout of a `PriceUpdateV2`: discriminator, authority, level of verification, feed, price, confidence,
 * exponent, time. Only the level `Full` has one byte; an update that is only partly verified is worthless.
 */
const VERIFICATION_AT = 40
const FULL = 1
const PRICE_AT = 73
const CONFIDENCE_AT = 81
const EXPONENT_AT = 89
const TIME_AT = 93
const LEAST_BYTES = 101

/** Prices with more digits than this are nonsense. */
const MAX_EXPONENT = 18

interface AccountPrice {
  readonly price: bigint
  readonly confidence: bigint
  readonly exponent: number
  readonly at: Date
}

/**
 * Reads the price of SOL in a token from price accounts of Pyth. Both prices count at the end of their
 * confidence interval at which the token is cheaper, so that the relayer does not pay for the uncertainty.
 */
export async function readOraclePrice(
  client: PooledClient,
  { native = '', token }: OraclePrice,
): Promise<Answer<ToldPrice>> {
  const addresses = token === undefined ? [native] : [native, token]
  if (!addresses.every(isAddress)) return unusable('the price account is not an address')
  const answer = await readAccounts(client, addresses)
  if (answer.kind !== 'ok') return answer
  const [coin, unit] = [readPrice(answer.value.accounts[0]), readPrice(answer.value.accounts[1])]
  if (coin === undefined || (token !== undefined && unit === undefined))
    return unusable(`${coin === undefined ? native : token} has no verified price of Pyth`)
  const above = coin.price + coin.confidence
  const below = unit === undefined ? 1n : unit.price - unit.confidence
  if (below <= 0n) return unusable(`the price of ${token} is uncertain`)
  const exponent = coin.exponent - (unit?.exponent ?? 0)
  const scale = 10n ** BigInt(Math.abs(exponent))
  return {
    kind: 'ok',
    value: {
      numerator: exponent > 0 ? above * scale : above,
      denominator: exponent > 0 ? below : below * scale,
      at: unit !== undefined && unit.at < coin.at ? unit.at : coin.at,
    },
  }
}

function readPrice(state: AccountState | undefined): AccountPrice | undefined {
  const data = Buffer.from(state?.data ?? [])
  if (state?.owner !== PYTH_RECEIVER || data.length < LEAST_BYTES) return undefined
  if (data.toString('hex', 0, 8) !== DISCRIMINATOR || data[VERIFICATION_AT] !== FULL) return undefined
  const price = data.readBigInt64LE(PRICE_AT)
  const exponent = data.readInt32LE(EXPONENT_AT)
  const seconds = data.readBigInt64LE(TIME_AT)
  const isSane = price > 0n && Math.abs(exponent) <= MAX_EXPONENT && seconds > 0n && seconds < 2n ** 40n
  if (!isSane) return undefined
  return {
    price,
    confidence: data.readBigUInt64LE(CONFIDENCE_AT),
    exponent,
    at: new Date(Number(seconds) * 1_000),
  }
}

function unusable(detail: string): Answer<never> {
  return { kind: 'unknown', detail }
}
