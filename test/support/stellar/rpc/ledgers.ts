import { xdr } from '@stellar/stellar-sdk'
import { INTERNAL_ERROR, invalidParams, RpcFault } from '../../json-rpc/fault.ts'
import type { ClosedLedger } from '../chain.ts'
import type { Entry } from '../entries.ts'
import { stateKeyOf, toEntryData } from '../entry-xdr.ts'
import { toCloseMeta } from './close-meta.ts'
import { HISTORY_HASH, inMilliseconds } from './millisecond-header.ts'
import type { Node } from './node.ts'
import {
  numberParam,
  objectParam,
  type Params,
  refuseJsonFormat,
  stringParam,
  stringsParam,
} from './params.ts'

const MAX_KEYS = 200
const DEFAULT_PAGE = 5
const MAX_PAGE = 200

/** stellar-rpc methods/get_latest_ledger.go. */
export function getLatestLedger({ latest }: Node): unknown {
  const closed = latest()
  return {
    id: closed.hash,
    protocolVersion: closed.header.ledgerVersion,
    sequence: closed.sequence,
    closeTime: String(closed.closeTime),
    headerXdr: inMilliseconds(closed, closed.header.toXdr()).toString('base64'),
    metadataXdr: toCloseMeta(closed).toXdr('base64'),
  }
}

/**
 * stellar-rpc methods/get_ledger_entries.go: those that exist, in the order of the keys. Its stellar-core (27.1) refuses a key that comes twice,
 * which looks like a failure of the node; only the code is known of that answer.
 */
export function getLedgerEntries(node: Node, params: Params): unknown {
  refuseJsonFormat(params)
  const keys = stringsParam(params, 'keys')
  if (keys.length > MAX_KEYS) {
    throw invalidParams(`key count (${keys.length}) exceeds maximum supported (${MAX_KEYS})`)
  }
  if (new Set(keys).size !== keys.length)
    throw new RpcFault(INTERNAL_ERROR, 'could not query captive core: a key was given twice')
  const view = node.view()
  const entries = keys.flatMap((key, index) => {
    const stateKey = stateKeyOf(readKey(key, index))
    const entry = stateKey === undefined ? undefined : view.get(stateKey)
    return entry ? [describe(key, entry)] : []
  })
  return { entries, latestLedger: node.latest().sequence }
}

/** stellar-rpc methods/get_ledgers.go. */
export function getLedgers(node: Node, params: Params): unknown {
  refuseJsonFormat(params)
  const page = objectParam(params, 'pagination') ?? {}
  const limit = numberParam(page, 'limit') ?? DEFAULT_PAGE
  if (limit === 0 || limit > MAX_PAGE) throw invalidParams(`limit must be between 1 and ${MAX_PAGE}`)
  const [latest, oldest] = [node.latest(), node.oldest()]
  const first = firstOf(params, page, node)
  const ledgers = node.ledger.chain.ledgers
    .filter(({ sequence }) => sequence >= first && sequence <= latest.sequence)
    .slice(0, limit)
  return {
    ledgers: ledgers.map(describeLedger),
    latestLedger: latest.sequence,
    latestLedgerCloseTime: latest.closeTime,
    oldestLedger: oldest.sequence,
    oldestLedgerCloseTime: oldest.closeTime,
    cursor: String(ledgers.at(-1)?.sequence ?? first - 1),
  }
}

function describeLedger(closed: ClosedLedger) {
  const meta = toCloseMeta(closed)
  return {
    hash: closed.hash,
    sequence: closed.sequence,
    ledgerCloseTime: String(closed.closeTime),
    headerXdr: inMilliseconds(closed, meta.v2.ledgerHeader.toXdr(), HISTORY_HASH).toString('base64'),
    metadataXdr: meta.toXdr('base64'),
  }
}

function firstOf(params: Params, page: Params, node: Node): number {
  if (page.cursor !== undefined) {
    const cursor = stringParam(page, 'cursor')
    if (!/^\d{1,10}$/.test(cursor)) throw invalidParams('cursor is not one of ours')
    return Number(cursor) + 1
  }
  const [first, last] = [node.oldest().sequence, node.latest().sequence]
  const start = numberParam(params, 'startLedger')
  if (start === undefined || start < first || start > last) {
    throw invalidParams(
      `start ledger must be between the oldest ledger: ${first} and the latest ledger: ${last}`,
    )
  }
  return start
}

function describe(key: string, entry: Entry) {
  return {
    key,
    xdr: toEntryData(entry).toXdr('base64'),
    extXdr: xdr.LedgerEntryExt.v0().toXdr('base64'),
    lastModifiedLedgerSeq: entry.lastModified ?? 0,
    ...(entry.kind === 'contract' && { liveUntilLedgerSeq: entry.liveUntil }),
  }
}

function readKey(key: string, index: number): xdr.LedgerKey {
  let ledgerKey: xdr.LedgerKey
  try {
    ledgerKey = xdr.LedgerKey.fromXdr(key, 'base64')
  } catch {
    throw invalidParams(`cannot unmarshal key value ${key} at index ${index}`)
  }
  if (ledgerKey.type === 'ttl') throw invalidParams('ledger ttl entries cannot be queried directly')
  return ledgerKey
}
