import { type AccountEntry, LedgerEntryData, LedgerKey, LedgerKeyAccount } from '@stellar/stellar-sdk/xdr'
import { larger } from '../../../lib/bigint.ts'
import type { Clock } from '../../../lib/time.ts'
import type { Answer } from '../../answer.ts'
import type { AccountFunds } from '../../capabilities.ts'
import { askStatements, mostAgreed, secondHighest } from '../../rpc/agreement.ts'
import type { EndpointReply, PooledClient, RpcCall, RpcReply } from '../../rpc/rpc.ts'
import { accountIdOf, toPublicKey } from '../model/strkey.ts'
import { fieldsOf, freshFieldsOf, readInteger } from './replies.ts'

/** `getLedgerEntries` accepts this many keys in one call. */
export const MAX_KEYS = 200

/**
 * Reads account entries in the order of the addresses (`G…`); undefined if the ledger has none. Each account
 * is as most endpoints have it that have reached `asOf`; where none agree, as the newest one has it, and then
 * with more to spend.
 */
export async function readAccounts(
  client: PooledClient,
  addresses: readonly string[],
  asOf?: bigint,
): Promise<Answer<AccountEntry | undefined>[]> {
  const groups = Array.from({ length: Math.ceil(addresses.length / MAX_KEYS) }, (_, index) =>
    addresses.slice(index * MAX_KEYS, (index + 1) * MAX_KEYS),
  )
  const told = await askStatements<readonly EntriesByAddress[]>(client, {
    calls: groups.map(entriesCall),
    read: (replies) => {
      const read = groups.map((_, index) => readEntriesAsOf(replies[index], asOf))
      const missing = read.find(({ kind }) => kind !== 'ok')
      if (missing !== undefined && missing.kind !== 'ok') return missing
      return { kind: 'ok', value: read.flatMap((one) => (one.kind === 'ok' ? [one.value] : [])) }
    },
    isSame: (one, other) =>
      groups.every((group, index) =>
        group.every((address) => isSameAccount(one[index]?.get(address), other[index]?.get(address))),
      ),
  })
  if (told.kind !== 'ok') return addresses.map(() => told)
  return groups.flatMap((group, index) =>
    group.map((address): Answer<AccountEntry | undefined> => {
      const [first, ...others] = told.value
        .map(({ value, head }) => ({ entry: value[index]?.get(address), head }))
        .toSorted(byHeadAndBalance)
        .map(({ entry }) => entry)
      return { kind: 'ok', value: mostAgreed([first, ...others], isSameAccount) }
    }),
  )
}

type EntriesByAddress = ReadonlyMap<string, AccountEntry>

function readEntriesAsOf(
  endpointReply: EndpointReply | undefined,
  asOf: bigint | undefined,
): Answer<EntriesByAddress> {
  return readEntries(freshFieldsOf(endpointReply && { ...endpointReply, behind: false }, asOf))
}

function isSameAccount(one: AccountEntry | undefined, other: AccountEntry | undefined): boolean {
  return one?.toXdr('base64') === other?.toXdr('base64')
}

interface EntryAt {
  readonly entry: AccountEntry | undefined
  readonly head: bigint
}

/**
 * If two differ in the same ledger, the lower sequence number delays one transaction at most; a higher one
 * can stop the relayer.
 */
function byHeadAndBalance(one: EntryAt, other: EntryAt): number {
  if (one.head !== other.head) return one.head > other.head ? -1 : 1
  const [number, otherNumber] = [one.entry?.seqNum, other.entry?.seqNum]
  if (number !== undefined && otherNumber !== undefined && number !== otherNumber)
    return number < otherNumber ? -1 : 1
  return left(one.entry, USUAL_BASE_RESERVE) > left(other.entry, USUAL_BASE_RESERVE) ? -1 : 1
}

/** Reads the next sequence number of each account; refuses where the ledger has no such account yet. */
export async function readNonces(
  client: PooledClient,
  addresses: readonly string[],
  asOf?: bigint,
): Promise<Answer<bigint>[]> {
  const entries = await readAccounts(client, addresses, asOf)
  return entries.map((entry, index) => {
    if (entry.kind !== 'ok') return entry
    if (entry.value !== undefined) return { kind: 'ok', value: entry.value.seqNum + 1n }
    const detail = `Account ${addresses[index]} does not exist on the ledger; the first payment to it creates it.`
    return { kind: 'refused', refusal: { code: 'account_not_found', detail } }
  })
}

/** Reads the funds of accounts. */
export interface FundsReader {
  /** Reads the lumens of an account, in stroops; an endpoint that has not reached `asOf` yields unknown. */
  readFunds(address: string, asOf?: bigint): Promise<Answer<AccountFunds>>
  /** Reads the lumens that accounts can spend, in stroops; 0 for an account that the ledger does not have. */
  readBalances(addresses: readonly string[]): Promise<Answer<bigint>[]>
}

