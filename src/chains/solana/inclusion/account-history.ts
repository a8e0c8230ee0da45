import { createHash } from 'node:crypto'
import { larger } from '../../../lib/bigint.ts'
import { slicesOf } from '../../../lib/object.ts'
import type { Answer } from '../../answer.ts'
import type {
  AccountHistory,
  HistoryMark,
  HistoryReading,
  KnownTransactions,
  OwnTransaction,
} from '../../capabilities.ts'
import type { EndpointReply, PooledClient, RpcCall } from '../../rpc/rpc.ts'
import { transactionCall } from '../read/receipts.ts'
import { fieldsOf, newestSlot, readInteger, resultOf } from '../read/replies.ts'
import { isBy } from '../sign.ts'
import { addressBytes, encodeBase58 } from '../wire/addresses.ts'
import { isMultiSigner, readTransaction } from '../wire/message.ts'
import { askEverywhere, lacksHistory, MINIMUM_LEDGER_SLOT, slotIn } from './ledger.ts'

/**
 * The highest number of transactions that one call lists (agave
 * `MAX_GET_CONFIRMED_SIGNATURES_FOR_ADDRESS2_LIMIT`).
 */
const PAGE = 1_000

/**
 * Anyone can name an account in a transaction. A read ends after this many pages without the mark, and an
 * operator must check instead.
 */
const MAX_PAGES = 100

/** A transaction with its logs has some 10 kB, and this many are read in one request. */
const READ_AT_ONCE = 20

/**
 * The ledger of the endpoint is compared with a mark that is older than this, in slots, about 20 minutes. A
 * younger one needs no second call, because no node keeps less.
 */
const OLD_MARK_SLOTS = 3_000n

/**
 * Transactions of versions that the service does not sign (agave
 * `JSON_RPC_SERVER_ERROR_UNSUPPORTED_TRANSACTION_VERSION`).
 */
const UNSUPPORTED_VERSION = -32015

/** One entry of `getSignaturesForAddress`. */
interface Listed {
  readonly hash: string
  readonly slot: bigint
  readonly isFinal: boolean
}

/** The first page of one endpoint. */
interface FirstPage {
  readonly url: string
  readonly listed: readonly Listed[]
}

/**
 * Creates the reader of what an account has signed. A node lists every transaction that names the account,
 * newest first. Those signed only by the account are its own: with further signers the bytes cannot be signed
 * again, and without them only the account's key can create one. An endpoint that has not reached the newest
 * finalized slot, keeps no history, or has a ledger that begins after the mark does not count.
 */
export function createAccountHistory(client: PooledClient): AccountHistory {
  return { readAfter: (address, mark, known) => readAfter(client, { address, mark, known }) }
}

interface Search {
  readonly address: string
  readonly mark: HistoryMark | undefined
  readonly known: KnownTransactions
}

async function readAfter(client: PooledClient, search: Search): Promise<Answer<HistoryReading>> {
  const { address, mark, known } = search
  const asOf = newestSlot(client)
  const first = await askFirst(client, search, asOf)
  if (first.kind !== 'ok') return first
  // A mark at slot 0 would look like a very old one later.
  if (asOf === 0n) return NOT_TOLD
  const pages = first.value
  const [{ url, listed: newest } = NO_PAGE] = pages
  const next: HistoryMark = markAfter(newest, { mark, asOf })
  if (mark === undefined) return { kind: 'ok', value: { unexplained: [], asOf, mark: next } }
  // A transaction counts if any endpoint shows it. The first endpoint shows all of them.
  const shown = new Map(pages.flatMap(({ listed }) => listed.map((one) => [one.hash, one])))
  let page: readonly Listed[] = [...shown.values()]
  let last = newest
  for (let count = 1; ; count += 1) {
    const hashes = page.filter(({ slot }) => slot > mark.slot).map(({ hash }) => hash)
    for (const slice of slicesOf(await known.withoutRecord(hashes), READ_AT_ONCE)) {
      const own = await readOwn(client, address, slice)
      if (own.kind !== 'ok') return own
      const unexplained = await known.unexplained(own.value)
      if (unexplained.length > 0) return { kind: 'ok', value: { unexplained, asOf, mark } }
    }
    const end = last.at(-1)
    if (last.length < PAGE || end === undefined || end.slot <= mark.slot)
      return { kind: 'ok', value: { unexplained: [], asOf, mark: next } }
    if (count >= MAX_PAGES) return tooMany(mark)
    const call = listCall(address, { before: end.hash, until: mark.hash })
    const replies = await askEverywhere(client, [call], asOf)
    const found = readPage(replies.find((one) => one.url === url)?.replies[0])
    if (found === undefined) return NOT_TOLD
    page = last = found
  }
}

function tooMany({ slot }: HistoryMark): Answer<never> {
  const detail = `more than ${MAX_PAGES * PAGE} transactions name the account since slot ${slot}`
  return { kind: 'unknown', detail }
}

const NO_PAGE: FirstPage = { url: '', listed: [] }

const NOT_TOLD: Answer<never> = {
  kind: 'unknown',
  detail: 'no endpoint that has reached the newest finalized slot lists the transactions of the account',
}

const NO_HISTORY: Answer<never> = {
  kind: 'unknown',
  detail: 'no endpoint keeps a transaction history',
}

