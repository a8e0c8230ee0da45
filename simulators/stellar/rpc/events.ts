import { StrKey, type xdr } from '@stellar/stellar-sdk'
import { INVALID_REQUEST, invalidParams, RpcFault } from '../../json-rpc.ts'
import { isSuccess } from '../transaction/results.ts'
import type { Node } from './node.ts'
import { numberParam, objectParam, type Params, refuseJsonFormat, stringsParam } from './params.ts'

const DEFAULT_PAGE = 100
const MAX_PAGE = 10_000

/** Any number of topics at the end of a filter; `*` is any one of them. */
const ANY_TOPICS = '**'
const ANY_TOPIC = '*'

interface Filter {
  /** Any contract if empty. */
  readonly contractIds: readonly string[]
  /** One of these lists must match; any topics if empty. */
  readonly topics: readonly (readonly string[])[]
}

/** stellar-rpc methods/get_events.go: events of contracts by ledger, contract and topics. There are no cursors here. */
export function getEvents(node: Node, params: Params): unknown {
  refuseJsonFormat(params)
  const [latest, oldest] = [node.latest(), node.oldest()]
  const start = numberParam(params, 'startLedger') ?? 0
  if (start < oldest.sequence || start > latest.sequence)
    throw new RpcFault(
      INVALID_REQUEST,
      `startLedger must be within the ledger range: ${oldest.sequence} - ${latest.sequence}`,
    )
  const end = numberParam(params, 'endLedger') ?? latest.sequence + 1
  const limit = numberParam(objectParam(params, 'pagination') ?? {}, 'limit') ?? DEFAULT_PAGE
  if (limit === 0 || limit > MAX_PAGE) throw invalidParams(`limit must be between 1 and ${MAX_PAGE}`)
  const filters = filtersIn(params)
  const events = node.ledger.chain.ledgers
    .filter(({ sequence }) => sequence >= start && sequence < end && sequence <= latest.sequence)
    .flatMap(({ transactions, closeTime }) =>
      transactions.flatMap(({ effects, frame, frameResult, ledger, order }) =>
        (effects.contract?.events ?? []).map((event, index) => ({
          type: event.type.name,
          ledger,
          ledgerClosedAt: new Date(closeTime * 1000).toISOString(),
          id: `${ledger}-${order}-${index}`,
          operationIndex: 0,
          transactionIndex: order,
          txHash: frame.hash,
          inSuccessfulContractCall: isSuccess(frameResult),
          ...describe(event),
        })),
      ),
    )
    .filter((event) => filters.length === 0 || filters.some((filter) => matches(filter, event)))
  return {
    events: events.slice(0, limit),
    latestLedger: latest.sequence,
    latestLedgerCloseTime: String(latest.closeTime),
    oldestLedger: oldest.sequence,
    oldestLedgerCloseTime: String(oldest.closeTime),
  }
}

function describe({ contractId, body }: xdr.ContractEvent) {
  return {
    contractId: contractId === null ? '' : StrKey.encodeContract(contractId.toBytes()),
    topic: body.v0.topics.map((topic) => topic.toXdr('base64')),
    value: body.v0.data.toXdr('base64'),
  }
}

function filtersIn({ filters = [] }: Params): readonly Filter[] {
  if (!Array.isArray(filters)) throw invalidParams('filters must be an array')
  return filters.map((each: Params) => ({
    contractIds: each.contractIds === undefined ? [] : stringsParam(each, 'contractIds'),
    topics: topicsIn(each),
  }))
}

function topicsIn({ topics = [] }: Params): Filter['topics'] {
  if (!Array.isArray(topics)) throw invalidParams('topics must be an array')
  return topics.map((topic, index) => stringsParam({ [`topics ${index}`]: topic }, `topics ${index}`))
}

function matches(
  { contractIds, topics }: Filter,
  { contractId, topic }: { readonly contractId: string; readonly topic: readonly string[] },
): boolean {
  if (contractIds.length > 0 && !contractIds.includes(contractId)) return false
  return topics.length === 0 || topics.some((wanted) => hasTopics(wanted, topic))
}

function hasTopics(wanted: readonly string[], topic: readonly string[]): boolean {
  const isOpen = wanted.at(-1) === ANY_TOPICS
  const fixed = isOpen ? wanted.slice(0, -1) : wanted
  if (isOpen ? topic.length < fixed.length : topic.length !== fixed.length) return false
  return fixed.every((each, index) => each === ANY_TOPIC || each === topic[index])
}
