import { divideUp } from '../bigints.ts'

/** Somebody who exchanges any amount at one price; stands for an order book. */
export interface Offer {
  readonly id: bigint
  readonly seller: string
  /** What the seller gives, and takes: `native` or `CODE:ISSUER`. */
  readonly selling: string
  readonly buying: string
  /** How much of `buying` one unit of `selling` costs, as a fraction. */
  readonly price: { readonly n: bigint; readonly d: bigint }
}

/** All offers there are. */
export interface Market {
  add(offer: Omit<Offer, 'id'>): Offer
  /** Who takes `give` for `get`; there is at most one. */
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

/** What `amount` of `offer.buying` buys; rounded in favour of the offer. */
export function bought({ price }: Offer, amount: bigint): bigint {
  return (amount * price.d) / price.n
}

/** What must be given for `amount` of `offer.selling`; rounded in favour of the offer. */
export function cost({ price }: Offer, amount: bigint): bigint {
  return divideUp(amount * price.n, price.d)
}