/** Creates a reader of funds. */
export function createFundsReader(client: PooledClient, baseReserve: BaseReserveReader): FundsReader {
  async function read(addresses: readonly string[], asOf?: bigint): Promise<Answer<AccountFunds>[]> {
    const [entries, reserve] = await Promise.all([readAccounts(client, addresses, asOf), baseReserve.read()])
    return entries.map((entry) => {
      if (entry.kind !== 'ok') return entry
      const amount = left(entry.value, reserve)
      const exists = entry.value !== undefined
      return {
        kind: 'ok',
        value: { spendable: larger(0n, amount), missingReserve: larger(0n, -amount), exists },
      }
    })
  }

  return {
    readFunds: async (address, asOf) => {
      const [funds] = await read([address], asOf)
      return funds ?? { kind: 'unknown', detail: 'no reply' }
    },
    readBalances: async (addresses) =>
      (await read(addresses)).map((funds) =>
        funds.kind === 'ok' ? { kind: 'ok', value: funds.value.spendable } : funds,
      ),
  }
}

/**
 * Returns the balance without the reserve, which is two entries for the account and one for each entry that
 * it owns or sponsors (CAP-33), and without the amount that its own DEX offers may take (stellar-core
 * `getAvailableBalance`). It is negative below the reserve, as for an account that the ledger does not have.
 */
function left(entry: AccountEntry | undefined, baseReserve: bigint): bigint {
  if (entry === undefined) return -2n * baseReserve
  const extension = entry.ext.type === 'v1' ? entry.ext.v1 : undefined
  const sponsorship = extension?.ext.type === 'v2' ? extension.ext.v2 : undefined
  const count = 2 + entry.numSubEntries + (sponsorship?.numSponsoring ?? 0) - (sponsorship?.numSponsored ?? 0)
  return entry.balance - BigInt(count) * baseReserve - (extension?.liabilities.selling ?? 0n)
}

/**
 * Reads the entries of at most 200 accounts (`G…`). An account that is named twice is read once: nodes refuse
 * a repeated key.
 */
export function entriesCall(addresses: readonly string[]): RpcCall {
  const keys = [...new Set(addresses)].map((address) =>
    LedgerKey.account(new LedgerKeyAccount({ accountId: toPublicKey(address) })).toXdr('base64'),
  )
  return { method: 'getLedgerEntries', params: { keys } }
}

/** Accounts at the end of one ledger: `getLedgerEntries` reads them at exactly the ledger that it names. */
export interface AccountsAt {
  readonly ledger: bigint
  /** Sequence numbers by address; accounts that the ledger does not have are missing. */
  readonly sequences: ReadonlyMap<string, bigint>
}

/**
 * Reads the sequence numbers in a reply to `entriesCall`; undefined for a reply without them, or without
 * their ledger.
 */
export function readAccountsAt(reply: RpcReply | undefined): AccountsAt | undefined {
  const fields = fieldsOf(reply)
  const entries = readEntries(fields)
  const ledger = fields.kind === 'ok' ? readInteger(fields.value.latestLedger) : undefined
  if (entries.kind !== 'ok' || ledger === undefined) return undefined
  const sequences = [...entries.value].map(([address, { seqNum }]) => [address, seqNum] as const)
  return { ledger, sequences: new Map(sequences) }
}

/**
 * The reply contains only existing entries, in any order. An unreadable entry makes the whole answer unknown
 * (I6).
 */
function readEntries(
  fields: Answer<Readonly<Record<string, unknown>>>,
): Answer<ReadonlyMap<string, AccountEntry>> {
  if (fields.kind !== 'ok') return fields
  // Go writes an empty list as null.
  const entries: readonly unknown[] | undefined = Array.isArray(fields.value.entries)
    ? fields.value.entries
    : fields.value.entries === null || fields.value.entries === undefined
      ? []
      : undefined
  const read = entries?.map(readEntry)
  if (read?.every((entry) => entry !== undefined) !== true) {
    return { kind: 'unknown', detail: 'the endpoint did not answer with ledger entries' }
  }
  const accounts = read.map((entry) => [accountIdOf(entry.accountId.ed25519.toBytes()), entry] as const)
  return { kind: 'ok', value: new Map(accounts) }
}

function readEntry(entry: unknown): AccountEntry | undefined {
  const { xdr } = (entry ?? {}) as { xdr?: unknown }
  if (typeof xdr !== 'string') return undefined
  try {
    const data = LedgerEntryData.fromXdr(xdr, 'base64')
    return data.type === 'account' ? data.account : undefined
  } catch {
    return undefined // The SDK throws: not XDR, or not of this kind.
  }
}

/**
 * The base reserve until an endpoint returns one, in stroops: that of the public networks since 2019. A
 * network that someone starts again begins with 10 lumens, and validators may vote for any other.
 */
const USUAL_BASE_RESERVE = 5_000_000n

/**
 * The age in ms up to which the base reserve counts without a question. Validators change it by a vote, once
 * in years, and nodes send the whole ledger with its header: on pubnet a megabyte and more.
 */
const FRESH_FOR_MS = 600_000

/** The age in ms after which an endpoint that did not return it is queried again. */
const RETRY_MS = 30_000

/** The header of the newest ledger, on servers since version 25. */
const LATEST: RpcCall = { method: 'getLatestLedger', params: {} }

