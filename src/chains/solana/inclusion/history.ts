import type { Logger } from 'pino'
import type { EndpointReply, RpcCall } from '../../rpc/rpc.ts'
import { isUnsupported, lacksHistory, MINIMUM_LEDGER_SLOT } from './ledger.ts'

/** Which endpoints tell of old transactions, as far as they were asked. */
export interface HistoryRecord {
  /** Notes the replies to `HISTORY_CALLS`; what an endpoint cannot tell is logged once. */
  note(url: string, replies: readonly (EndpointReply | undefined)[]): void
  /** Undefined while it is not known. */
  keeps(url: string): boolean | undefined
}

/** Nothing is looked up: a node that was not started to keep history refuses before it looks at the list. */
export const HISTORY_CALLS: readonly RpcCall[] = [
  { method: 'getSignatureStatuses', params: [[], { searchTransactionHistory: true }] },
  MINIMUM_LEDGER_SLOT,
]

/** Keeps in memory what each endpoint said last. */
export function createHistoryRecord(log: Logger): HistoryRecord {
  const known = new Map<string, boolean>()
  return {
    keeps: (url) => known.get(url),
    note(url, replies) {
      const keeps = keepsHistory(replies)
      if (keeps === undefined || keeps === known.get(url)) return
      known.set(url, keeps)
      if (!keeps)
        log.warn(
          { endpoint: new URL(url).host, detail: NO_HISTORY },
          'RPC endpoint keeps no transaction history',
        )
    },
  }
}

const NO_HISTORY =
  'It cannot prove that an expired transaction was not included; such transactions wait for an endpoint that can.'

function keepsHistory(replies: readonly (EndpointReply | undefined)[]): boolean | undefined {
  if (replies.some((endpointReply) => lacksHistory(endpointReply) || isUnsupported(endpointReply)))
    return false
  return replies.every((endpointReply) => endpointReply?.reply.kind === 'result') ? true : undefined
}
