import { Unavailable, type World } from '../shared/host.ts'
import { agreedPrice, BASIS_POINTS } from '../shared/prices.ts'
import { listTransactions } from '../shared/records.ts'
import { isEnded } from '../shared/transactions.ts'
import type { Swap } from './config.ts'
import { type Exchange, Refusal, type Rehearsal, type Sale, type SwapRecord } from './exchange.ts'
import { leastOf, type Order, readOrder, referenceOf, type ToldPrice, worthOf } from './names.ts'
import { ownKey } from './relayer.ts'

const DAY_MS = 86_400_000

/** A swap whose sales fail so often within a day sells nothing more: each costs gas. */
const MAX_FAILURES = 3

/** What a swap has done within 24 hours, as the service recorded it. */
interface Today {
  /** With what is under way. */
  readonly sold: bigint
  /** Sales that a block includes without effect. */
  readonly failed: number
}

/** Adds up the sales of a swap. */
async function readToday({ id, relayerId }: Swap, world: World): Promise<Today> {
  const filters = {
    relayer_id: relayerId,
    reference: referenceOf(relayerId),
    requested_by: await ownKey(world),
    created_after: new Date(world.now() - DAY_MS).toISOString(),
  }
  let [sold, failed] = [0n, 0]
  for await (const { status, description } of listTransactions<SwapRecord>(filters, world.api)) {
    const order = readOrder(description)
    if (order?.swap !== id) continue
    if (!isEnded(status)) sold += order.amount
    if (status === 'failed') failed += 1
  }
  return { sold, failed }
}

/** Returns how much is to be sold now. @throws Refusal `not_due` or a limit */
export async function amountOf(swap: Swap, exchange: Exchange, world: World): Promise<bigint> {
  const { token } = await requireDue(swap, exchange)
  const { sold, failed } = await readToday(swap, world)
  if (failed >= MAX_FAILURES)
    throw new Refusal(
      'too_many_failures',
      `${failed} sales failed within 24 hours. Nothing is sold meanwhile.`,
    )
  const left = swap.mostADay - sold
  if (left <= 0n) throw new Refusal('most_a_day', `${sold} were sold within 24 hours, which is the most.`)
  const bounds = [token - swap.leastLeft, swap.mostAtOnce, left]
  return bounds.reduce((least, each) => {
    if (each < least) return each
    return least
  })
}

/** Reads what the relayer has, and requires that a swap is due. @throws Refusal `not_due` */
export async function requireDue({ when, leastLeft }: Swap, exchange: Exchange) {
  const holdings = await exchange.holdings()
  const { coin, token } = holdings
  if (when.coinBelow !== undefined && coin >= when.coinBelow)
    throw new Refusal(
      'not_due',
      `The relayer has ${coin} of the coin; a swap is due below ${when.coinBelow}.`,
    )
  if (when.tokenAbove !== undefined && token <= when.tokenAbove)
    throw new Refusal(
      'not_due',
      `The relayer has ${token} of the token; a swap is due above ${when.tokenAbove}.`,
    )
  if (token <= leastLeft)
    throw new Refusal('not_due', `The relayer has ${token} of the token, and ${leastLeft} stay.`)
  return holdings
}

/** A sale that was checked. */
export interface Terms {
  readonly order: Order
  readonly sale: Sale
  readonly rehearsal: Rehearsal
}

/**
 * Sets the terms of a sale by the worse of two prices that agree, and requires that it keeps them on the
 * newest state, and is worth its fees. The router has no say. @throws Refusal, Unavailable
 */
export async function termsOf(
  swap: Swap,
  {
    amount,
    exchange,
    world,
  }: { readonly amount: bigint; readonly exchange: Exchange; readonly world: World },
): Promise<Terms> {
  const prices = await readPrices(swap, exchange, world)
  const price = agreedPrice(
    prices.map((each) => each.price),
    swap.bandBps,
  )
  if (price === undefined)
    throw new Refusal('prices_differ', `The two prices differ by more than ${swap.bandBps} basis points.`)
  const worth = worthOf(amount, price, { token: swap.decimals, coin: exchange.coinDecimals })
  const least = leastOf(worth, swap.slippageBps)
  const sale = { amount, least, deadline: world.now() + swap.validSeconds * 1000 }
  const rehearsal = await exchange.rehearse(sale)
  requireWorth(sale, rehearsal, swap)
  return { order: { swap: swap.id, amount, token: swap.token, least, prices }, sale, rehearsal }
}

function requireWorth(
  { amount, least }: Sale,
  { sold, bought, cost }: Rehearsal,
  { mostCostBps }: Swap,
): void {
  if (sold > amount)
    throw new Refusal('token_takes_more', `In the simulation ${sold} leave the relayer instead of ${amount}.`)
  if (bought < least)
    throw new Refusal('arrives_too_little', `In the simulation ${bought} arrive; at least ${least} must.`)
  if (cost * BASIS_POINTS > least * mostCostBps)
    throw new Refusal(
      'costs_too_much',
      `The fees may be ${cost}, more than ${mostCostBps} basis points of ${least}.`,
    )
}

async function readPrices(swap: Swap, exchange: Exchange, world: World): Promise<readonly ToldPrice[]> {
  try {
    return await Promise.all(
      swap.sources.map(async (source) => ({
        source: source.type,
        price: await exchange.ask(source, world.now()),
      })),
    )
  } catch (error) {
    throw error instanceof Unavailable ? new Refusal('price_unavailable', error.message) : error
  }
}
