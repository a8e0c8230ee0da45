import { xdr } from '@stellar/stellar-sdk'
import { INTERNAL_ERROR, invalidParams, RpcFault } from '../../json-rpc.ts'
import type { AppliedTransaction, ClosedLedger } from '../chain.ts'
import type { Entry } from '../state/entries.ts'
import { stateKeyOf, toEntryData } from '../state/entry-xdr.ts'
import { toMetaXdr } from '../state/meta.ts'
import type { Node } from './node.ts'
import {
  numberParam,
  objectParam,
  type Params,
  refuseJsonFormat,
  stringParam,
  stringsParam,
} from './params.ts'

/** The first protocol whose ledgers tell their close time in milliseconds (CAP-88). */
const MILLISECOND_PROTOCOL = 30

/** Bytes of `LedgerHeaderHistoryEntry` before the header: its hash. */
const HISTORY_HASH = 32

/** Bytes of a header before the extension of its `StellarValue`: version, two hashes, close time, and no upgrades. */
const BEFORE_EXTENSION = 4 + 32 + 32 + 8 + 4

/** `STELLAR_VALUE_SIGNED_MS`. */
const SIGNED_MS = 3

/**
 * Returns a header with the `StellarValue` of CAP-88, which the SDK can neither write nor read, where its protocol has it; `start` is its place in
 * the bytes.
 */
function inMilliseconds({ header, closeTime }: ClosedLedger, bytes: Uint8Array, start = 0): Buffer {
  const plain = Buffer.from(bytes)
  if (header.ledgerVersion < MILLISECOND_PROTOCOL) return plain
  const at = start + BEFORE_EXTENSION
  const extension = Buffer.alloc(4 + 8 + 4 + 32 + 4 + 64)
  extension.writeUInt32BE(SIGNED_MS, 0)
  extension.writeBigUInt64BE(BigInt(closeTime) * 1_000n, 4)
  // The node's public key is zero, and so are the 64 bytes of its signature.
  extension.writeUInt32BE(64, 4 + 8 + 4 + 32)
  return Buffer.concat([plain.subarray(0, at), extension, plain.subarray(at + 4)])
}

type CloseMeta = Extract<xdr.LedgerCloseMeta, { type: 'v2' }>

/** A ledger with everything in it, as the network writes it (Stellar-ledger.x, `LedgerCloseMetaV2`). */
function toCloseMeta(closed: ClosedLedger): CloseMeta {
  return xdr.LedgerCloseMeta.v2(
    new xdr.LedgerCloseMetaV2({
      ext: xdr.LedgerCloseMetaExt.v0(),
      ledgerHeader: new xdr.LedgerHeaderHistoryEntry({
        hash: new xdr.Hash(closed.hash),
        header: closed.header,
        ext: xdr.LedgerHeaderHistoryEntryExt.v0(),
      }),
      txSet: toTransactionSet(closed),
      txProcessing: closed.transactions.map(toResultMeta),
      upgradesProcessing: [],
      scpInfo: [],
      totalByteSizeOfLiveSorobanState: 0n,
      evictedKeys: [],
    }),
  )
}

/** One phase with one component: all of them at the ledger's price. */
function toTransactionSet({ header, baseFee, transactions }: ClosedLedger): xdr.GeneralizedTransactionSet {
  const component = xdr.TxSetComponent.txsetCompTxsMaybeDiscountedFee(
    new xdr.TxSetComponentTxsMaybeDiscountedFee({
      baseFee,
      txs: transactions.map(({ frame }) => frame.envelope),
    }),
  )
  return xdr.GeneralizedTransactionSet.v1TxSet(
    new xdr.TransactionSetV1({
      previousLedgerHash: header.previousLedgerHash,
      phases: [xdr.TransactionPhase.v0Components([component])],
    }),
  )
}

function toResultMeta({ frame, result, effects }: AppliedTransaction): xdr.TransactionResultMetaV1 {
  return new xdr.TransactionResultMetaV1({
    ext: xdr.ExtensionPoint.v0(),
    result: new xdr.TransactionResultPair({ transactionHash: new xdr.Hash(frame.hash), result }),
    feeProcessing: [],
    txApplyProcessing: toMetaXdr(effects),
    postTxApplyFeeProcessing: [],
  })
}

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
