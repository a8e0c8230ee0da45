/** What makes a request visible on the chain: nothing else on it has this mark, e.g. this receiver, or this amount. */
export interface Content {
  readonly mark: string
}

/** What the service said: taken · refused, so that nothing may have changed · nothing that can be relied on. */
export type Said = 'open' | 'accepted' | 'refused' | 'unknown'

/** One call of the API that changes something. */
export interface Ask {
  readonly kind: 'send' | 'replace' | 'cancel'
  readonly account: number
  /** Absent for a cancellation. */
  readonly content?: Content
  /** The chain may include it to no effect, e.g. when the money is gone. */
  readonly mayRevert?: boolean
  /** It may fail without being included, for a reason that the record tells. */
  readonly mayFail?: boolean
  /**
   * How nodes refuse the price that it names, and that the service may not change. Such a refusal ends it when others wait behind it. Absent if it names
   * none.
   */
  readonly priceRefusals?: RegExp
  /** It has a `valid_until`. */
  readonly mayExpire?: boolean
  /** Of the transaction; absent as long as a sent one has none. */
  id?: string
  said: Said
  /** The whole answer, for a person. */
  answer?: string
}

/** Everything asked in one history. */
export interface Ledger {
  readonly asks: Ask[]
  /** Hashes of transactions that were sent with our keys and not by the service. */
  readonly external: Set<string>
  /** Answers that no client may ever get. */
  readonly scandals: string[]
  open(ask: Omit<Ask, 'said'>): Ask
  /** Ids of accepted transactions, oldest first. */
  ids(): { id: string; account: number }[]
}

export function createLedger(): Ledger {
  const asks: Ask[] = []
  return {
    asks,
    external: new Set(),
    scandals: [],
    open: (ask) => {
      const opened: Ask = { ...ask, said: 'open' }
      asks.push(opened)
      return opened
    },
    ids: () =>
      asks.flatMap(({ kind, id, account }) => (kind === 'send' && id !== undefined ? [{ id, account }] : [])),
  }
}

/** A payment that no one else makes; the mark is its amount. */
export interface AmountContent extends Content {
  /** In the smallest unit of the chain. */
  readonly amount: bigint
}

/** Payments that differ in their amounts over all histories of one chain. */
export function createAmounts(): () => AmountContent {
  let amount = 0n
  return () => {
    amount += 1n
    return { mark: amount.toString(), amount }
  }
}
