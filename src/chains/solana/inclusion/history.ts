import type { Logger } from 'pino'
import type { EndpointReply, RpcCall } from '../../rpc/rpc.ts'
import { isUnsupported, lacksHistory, MINIMUM_LEDGER_SLOT } from './ledger.ts'

/** Records which endpoints keep old transactions. */
export interface HistoryRecord {
  /** Notes the replies to `HISTORY_CALLS`, and logs an endpoint without history once. */
  note(url: string, replies: readonly (EndpointReply | undefined)[]): void
  /** Returns undefined while it is not known. */
  keeps(url: string): boolean | undefined
}

/** The calls look nothing up: a node without history refuses before it reads the list. */
export const HISTORY_CALLS: readonly RpcCall[] = [
  { method: 'getSignatureStatuses', params: [[], { searchTransactionHistory: true }] },
  MINIMUM_LEDGER_SLOT,
]

/** Keeps the last answer of each endpoint in memory. */
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
