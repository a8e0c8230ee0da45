/** What makes a request visible on the chain: nobody else pays this receiver, and nobody else pays this much. */
export interface Content {
  readonly receiver: string
  readonly value: number
}

/** What the service said: taken · refused, so that nothing may have changed · nothing that can be relied on. */
export type Said = 'open' | 'accepted' | 'refused' | 'unknown'

/** One call of the API that changes something. */
export interface Ask {
  readonly kind: 'send' | 'replace' | 'cancel'
  readonly account: number
  /** Absent for a cancellation. */
  readonly content?: Content
  /** Its receiver refuses it from some time on. */
  readonly mayRevert?: boolean
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

/** Contents that differ in receiver and value over all histories of one chain. */
export function createContents(): () => Content {
  let count = 0
  return () => {
    count += 1
    return { receiver: `0x${(0x1000_0000 + count).toString(16).padStart(40, '0')}`, value: count }
  }
}
