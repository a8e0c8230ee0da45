import type { xdr } from '@stellar/stellar-sdk'

/** A signer of an account besides its own key. `key` is a strkey: G…, X…, T… or P…. */
export interface Signer {
  readonly key: string
  readonly weight: number
}

/** Weight of the account's own key, and the weights that operations of each level need; 0 to 255. */
export interface Thresholds {
  readonly master: number
  readonly low: number
  readonly medium: number
  readonly high: number
}

/** An account. Amounts are stroops. */
export interface AccountEntry {
  readonly kind: 'account'
  readonly address: string
  readonly balance: bigint
  readonly sequence: bigint
  /** The ledger, and its close time, that changed the sequence number last (CAP-21). */
  readonly sequenceLedger: number
  readonly sequenceTime: bigint
  /** Trustlines, data entries, signers: each needs a reserve. */
  readonly subEntries: number
  /** Reserves it pays for others: one for each claimant of a claimable balance it made. */
  readonly sponsoring: number
  readonly flags: number
  readonly homeDomain: string
  readonly thresholds: Thresholds
  readonly signers: readonly Signer[]
}

/** The balance of an account in an issued asset. */
export interface TrustlineEntry {
  readonly kind: 'trustline'
  readonly account: string
  /** `CODE:ISSUER`. */
  readonly asset: string
  readonly balance: bigint
  readonly limit: bigint
  readonly flags: number
}

/** A named value of an account. */
export interface DataEntry {
  readonly kind: 'data'
  readonly account: string
  readonly name: string
  readonly value: Uint8Array
}

/** An amount that waits for one of its claimants. */
export interface ClaimableBalanceEntry {
  readonly kind: 'claimableBalance'
  /** The XDR of the ClaimableBalanceID, in hex. */
  readonly id: string
  readonly asset: string
  readonly amount: bigint
  readonly claimants: readonly xdr.Claimant[]
  readonly sponsor: string
}

/** Contract data or code. */
export interface ContractEntry {
  readonly kind: 'contract'
  /** The ledger key's XDR in base64. */
  readonly ledgerKey: string
  readonly data: xdr.LedgerEntryData
  /** The last ledger in which it can be read (CAP-46-12). */
  readonly liveUntil: number
}

/** Everything a ledger holds; never changed, only replaced. */
export type Entry = (AccountEntry | TrustlineEntry | DataEntry | ClaimableBalanceEntry | ContractEntry) & {
  readonly lastModified?: number
}

/** The largest amount there is (int64). */
export const INT64_MAX = 2n ** 63n - 1n

/** The key of an account in the state. */
export const accountKey = (address: string): string => `account ${address}`
/** The key of a trustline in the state; `asset` is `CODE:ISSUER`. */
export const trustlineKey = (account: string, asset: string): string => `trustline ${account} ${asset}`
/** The key of a named value in the state. */
export const dataKey = (account: string, name: string): string => `data ${account} ${name}`
/** The key of a claimable balance in the state. */
export const claimableBalanceKey = (id: string): string => `claimableBalance ${id}`
/** The key of contract data or code in the state. */
export const contractKey = (ledgerKey: string): string => `contract ${ledgerKey}`

/** Returns the key of an entry in the state. */
export function keyOf(entry: Entry): string {
  if (entry.kind === 'account') return accountKey(entry.address)
  if (entry.kind === 'trustline') return trustlineKey(entry.account, entry.asset)
  if (entry.kind === 'data') return dataKey(entry.account, entry.name)
  if (entry.kind === 'claimableBalance') return claimableBalanceKey(entry.id)
  return contractKey(entry.ledgerKey)
}

/** An account as it is born: its own key signs for everything, and its sequence starts with the ledger's (CAP-5). */
export function newAccount(address: string, balance: bigint, ledger: number): AccountEntry {
  return {
    kind: 'account',
    address,
    balance,
    sequence: startingSequence(ledger),
    sequenceLedger: 0,
    sequenceTime: 0n,
    subEntries: 0,
    sponsoring: 0,
    flags: 0,
    homeDomain: '',
    thresholds: { master: 1, low: 0, medium: 0, high: 0 },
    signers: [],
  }
}

/** The sequence number of an account that is made in this ledger (stellar-core `getStartingSequenceNumber`). */
export function startingSequence(ledger: number): bigint {
  return BigInt(ledger) << 32n
}

/** Returns the balance that an account must keep (stellar-core `getMinBalance`, CAP-33 for `sponsoring`). */
export function minimumBalance(account: AccountEntry, baseReserve: bigint): bigint {
  return BigInt(2 + account.subEntries + account.sponsoring) * baseReserve
}

/** Returns the balance that it can spend; negative when fees went below the reserve (stellar-core `getAvailableBalance`). */
export function availableBalance(account: AccountEntry, baseReserve: bigint): bigint {
  return account.balance - minimumBalance(account, baseReserve)
}
