import { invalidParams } from '../../json-rpc.ts'
import type { AppliedTransaction } from '../chain.ts'
import { toMetaXdr } from '../state/meta.ts'
import { decodeFrame } from '../transaction/frame.ts'
import { isSuccess, toResultXdr } from '../transaction/results.ts'
import type { Node } from './node.ts'
import { numberParam, objectParam, type Params, refuseJsonFormat, stringParam } from './params.ts'

const HASH = /^[0-9a-fA-F]{64}$/
const DEFAULT_PAGE = 50
const MAX_PAGE = 200
/** A cursor counts transactions of all ledgers: the ledger's number and the place in it (stellar-rpc `toid`). */
const CURSOR_SHIFT = 32n
const CURSOR_INDEX_SHIFT = 12n

/** stellar-rpc methods/send_transaction.go. What reaches the queue does not depend on how late the server is. */
export function sendTransaction({ ledger, latest }: Node, params: Params): unknown {
  refuseJsonFormat(params)
  const frame = readFrame(stringParam(params, 'transaction'), ledger.network)
  const answer = ledger.submit(frame)
  const { sequence, closeTime } = latest()
  const about = { hash: frame.hash, latestLedger: sequence, latestLedgerCloseTime: String(closeTime) }
  if (answer.status !== 'ERROR') return { status: answer.status, ...about }
  const errorResultXdr = toResultXdr(frame, answer.frameResult).toXdr('base64')
  return { errorResultXdr, diagnosticEventsXdr: [], status: 'ERROR', ...about }
}

/** stellar-rpc methods/get_transaction.go: by the hash of what was sent, or of what it wraps; echoes the hash it was asked for. */
export function getTransaction(node: Node, params: Params): unknown {
  refuseJsonFormat(params)
  const hash = stringParam(params, 'hash')
  if (!HASH.test(hash)) throw invalidParams(`unexpected hash length (${hash.length})`)
  const applied = node.ledger.chain.find(hash.toLowerCase())
  const searched = applied === undefined ? node.latest().sequence : node.searched()
  const [latest, oldest] = [node.latest(), node.oldest()]
  const range = {
    latestLedger: latest.sequence,
    latestLedgerCloseTime: String(latest.closeTime),
    oldestLedger: oldest.sequence,
    oldestLedgerCloseTime: String(oldest.closeTime),
  }
  const isKnown = applied && applied.ledger <= searched && applied.ledger >= oldest.sequence
  if (!isKnown) {
    const nothing = {
      txHash: hash,
      applicationOrder: 0,
      feeBump: false,
      events: {},
      ledger: 0,
      createdAt: '0',
    }
    return { ...range, status: 'NOT_FOUND', ...nothing }
  }
  const { closeTime } = node.ledger.chain.near(applied.ledger)
  return { ...range, ...describe(applied), txHash: hash, createdAt: String(closeTime) }
}

/** stellar-rpc methods/get_transactions.go: in the order in which they were applied. */
export function getTransactions(node: Node, params: Params): unknown {
  refuseJsonFormat(params)
  const page = objectParam(params, 'pagination') ?? {}
  const limit = numberParam(page, 'limit') ?? DEFAULT_PAGE
  if (limit === 0 || limit > MAX_PAGE) throw invalidParams(`limit must be between 1 and ${MAX_PAGE}`)
  const [latest, oldest] = [node.latest(), node.oldest()]
  const after = startOf(params, page, node)
  const known = node.ledger.chain.ledgers.filter(
    ({ sequence }) => sequence >= oldest.sequence && sequence <= latest.sequence,
  )
  const found = known
    .flatMap(({ transactions }) => transactions)
    .filter((applied) => cursorOf(applied) > after)
  const listed = found.slice(0, limit)
  const last = listed.at(-1)
  return {
    transactions: listed.map((applied) => ({
      ...describe(applied),
      createdAt: node.ledger.chain.near(applied.ledger).closeTime,
    })),
    latestLedger: latest.sequence,
    latestLedgerCloseTimestamp: latest.closeTime,
    oldestLedger: oldest.sequence,
    oldestLedgerCloseTimestamp: oldest.closeTime,
    cursor: String(last ? cursorOf(last) : after),
  }
}

function describe(applied: AppliedTransaction) {
  const { frame, frameResult, result, effects, ledger, order } = applied
  const events = (effects.contract?.events ?? []).map((event) => event.toXdr('base64'))
  return {
    status: isSuccess(frameResult) ? 'SUCCESS' : 'FAILED',
    txHash: frame.hash,
    applicationOrder: order,
    feeBump: frame.kind === 'feeBump',
    envelopeXdr: frame.envelope.toXdr('base64'),
    resultXdr: result.toXdr('base64'),
    resultMetaXdr: toMetaXdr(effects).toXdr('base64'),
    ledger,
    events: { transactionEventsXdr: [], contractEventsXdr: events.length > 0 ? [events] : [] },
  }
}

function startOf(params: Params, page: Params, node: Node): bigint {
  const start = numberParam(params, 'startLedger')
  if (page.cursor !== undefined) {
    if (start !== undefined) throw invalidParams('startLedger and cursor cannot both be set')
    const cursor = stringParam(page, 'cursor')
    if (!/^\d{1,19}$/.test(cursor)) throw invalidParams('cursor is not one of ours')
    return BigInt(cursor)
  }
  const [first, last] = [node.oldest().sequence, node.latest().sequence]
  if (start === undefined || start < first || start > last) {
    throw invalidParams(
      `start ledger must be between the oldest ledger: ${first} and the latest ledger: ${last}`,
    )
  }
  return (BigInt(start) << CURSOR_SHIFT) - 1n
}

function cursorOf({ ledger, order }: AppliedTransaction): bigint {
  return (BigInt(ledger) << CURSOR_SHIFT) | (BigInt(order) << CURSOR_INDEX_SHIFT)
}

function readFrame(base64: string, network: Node['ledger']['network']) {
  try {
    return decodeFrame(base64, network)
  } catch {
    throw invalidParams('invalid_xdr')
  }
}
