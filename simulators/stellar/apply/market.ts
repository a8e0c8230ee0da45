import { divideUp } from '../state/assets.ts'

/** A DEX offer that exchanges any amount at one price; it replaces an order book. */
export interface Offer {
  readonly id: bigint
  readonly seller: string
  /** The assets that the seller gives and takes: `native` or `CODE:ISSUER`. */
  readonly selling: string
  readonly buying: string
  /** The price of one unit of `selling` in `buying`, as a fraction. */
  readonly price: { readonly n: bigint; readonly d: bigint }
}

/** All offers there are. */
export interface Market {
  add(offer: Omit<Offer, 'id'>): Offer
  /** Finds the offer that takes `give` for `get`; there is at most one. */
  find(give: string, get: string): Offer | undefined
}

/** Starts a market without offers. */
export function createMarket(): Market {
  const offers: Offer[] = []
  return {
    add(terms) {
      const offer = { ...terms, id: BigInt(offers.length + 1) }
      offers.push(offer)
      return offer
    },
    find: (give, get) => offers.findLast(({ buying, selling }) => buying === give && selling === get),
  }
}

/** Returns the amount that `amount` of `offer.buying` buys; rounded in favour of the offer. */
export function bought({ price }: Offer, amount: bigint): bigint {
  return (amount * price.d) / price.n
}

/** Returns the price of `amount` of `offer.selling`; rounded in favour of the offer. */
export function cost({ price }: Offer, amount: bigint): bigint {
  return divideUp(amount * price.n, price.d)
}
