/** The asset name of the native currency. */
export const NATIVE = 'native'

/** An amount that content can take from the account, in the smallest unit of its asset. */
export interface AssetAmount {
  /**
   * `native`; on EVM the address of a token in lower case; on Solana the address of a mint; on Stellar
   * `CODE:ISSUER`, or the address of a contract.
   */
  readonly asset: string
  readonly value: bigint
}

/** A call or operation whose effects cannot be read from its bytes. */
export interface UnreadCall {
  /** The contract, program or operation, as the fields below name it. */
  readonly target: string
  /** The only asset that it can move; absent if it can move any. */
  readonly asset?: string
  /** All that it takes is among the amounts, so only who receives it is not known. */
  readonly isCounted?: true
}

/** The effects of content on its sender, as far as its bytes show them before signing. */
export interface Effects {
  /** The accounts that receive, and those that it allows to take (`approve`). */
  readonly receivers: readonly string[]
  /**
   * The contracts or programs that it calls; `CONTRACT_CREATION` for code that it stores on the chain. EVM:
   * in lower case.
   */
  readonly contracts: readonly string[]
  /** EVM: the first four bytes of the data of a call, as `0x` and lower-case hex digits. */
  readonly selectors: readonly string[]
  /**
   * Stellar: the types of the operations, as the contract's `OperationSpec` names them, e.g.
   * `path_payment_strict_send`.
   */
  readonly operations: readonly string[]
  /** Each asset at most once. */
  readonly amounts: readonly AssetAmount[]
  /** The part of `amounts` that the content does not move, but allows others to take later. */
  readonly allowances: readonly AssetAmount[]
  readonly unread: readonly UnreadCall[]
}

/**
 * The contract of content that stores code on the chain. It is no address, so a list of addresses never
 * includes it.
 */
export const CONTRACT_CREATION = 'contract creation'

/** Returns the amount of the native currency among amounts. */
export function nativeIn(amounts: readonly AssetAmount[]): bigint {
  return amounts.find(({ asset }) => asset === NATIVE)?.value ?? 0n
}

/** Adds up the amounts of each asset, and omits zeros. */
export function sumAmounts(amounts: readonly AssetAmount[]): AssetAmount[] {
  const sums = new Map<string, bigint>()
  for (const { asset, value } of amounts) if (value > 0n) sums.set(asset, (sums.get(asset) ?? 0n) + value)
  return [...sums].map(([asset, value]) => ({ asset, value }))
}

/** The effects of a part of a transaction; an absent field is empty. */
export type PartialEffects = Partial<Effects>

/**
 * Joins the effects of the parts of a transaction: each name once, and the amounts of an asset in one sum.
 */
export function joinEffects(parts: readonly PartialEffects[]): Effects {
  return {
    receivers: once(parts.flatMap(({ receivers = [] }) => receivers)),
    contracts: once(parts.flatMap(({ contracts = [] }) => contracts)),
    selectors: once(parts.flatMap(({ selectors = [] }) => selectors)),
    operations: once(parts.flatMap(({ operations = [] }) => operations)),
    amounts: sumAmounts(parts.flatMap(({ amounts = [] }) => amounts)),
    allowances: sumAmounts(parts.flatMap(({ allowances = [] }) => allowances)),
    unread: eachOnce(parts.flatMap(({ unread = [] }) => unread)),
  }
}

function once(names: readonly string[]): string[] {
  return [...new Set(names)]
}

function eachOnce(calls: readonly UnreadCall[]): UnreadCall[] {
  return [...new Map(calls.map((call) => [`${call.target} ${call.asset ?? ''}`, call])).values()]
}

/**
 * An amount of an asset that content moves from one account to another when it succeeds, or that an included
 * transaction has moved.
 */
export interface Transfer {
  /** Absent if the amount is created. */
  readonly from?: string
  /** Absent if nothing tells who receives, and if the amount is destroyed. */
  readonly to?: string
  /** As rules and budgets name it: see `AssetAmount`. */
  readonly asset: string
  /** In the smallest unit of the asset; never 0. */
  readonly amount: bigint
  /** The token among those of one contract (ERC-721, ERC-1155). */
  readonly tokenId?: bigint
  /** The decimals of the asset, where the content succeeds with no others. */
  readonly decimals?: number
}

/** Transfers in their order. */
export interface Transfers {
  readonly transfers: readonly Transfer[]
  /** True if there are more than these. */
  readonly truncated: boolean
}

/**
 * A record shows this many transfers, and a search finds it by these. One transaction of an EVM network can
 * make thousands of them; with a larger number, a page of such transactions would be megabytes.
 */
export const MAX_TRANSFERS = 100

/** Takes the first transfers, without those that move nothing. */
export function boundTransfers(transfers: Iterable<Transfer>): Transfers {
  const taken: Transfer[] = []
  for (const transfer of transfers) {
    if (transfer.amount === 0n) continue
    if (taken.length === MAX_TRANSFERS) return { transfers: taken, truncated: true }
    taken.push(transfer)
  }
  return { transfers: taken, truncated: false }
}
