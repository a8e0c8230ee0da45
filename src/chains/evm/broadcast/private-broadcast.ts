import { bytesToHex } from 'viem/utils'
import type { EvmNetwork, PrivateRpcUrl } from '../../../networks/network.ts'
import type { BroadcastResult } from '../../answer.ts'
import type { PrivateBroadcast } from '../../capabilities.ts'
import { createRpcClient } from '../../rpc/client.ts'
import { type ChainOptions, reportEndpoints } from '../../rpc/connect.ts'
import { markUnanswered, type UnknownTexts } from '../../rpc/refusals.ts'
import type { EndpointReply, PooledClient, RpcCall, RpcReply } from '../../rpc/rpc.ts'
import { NODE_DIALECT } from '../read/node-dialect.ts'
import { reportTexts } from './broadcast.ts'
import { readBroadcast } from './failures.ts'

interface PrivateEndpoint {
  readonly host: string
  readonly method: PrivateRpcUrl['method']
  readonly client: PooledClient
}

/** A weight. Each private endpoint has its own client, so any number works. */
const WEIGHT = 100

/**
 * Creates the broadcast to the private endpoints of a network; undefined for a network without any. Each
 * endpoint gets all bytes, because only the block builders behind it see them. Heights are not queried, and
 * nothing is probed.
 */
export function createPrivateBroadcast(
  options: ChainOptions<EvmNetwork>,
  unknownTexts: UnknownTexts,
): PrivateBroadcast | undefined {
  const { network, clock } = options
  const endpoints = (network.privateRpcUrls ?? []).map((one) => createEndpoint(options, one))
  if (endpoints.length === 0) return undefined

  function sendAll(raws: readonly string[]): Promise<EndpointReply[][]> {
    return Promise.all(
      endpoints.map(({ client, method }) => client.broadcast(raws.map((raw) => CALLS[method](raw)))),
    )
  }

  return {
    broadcast: async (raws) => {
      const replies = await sendAll(raws.map((raw) => bytesToHex(raw)))
      reportTexts(
        unknownTexts,
        replies.flat().map(({ reply }) => reply),
      )
      return raws.map((_, index) =>
        evaluatePrivateOpinions(endpoints.flatMap((one, at) => opinionOf(one, replies[at]?.[index]))),
      )
    },
    forward: async (raws) => {
      const replies = await sendAll(raws)
      return raws.map((_, index) => bestOf(replies.flatMap((ofEndpoint) => ofEndpoint[index] ?? [])))
    },
    endpoints: () => endpoints.flatMap(({ client }) => reportEndpoints(client, { clock })),
  }
}

function createEndpoint(
  { rpcTimeoutMs, clock, log, observer, guarded }: ChainOptions<EvmNetwork>,
  { url, method, untrusted }: PrivateRpcUrl,
): PrivateEndpoint {
  const urls = [{ url, weight: WEIGHT, ...(untrusted && { untrusted }) }]
  const client = createRpcClient({
    urls,
    timeoutMs: rpcTimeoutMs,
    clock,
    log,
    observer,
    guarded,
    ...NODE_DIALECT,
  })
  return { host: new URL(url).host, method, client }
}

/** The call of each method. `eth_sendPrivateTransaction` takes an object, as Flashbots defined it. */
const CALLS: Readonly<Record<PrivateRpcUrl['method'], (raw: string) => RpcCall>> = {
  eth_sendRawTransaction: (raw) => ({ method: 'eth_sendRawTransaction', params: [raw] }),
  eth_sendPrivateTransaction: (raw) => ({ method: 'eth_sendPrivateTransaction', params: [{ tx: raw }] }),
}

function opinionOf({ host }: PrivateEndpoint, answer: EndpointReply | undefined): PrivateOpinion[] {
  if (answer === undefined) return []
  return [{ host, result: readBroadcast(answer.reply), unanswered: answer.unanswered === true }]
}

/**
 * A result wins, because one endpoint has the bytes then; an endpoint that did not answer may have them,
 * regardless of the others (I6).
 */
function bestOf(answers: readonly EndpointReply[]): RpcReply {
  const replies = answers.map(({ reply }) => reply)
  const found =
    replies.find(({ kind }) => kind === 'result') ??
    replies.find(({ kind }) => kind === 'unknown') ??
    replies[0]
  return found ?? { kind: 'unknown', detail: 'no reply' }
}

/** The answer of one private endpoint to signed bytes. */
export interface PrivateOpinion {
  readonly host: string
  readonly result: BroadcastResult
  /** The endpoint was used before and may have the bytes. */
  readonly unanswered: boolean
}

/** Answers that only demand other bytes for the same nonce. */
const CURABLE: readonly BroadcastResult['kind'][] = ['underpriced', 'too_cheap', 'too_dear']

/** Replies that end a transaction if they come from nodes, and refusals in unknown wording. */
const REFUSING: readonly BroadcastResult['kind'][] = ['refused', 'gas_limit', 'unclear']

/**
 * Combines the answers of the private endpoints. One that has the bytes, or knows that the nonce is used,
 * outweighs the others. A permanent refusal is only `unclear`: these endpoints simulate, limit and filter by
 * their own rules, and there is no other endpoint to ask. What one of them knows says nothing about another
 * transaction, so `known` is dropped. Pure.
 */
export function evaluatePrivateOpinions(opinions: readonly PrivateOpinion[]): BroadcastResult {
  if (opinions.some(({ result }) => result.kind === 'accepted')) return { kind: 'accepted' }
  const find = (kinds: readonly BroadcastResult['kind'][]) =>
    opinions.find(({ result }) => kinds.includes(result.kind))
  const isUnanswered = opinions.some(({ result, unanswered }) => unanswered || result.kind === 'unknown')
  const decisive = find(['nonce_used']) ?? find(CURABLE)
  if (decisive !== undefined) return markUnanswered(named(decisive), isUnanswered)
  const open = find(['later']) ?? find(REFUSING) ?? opinions[0]
  if (open === undefined) return { kind: 'unknown', detail: 'no private endpoint was asked' }
  const result = named(open)
  return REFUSING.includes(result.kind) && 'detail' in result
    ? markUnanswered({ kind: 'unclear', detail: result.detail }, isUnanswered)
    : result
}

function named({ host, result }: PrivateOpinion): BroadcastResult {
  return 'detail' in result ? { ...result, detail: `private endpoint ${host}: ${result.detail}` } : result
}