/** Reads the first page of every endpoint that counts; unknown when none does. */
async function askFirst(
  client: PooledClient,
  { address, mark }: Search,
  asOf: bigint,
): Promise<Answer<FirstPage[]>> {
  const isOld = mark !== undefined && mark.slot + OLD_MARK_SLOTS < asOf
  const calls = [
    listCall(address, { until: mark?.hash }),
    ...(isOld ? [MINIMUM_LEDGER_SLOT, FIRST_AVAILABLE] : []),
  ]
  const endpoints = await askEverywhere(client, calls, asOf)
  const told = endpoints.flatMap(({ url, replies }) => {
    const listed = replies[0]?.behind === false ? readPage(replies[0]) : undefined
    return listed === undefined ? [] : [{ url, listed, replies }]
  })
  const pages = told.filter(({ replies }) => !isOld || reachesBack(replies.slice(1), mark.slot))
  if (pages.length > 0) return { kind: 'ok', value: pages }
  if (told.length > 0)
    return {
      kind: 'unknown',
      detail: `no endpoint has the transactions of the account since slot ${mark?.slot}`,
    }
  return endpoints.length > 0 && endpoints.every(({ replies }) => lacksHistory(replies[0]))
    ? NO_HISTORY
    : NOT_TOLD
}

/**
 * The first block of a long-term storage, if there is one; 0 means nothing (agave `rpc/src/rpc.rs`
 * `get_first_available_block`).
 */
const FIRST_AVAILABLE: RpcCall = { method: 'getFirstAvailableBlock', params: [] }

function reachesBack([ledger, storage]: readonly (EndpointReply | undefined)[], slot: bigint): boolean {
  const [own, stored] = [slotIn(ledger), slotIn(storage)]
  return (own !== undefined && own <= slot) || (stored !== undefined && stored > 0n && stored <= slot)
}

function listCall(
  address: string,
  { before, until }: { readonly before?: string; readonly until: string | undefined },
): RpcCall {
  const options = {
    commitment: 'confirmed',
    limit: PAGE,
    ...(before !== undefined && { before }),
    ...(until !== undefined && { until }),
  }
  return { method: 'getSignaturesForAddress', params: [address, options] }
}

/** Returns undefined for anything but a list that can be read whole. */
function readPage(endpointReply: EndpointReply | undefined): Listed[] | undefined {
  const result = resultOf(endpointReply?.reply)
  if (result.kind !== 'ok' || !Array.isArray(result.value)) return undefined
  const listed = result.value.map((entry: unknown): Listed | undefined => {
    const { signature, slot, confirmationStatus } = fieldsOf(entry)
    const number = readInteger(slot)
    return typeof signature === 'string' && number !== undefined
      ? { hash: signature, slot: number, isFinal: confirmationStatus === 'finalized' }
      : undefined
  })
  return listed.every((one) => one !== undefined) ? listed : undefined
}

/**
 * Everything up to the newest finalized transaction, and up to the finalized slot, was listed and stays as it
 * is.
 */
function markAfter(
  newest: readonly Listed[],
  { mark, asOf }: { readonly mark: HistoryMark | undefined; readonly asOf: bigint },
): HistoryMark {
  const last = newest.find(({ isFinal }) => isFinal)
  const hash = last?.hash ?? mark?.hash
  const slot = [last?.slot ?? 0n, mark?.slot ?? 0n, asOf].reduce(larger)
  return { slot, ...(hash !== undefined && { hash }) }
}

/**
 * Reads those of the transactions that the account alone has signed; unknown while no endpoint returns one of
 * them.
 */
async function readOwn(
  client: PooledClient,
  address: string,
  hashes: readonly string[],
): Promise<Answer<OwnTransaction[]>> {
  if (hashes.length === 0) return { kind: 'ok', value: [] }
  const endpoints = await askEverywhere(client, hashes.map(transactionCall))
  const own: OwnTransaction[] = []
  for (const [index, hash] of hashes.entries()) {
    const told = contentIn(
      endpoints.map(({ replies }) => replies[index]),
      { address, hash },
    )
    if (told === undefined)
      return { kind: 'unknown', detail: `no endpoint returned the content of transaction ${hash}` }
    if (told !== 'foreign') own.push(told)
  }
  return { kind: 'ok', value: own }
}

/**
 * `foreign`: others also signed it, or it has a version that the service does not sign. Proof that it is the
 * account's own counts, regardless of other endpoints. Undefined if no endpoint returns it; one that has
 * deleted it answers null.
 */
function contentIn(
  replies: readonly (EndpointReply | undefined)[],
  sought: { readonly address: string; readonly hash: string },
): OwnTransaction | 'foreign' | undefined {
  let isOfOthers = false
  for (const endpointReply of replies) {
    const reply = endpointReply?.reply
    const result = resultOf(reply)
    const { transaction, slot } = fieldsOf(result.kind === 'ok' ? result.value : undefined)
    const [text]: unknown[] = Array.isArray(transaction) ? transaction : []
    const number = readInteger(slot)
    if (typeof text === 'string' && number !== undefined) {
      const raw = Buffer.from(text, 'base64')
      const signer = signerOf(raw, sought)
      if (signer === 'account')
        return { hash: sought.hash, slot: number, sha256: createHash('sha256').update(raw).digest('hex') }
      isOfOthers ||= signer === 'others'
    }
    isOfOthers ||= reply?.kind === 'error' && reply.code === UNSUPPORTED_VERSION
  }
  return isOfOthers ? 'foreign' : undefined
}

/** Undefined for a transaction that a node has made up: the hash is a signature, which cannot be forged. */
function signerOf(
  raw: Uint8Array,
  { address, hash }: { readonly address: string; readonly hash: string },
): 'account' | 'others' | undefined {
  const { message, messageBytes, signatures: [signature] = [] } = readTransaction(raw) ?? {}
  if (message === undefined || messageBytes === undefined || signature === undefined) return 'others'
  if (encodeBase58(signature) !== hash) return undefined
  if (message.staticAccounts[0] !== address || isMultiSigner(message)) return 'others'
  return isBy(signature, addressBytes(address), messageBytes) ? 'account' : undefined
}
