import type { RpcCall, RpcReply } from './rpc.ts'
import type { AnswerLimits } from './transport.ts'

/** The call that reads a node's height. */
export interface HeightQuestion {
  readonly call: RpcCall
  /** Returns undefined for a result that is no height. */
  readonly read: (result: unknown) => bigint | undefined
  /**
   * This call goes out in a separate HTTP request before the others. A node that processes a batch in
   * parallel could return a height newer than its other replies, and its "none" would not be valid for that
   * height.
   */
  readonly alone?: true
}

/** The peculiarities of the JSON-RPC of one kind of chain. */
export interface NodeDialect {
  readonly height: HeightQuestion
  readonly errors: NodeErrorRules
  /** The maximum size of one HTTP request, in bytes; a longer call goes alone. */
  readonly maxRequestBytes: number
  /** The methods of the service's own questions whose answers may be larger than 1 MiB. */
  readonly largeAnswers?: Readonly<Record<string, AnswerLimits>>
}

type NodeError = Extract<RpcReply, { kind: 'error' }>

/**
 * The JSON-RPC errors by which nodes and providers of one kind of chain report their own failures. Codes have
 * different meanings on each chain.
 */
export interface NodeErrorRules {
  /** Codes that only mean rate limiting. */
  readonly rateLimitCodes: readonly number[]
  /**
   * Codes that some providers use for rate limiting and some nodes for a fault of the call: the message
   * decides.
   */
  readonly ambiguousRateLimitCodes: readonly number[]
  readonly rateLimitPhrase: RegExp
  /** Messages about the call itself, under an ambiguous code. */
  readonly callFaultPhrase?: RegExp
  /** Codes of a node that currently cannot work, regardless of the call. */
  readonly failureCodes: readonly number[]
  readonly failurePhrase: RegExp
  /** Codes and messages of a node without data that another node may have. */
  readonly missingDataCodes: readonly number[]
  readonly missingDataPhrase?: RegExp
}

/**
 * The meaning of an error. `rate_limit`: the node did not process the call · `endpoint_failure`: the node
 * cannot work now · `missing_data`: the node works, but another one may know more · `answer`: every other
 * node would repeat this answer.
 */
export type NodeErrorClass = 'rate_limit' | 'endpoint_failure' | 'missing_data' | 'answer'

/** Phrases that proxies and providers use on every chain. */
export const COMMON_RATE_LIMIT_PHRASE =
  /rate.?limit|too many requests|request (count|limit)|(capacity|quota|throughput) (was |is )?exceeded|throttl/i

/** Phrases of proxies and of failing servers, on every chain. */
export const COMMON_FAILURE_PHRASE =
  /^internal (server )?error\W*$|upstream|temporarily|(service|resource|node|backend) (is )?(currently )?(unavailable|not available)|(request|operation|gateway|connection) (has )?timed? ?out/i

/** Classifies the reply of a node to a call of the service. */
export function classifyNodeError(reply: RpcReply, rules: NodeErrorRules): NodeErrorClass | undefined {
  if (reply.kind !== 'error') return undefined
  if (isContractsOwn(reply)) return 'answer'
  if (isRateLimit(reply, rules)) return 'rate_limit'
  if (rules.failureCodes.includes(reply.code) || rules.failurePhrase.test(reply.message))
    return 'endpoint_failure'
  const lacksData =
    rules.missingDataCodes.includes(reply.code) || rules.missingDataPhrase?.test(reply.message)
  return lacksData ? 'missing_data' : 'answer'
}

/**
 * Classifies the reply to a call of an API caller. A caller can provoke most codes and have any text echoed,
 * so only an unambiguous code counts as a rate limit.
 */
export function classifyForwardedError(reply: RpcReply, rules: NodeErrorRules): NodeErrorClass | undefined {
  const known = classifyNodeError(reply, rules)
  if (known !== 'rate_limit' || reply.kind !== 'error') return known
  return rules.rateLimitCodes.includes(reply.code) ? 'rate_limit' : 'endpoint_failure'
}

/**
 * Returns true for a revert: the author of the contract chooses its text, which says nothing about the
 * endpoint.
 */
export function isContractsOwn(reply: RpcReply): boolean {
  return reply.kind === 'error' && (reply.code === 3 || /revert/i.test(reply.message))
}

function isRateLimit({ code, message }: NodeError, rules: NodeErrorRules): boolean {
  if (rules.rateLimitCodes.includes(code)) return true
  if (rules.callFaultPhrase?.test(message)) return false
  return rules.ambiguousRateLimitCodes.includes(code) || rules.rateLimitPhrase.test(message)
}