/**
 * Reads the amount in stroops that each entry of an account holds back, `baseReserve` of the ledger header.
 */
interface BaseReserveReader {
  /**
   * Returns the last one that an endpoint returned, read again if it is older than `maxAgeMs`; the usual one
   * until then: a balance is worth more with it than not at all.
   */
  read(maxAgeMs?: number): Promise<bigint>
}

/** Creates a reader that keeps the last answer. */
export function createBaseReserveReader(client: PooledClient, clock: Clock): BaseReserveReader {
  let known = USUAL_BASE_RESERVE
  let askedAt = Number.NEGATIVE_INFINITY
  let isTold = false
  let asking: Promise<void> | undefined

  async function ask(): Promise<void> {
    askedAt = clock.monotonic()
    const answer = await askBaseReserve(client)
    isTold = answer.kind === 'ok'
    if (answer.kind === 'ok') known = answer.value
  }

  return {
    async read(maxAgeMs = FRESH_FOR_MS) {
      const freshForMs = isTold ? maxAgeMs : RETRY_MS
      if (asking === undefined && clock.monotonic() - askedAt >= freshForMs) {
        asking = ask().finally(() => {
          asking = undefined
        })
      }
      await asking
      return known
    },
  }
}

/** Asks every endpoint; where none has the header in its newest ledger, one of them for the whole ledger. */
async function askBaseReserve(client: PooledClient): Promise<Answer<bigint>> {
  const told = await askStatements(client, {
    calls: [LATEST],
    read: ([endpointReply]) => {
      const latest = fieldsOf(endpointReply?.reply)
      if (latest.kind !== 'ok') return latest
      const sequence = readInteger(latest.value.sequence)
      return sequence === undefined ? UNTOLD : readHeader(latest.value.headerXdr, sequence)
    },
    isSame: (one, other) => one === other,
    toleratedBlocks: 1n,
  })
  const reserve = told.kind === 'ok' ? secondHighest(told.value.map(({ value }) => value)) : undefined
  return reserve === undefined ? askOlder(client) : { kind: 'ok', value: reserve }
}

async function askOlder(client: PooledClient): Promise<Answer<bigint>> {
  const [reply] = await client.sendAsOf([LATEST])
  const latest = fieldsOf(reply?.reply)
  if (latest.kind !== 'ok') return latest
  const sequence = readInteger(latest.value.sequence)
  if (sequence === undefined) return UNTOLD
  const [older] = await client.sendAsOf([ledgerCall(sequence)])
  const page = fieldsOf(older?.reply)
  if (page.kind !== 'ok') return page
  const [first] = Array.isArray(page.value.ledgers) ? (page.value.ledgers as unknown[]) : []
  const ledger = fieldsOf({ kind: 'result', result: first })
  return ledger.kind === 'ok' ? readHeader(ledger.value.headerXdr, sequence) : ledger
}

const UNTOLD = {
  kind: 'unknown',
  detail: 'the endpoint did not return the header of its newest ledger',
} as const

/** Servers before version 25 return the header only here. */
function ledgerCall(sequence: bigint): RpcCall {
  return { method: 'getLedgers', params: { startLedger: Number(sequence), pagination: { limit: 1 } } }
}

function readHeader(base64: unknown, sequence: bigint): Answer<bigint> {
  const reserve =
    typeof base64 === 'string' ? baseReserveIn(Buffer.from(base64, 'base64'), sequence) : undefined
  return reserve === undefined ? UNTOLD : { kind: 'ok', value: reserve }
}

/**
 * Bytes of `LedgerHeader` behind `baseReserve` (stellar-xdr `Stellar-ledger.x`): `maxTxSetSize` and four
 * hashes, then the extension, which has 4 bytes or 12.
 */
const AFTER_RESERVE = 4 + 4 * 32
const EXTENSIONS = [4, 12] as const

/** `LedgerHeaderHistoryEntry` has an extension of 4 bytes behind the header. */
const HISTORY_ENTRY = [0, 4] as const

/**
 * Bytes from `ledgerSeq` to `baseReserve`: the number itself, `totalCoins`, `feePool`, `inflationSeq`,
 * `idPool` and `baseFee`.
 */
const FROM_SEQUENCE = 4 + 8 + 8 + 4 + 8 + 4

/**
 * Reads `baseReserve` of a `LedgerHeader` or a `LedgerHeaderHistoryEntry` from its end. The part before can
 * have a form that no version of the SDK knows yet (`StellarValue`, CAP-88); the number of the ledger in its
 * place shows that the rest is as expected.
 */
export function baseReserveIn(header: Buffer, sequence: bigint): bigint | undefined {
  for (const entry of HISTORY_ENTRY) {
    for (const extension of EXTENSIONS) {
      const at = header.length - entry - extension - AFTER_RESERVE - 4
      if (at < FROM_SEQUENCE) continue
      if (BigInt(header.readUInt32BE(at - FROM_SEQUENCE)) === sequence) return BigInt(header.readUInt32BE(at))
    }
  }
  return undefined
}
