import { randomBytes } from 'node:crypto'
import { isRecord, locked, type World } from '../../shared/host.ts'
import type { Price } from '../../shared/prices.ts'
import { RpcError } from '../errors.ts'

/** The price of gas in a token, until it ends. */
export interface Quote {
  /** Names it among those of its token. */
  readonly context: string
  readonly gasPrice: bigint
  readonly price: Price
  /** Seconds since 1970. */
  readonly expiry: number
}

/** A quote lives so long. The operator bears what prices do meanwhile, within the margin. */
const QUOTE_SECONDS = 45

/**
 * For so long, all callers get the same quote, so that a token has few of them, however many ask. In seconds.
 */
const SHARED_SECONDS = 5

/**
 * Returns the newest quote of a token, or makes one of the prices now. A quote is the same for all callers,
 * and all processes know it.
 */
export function shareQuote(
  token: string,
  world: World,
  readNow: () => Promise<Pick<Quote, 'gasPrice' | 'price'>>,
): Promise<Quote> {
  const key = keyOf(token)
  return locked(world, `${key}:lock`, async () => {
    const seconds = Math.floor(world.now() / 1000)
    const known = await readQuotes(token, world)
    const newest = known.at(-1)
    if (newest !== undefined && newest.expiry - QUOTE_SECONDS + SHARED_SECONDS > seconds) return newest
    const context = randomBytes(16).toString('hex')
    const quote = { context, ...(await readNow()), expiry: seconds + QUOTE_SECONDS }
    const kept = [...known.filter(({ expiry }) => expiry >= seconds), quote]
    await world.kv.set(key, kept.map(toValue), { ttlSec: QUOTE_SECONDS })
    return quote
  })
}

/** Finds a quote that was made for a token. @throws RpcError `quoteExpired` */
export async function findQuote(
  token: string,
  context: string,
  world: Pick<World, 'kv' | 'now'>,
): Promise<Quote> {
  const quote = (await readQuotes(token, world)).find((each) => each.context === context)
  if (quote !== undefined && quote.expiry >= world.now() / 1000) return quote
  throw new RpcError(
    'quoteExpired',
    'context: no quote of this token has this name now. Ask relayer_getFeeQuote for another one.',
  )
}

function keyOf(token: string): string {
  return `quotes:${token}`
}

async function readQuotes(token: string, { kv }: Pick<World, 'kv'>): Promise<readonly Quote[]> {
  const value = await kv.get(keyOf(token))
  return Array.isArray(value) ? value.filter(isRecord).map(fromValue) : []
}

function toValue({ context, gasPrice, price, expiry }: Quote): object {
  const parts = [gasPrice, price.numerator, price.denominator].map(String)
  return { context, parts, expiry }
}

function fromValue({ context, parts, expiry }: Readonly<Record<string, unknown>>): Quote {
  const [gasPrice = '0', numerator = '0', denominator = '1'] = parts as readonly string[]
  return {
    context: String(context),
    gasPrice: BigInt(gasPrice),
    price: { numerator: BigInt(numerator), denominator: BigInt(denominator) },
    expiry: Number(expiry),
  }
}
