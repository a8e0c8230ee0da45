import type { RpcReply } from './rpc.ts'

type NodeError = Extract<RpcReply, { kind: 'error' }>

/**
 * Codes that providers give for "too much": EIP-1474's `-32005`, Alchemy's `429`, and those of QuickNode, Base, Ankr and BNB
 * Chain.
 */
const LIMIT_CODES = [-32005, 429, -32007, -32016, -32029, -32090, -32097]

const LIMIT_PHRASE =
  /rate.?limit|too many requests|request (count|limit)|(capacity|quota|throughput) (was |is )?exceeded|compute units|throttl/i

/** A contract may say anything when it reverts; its words are not the endpoint's. */
function isContractsOwn({ code, message }: NodeError): boolean {
  return code === 3 || /revert/i.test(message)
}

/** Whether the endpoint refused to look at the call because it was asked too often. */
export function isRateLimit(reply: RpcReply): reply is NodeError {
  if (reply.kind !== 'error' || isContractsOwn(reply)) return false
  return LIMIT_CODES.includes(reply.code) || LIMIT_PHRASE.test(reply.message)
}

const TROUBLE_PHRASE =
  /^internal (server )?error\W*$|upstream|temporarily|(service|resource|node|backend) (is )?(currently )?(unavailable|not available)|(request|operation|gateway|connection) (has )?timed? ?out/i

/** Whether an error tells of trouble at the endpoint and nothing of the call: another endpoint may do better. */
export function isEndpointTrouble(reply: RpcReply): reply is NodeError {
  return reply.kind === 'error' && !isContractsOwn(reply) && TROUBLE_PHRASE.test(reply.message)
}
