import { isHex, numberToHex, size, toHex } from 'viem/utils'
import { larger, type Quantity } from '../../../lib/bigint.ts'
import { type Answer, NO_REPLY } from '../../answer.ts'
import {
  ALL_IN_TIME,
  atHead,
  HIGHER_OF_TWO,
  headTolerance,
  isNear,
  SECOND_HIGHEST,
} from '../../rpc/agreement.ts'
import type { UnknownTexts } from '../../rpc/refusals.ts'
import type { EndpointReply, PooledClient, RpcCall, RpcClient, RpcReply } from '../../rpc/rpc.ts'
import { dependsOnState, type SimulationOpinion, type SimulationRefusals } from '../../simulations.ts'
import { EVM_AGREEMENT } from '../agreement.ts'
import type { EvmDraft, EvmPolicies, EvmRequest } from '../content.ts'
import { readCount } from '../read/quantity.ts'
import { decodeRevert, readSimulationError, wordsOf } from './revert.ts'

/**
 * The service adds this margin to an estimate, in percent. State may change between estimate and inclusion:
 * 10 % covers the usual drift, less makes contract calls run out of gas, more locks funds for nothing.
 */
const ESTIMATE_MARGIN_PERCENT = 110n

/** The gas of a transaction before its first instruction, by the rules of one fork. */
interface IntrinsicGas {
  readonly base: bigint
  readonly creation: bigint
  readonly initCodeWord: bigint
  readonly zeroByte: bigint
  readonly byte: bigint
  readonly listedAddress: bigint
  readonly listedKey: bigint
  readonly authorization: bigint
  /** Calldata pays at least this for each byte, on top of `base`. */
  readonly floorByte: bigint
}

/**
 * Forks change these numbers, and networks adopt forks at their own times. So the service knows two bounds
 * and asks the node between them: `LEAST` is the lowest that a fork up to Amsterdam requires (EIP-2028,
 * EIP-2780, EIP-2930, EIP-3860; state is paid apart since EIP-8037). With higher numbers, requests that a
 * network accepts are refused.
 */
const LEAST: IntrinsicGas = {
  base: 12_000n,
  creation: 9_000n,
  initCodeWord: 2n,
  zeroByte: 4n,
  byte: 16n,
  listedAddress: 2_400n,
  listedKey: 1_900n,
  authorization: 0n,
  floorByte: 0n,
}

/**
 * The highest that a fork up to Amsterdam requires (EIP-2, EIP-7623, EIP-7702, EIP-7976, EIP-7981). With
 * lower numbers, a node refuses bytes that the service has signed; with higher ones, it asks the node more
 * often than needed.
 */
const MOST: IntrinsicGas = {
  base: 21_000n,
  creation: 32_000n,
  initCodeWord: 2n,
  zeroByte: 4n,
  byte: 16n,
  listedAddress: 2_400n + 20n * 64n + 500n,
  listedKey: 1_900n + 32n * 64n + 100n,
  authorization: 25_000n,
  floorByte: 64n,
}

/**
 * No fork up to Prague accepts a contract creation with more init code, in bytes (EIP-3860). Amsterdam does.
 */
const PRAGUE_MAX_INIT_CODE = 49_152

/** The parts of a request that cost gas before the first instruction. */
type GasContent = Pick<EvmRequest, 'to' | 'data' | 'accessList' | 'authorizationList'>

/** Returns the gas that a transaction needs before its first instruction under every fork. */
export function leastIntrinsicGas(request: GasContent): bigint {
  return intrinsicGas(request, LEAST)
}

function intrinsicGas(request: GasContent, rules: IntrinsicGas): bigint {
  const { to, data = '0x', accessList = [], authorizationList = [] } = request
  const bytes = Buffer.from(data.slice(2), 'hex')
  const zeros = BigInt(bytes.reduce((count, byte) => (byte === 0 ? count + 1 : count), 0))
  const length = BigInt(bytes.length)
  const keys = accessList.reduce((sum, { storageKeys }) => sum + storageKeys.length, 0)
  const lists =
    rules.listedAddress * BigInt(accessList.length) +
    rules.listedKey * BigInt(keys) +
    rules.authorization * BigInt(authorizationList.length)
  const creation = to === undefined ? rules.creation + rules.initCodeWord * ((length + 31n) / 32n) : 0n
  const calldata = zeros * rules.zeroByte + (length - zeros) * rules.byte
  return larger(rules.base + creation + calldata + lists, rules.base + rules.floorByte * length)
}

/**
 * Returns true if only the node can tell whether its fork accepts this limit for this content. `maxGas` is
 * the configured maximum gas of a transaction.
 */
export function isDoubtfulLimit(request: GasContent, gasLimit: bigint, maxGas: bigint | undefined): boolean {
  const initCode = request.to === undefined ? ((request.data?.length ?? 2) - 2) / 2 : 0
  return (
    (maxGas !== undefined && gasLimit > maxGas) ||
    gasLimit < intrinsicGas(request, MOST) ||
    initCode > PRAGUE_MAX_INIT_CODE
  )
}

/**
 * Gas that a node estimates for a call: what it needs now, without a margin. The types keep it apart from a
 * gas limit.
 */
export type GasEstimate = Quantity<'gas estimate'>

/** The gas limit of a transaction, which is in the bytes that are signed. */
export type GasLimit = Quantity<'gas limit'>

/**
 * Returns the gas limit for an estimate: with its margin, as far as that fits below `most`, and never below
 * the estimate itself, because the limit may be wrong.
 */
export function limitFor(
  { higher, lower }: AgreedEstimate,
  { least, most }: { least: bigint; most: bigint },
): GasLimit {
  const estimate = higher <= most ? higher : lower
  const wanted = larger(withMargin(estimate), least)
  return (wanted <= most ? wanted : larger(estimate, most)) as GasLimit
}

/** The parameters of `eth_estimateGas`. */
interface GasCall extends ListParameters {
  readonly from: string
  readonly to?: string
  readonly value: string
  readonly data: string
}

/** Returns the call that a node simulates for this request. */
export function gasCallOf(request: EvmRequest, from: string): GasCall {
  return {
    from,
    ...(request.to === undefined ? {} : { to: request.to }),
    value: toHex(request.value),
    data: request.data ?? '0x',
    ...listParameters(request),
  }
}

/** The lists of a transaction as JSON-RPC has them. */
interface ListParameters {
  readonly accessList?: EvmDraft['accessList']
  readonly authorizationList?: readonly Readonly<Record<string, string>>[]
}

/** Returns the lists of a request or draft as parameters of a call. */
export function listParameters({
  accessList,
  authorizationList,
}: Pick<EvmRequest, 'accessList' | 'authorizationList'>): ListParameters {
  return {
    ...(accessList && { accessList }),
    ...(authorizationList && {
      authorizationList: authorizationList.map(({ chainId, nonce, yParity, ...signed }) => ({
        ...signed,
        chainId: numberToHex(chainId),
        nonce: numberToHex(nonce),
        yParity: numberToHex(yParity),
      })),
    }),
  }
}

/** Estimates the gas of the request with one node. A revert becomes a refusal with the decoded reason. */
export async function estimateGas(
  { client, unknownTexts }: { readonly client: RpcClient; readonly unknownTexts?: UnknownTexts | undefined },
  request: EvmRequest,
  from: string,
): Promise<Answer<GasEstimate>> {
  const call = gasCallOf(request, from)
  const estimate = readEstimate(await client.call('eth_estimateGas', [call]))
  if (estimate.kind !== 'unclear') return estimate
  unknownTexts?.saw('estimate', estimate.detail)
  const [again, control] = await client.send(comparedCalls(call))
  const isSame = readEstimate(again).kind === 'unclear'
  return isSame ? readCompared(again, control) : { kind: 'unknown', detail: estimate.detail }
}

/**
 * Returns the call, and a call of nothing from the same account for comparison. `readCompared` reads the
 * replies.
 */
function comparedCalls(call: GasCall): RpcCall[] {
  const nothing = { from: call.from, to: NO_CODE, value: '0x0', data: '0x' }
  return [call, nothing].map((one) => ({ method: 'eth_estimateGas', params: [one] }))
}

/**
 * An error with an unknown wording belongs to the node or to the content. It belongs to the content if the
 * same node can simulate an empty call from the same account, which succeeds on any node that can simulate.
 * Without this comparison such a request would wait forever and block the requests behind it.
 */
function readCompared(reply: RpcReply | undefined, control: RpcReply | undefined): Answer<GasEstimate> {
  const estimate = readEstimate(reply)
  if (estimate.kind !== 'unclear') return estimate
  return readEstimate(control).kind === 'ok'
    ? refused('execution_reverted', `The node cannot execute it: ${estimate.detail}.`)
    : { kind: 'unknown', detail: estimate.detail }
}

type Estimate = Answer<GasEstimate> | { readonly kind: 'unclear'; readonly detail: string }

function readEstimate(reply: RpcReply = NO_REPLY): Estimate {
  if (reply.kind === 'unknown') return reply
  if (reply.kind === 'error') return readFailure(reply)
  const estimate = readCount(reply.result)
  return estimate === undefined
    ? { kind: 'unknown', detail: 'the endpoint did not answer with a gas estimate' }
    : { kind: 'ok', value: estimate as GasEstimate }
}

function readFailure(error: Extract<RpcReply, { kind: 'error' }>): Estimate {
  const { data } = error
  const message = wordsOf(error)
  const failure = readSimulationError(error)
  switch (failure) {
    case 'insufficient_funds':
      return refused(
        'insufficient_balance',
        'The account cannot pay for this transaction: top it up, or lower value.',
      )
    case 'reverted':
      return refused('execution_reverted', `The transaction would revert: ${decodeRevert(data, message)}.`)
    case 'out_of_gas':
      return refused(
        'execution_reverted',
        `The transaction takes more gas than the node allows a call: ${message}.`,
      )
    case 'unavailable':
      return { kind: 'unknown', detail: message }
    case 'unclear':
      return { kind: failure, detail: message }
  }
}

function withMargin(estimate: GasEstimate): bigint {
  return (estimate * ESTIMATE_MARGIN_PERCENT) / 100n
}

function refused(code: 'insufficient_balance' | 'execution_reverted', detail: string): Answer<never> {
  return { kind: 'refused', refusal: { code, detail } }
}

/** The context of an estimate. */
export interface EstimateContext {
  readonly client: Pick<PooledClient, 'send' | 'call' | 'sendEverywhere' | 'states'>
  /** Expected time between blocks, in ms. */
  readonly blocktimeMs: number
  readonly simulations: SimulationRefusals
  readonly unknownTexts?: UnknownTexts | undefined
}

/**
 * Estimates the gas of a request with every endpoint: one that answers too little makes the transaction run
 * out of gas, and one that answers too much keeps the account's money reserved. A refusal needs the opinions
 * of all.
 */
export async function estimateEverywhere(
  context: EstimateContext,
  request: EvmRequest,
  from: string,
): Promise<Answer<AgreedEstimate>> {
  const { client, blocktimeMs, unknownTexts } = context
  const endpoints = client.states().length
  const call = gasCallOf(request, from)
  if (endpoints < 2) {
    const answer = await estimateGas(context, request, from)
    const isDoubtful = answer.kind === 'refused' && dependsOnState(answer.refusal)
    return isDoubtful ? settleEverywhere(context, call) : alone(answer)
  }
  const toldIn = (answered: readonly (readonly EndpointReply[])[]) =>
    answered.map(([answer]): ToldEstimate => ({ head: answer?.head, estimate: readEstimate(answer?.reply) }))
  const countedOf = (told: readonly ToldEstimate[]) =>
    atHead(
      told.filter(({ estimate }) => estimate.kind !== 'unknown'),
      headTolerance(blocktimeMs),
    )
  const told = toldIn(
    await client.sendEverywhere([{ method: 'eth_estimateGas', params: [call] }], undefined, (some) => {
      const [one, other] = countedOf(toldIn(some)).map(({ estimate }) => estimate)
      return endpoints > 2 && one?.kind === 'ok' && other?.kind === 'ok' && isNear(one.value, other.value)
    }),
  )
  for (const { estimate } of told)
    if (estimate.kind === 'unclear') unknownTexts?.saw('estimate', estimate.detail)
  const counted = countedOf(told)
  const isClear = counted.length > 0 && counted.every(({ estimate }) => estimate.kind === 'ok')
  if (isClear) return agreedEstimate(counted.map(({ estimate }) => estimate))
  return counted.length === 0
    ? alone(await estimateGas(context, request, from))
    : settleEverywhere(context, call)
}

interface ToldEstimate {
  readonly head: bigint | undefined
  readonly estimate: Estimate
}

/**
 * The estimate on which the endpoints agree. Of two that contradict each other the higher one counts, if a
 * block has room for it.
 */
export interface AgreedEstimate {
  readonly higher: GasEstimate
  readonly lower: GasEstimate
}

function agreedEstimate(estimates: readonly Estimate[]): Answer<AgreedEstimate> {
  const values = estimates.map((one) => (one.kind === 'ok' ? one.value : undefined))
  const [higher, lower] = [EVM_AGREEMENT['gas of a call'].agreed.of(values), SECOND_HIGHEST.of(values)]
  return higher === undefined || lower === undefined
    ? { kind: 'unknown', detail: 'no endpoint answered with a gas estimate' }
    : { kind: 'ok', value: { higher: higher as GasEstimate, lower: lower as GasEstimate } }
}

function alone(answer: Answer<GasEstimate>): Answer<AgreedEstimate> {
  return answer.kind === 'ok' ? agreedEstimate([answer]) : answer
}

/**
 * Asks every endpoint for the estimate, and for the comparison that tells a fault of the content from one of
 * the node.
 */
async function settleEverywhere(
  { client, simulations }: EstimateContext,
  call: GasCall,
): Promise<Answer<AgreedEstimate>> {
  const endpoints = await client.sendEverywhere(comparedCalls(call))
  const told = endpoints.map(([estimate, control]) => ({
    answer: readCompared(estimate?.reply, control?.reply),
    head: estimate?.head,
    behind: estimate?.behind ?? true,
  }))
  const newest = HIGHER_OF_TWO.of(told.map(({ head }) => head)) ?? 0n
  const opinions = told.map(
    (one): SimulationOpinion<GasEstimate> => ({ ...one, behind: one.behind || (one.head ?? -1n) < newest }),
  )
  const settled = simulations.settle(call, opinions)
  if (settled.kind !== 'ok') return settled
  return agreedEstimate(opinions.filter(({ behind }) => !behind).map(({ answer }) => answer))
}

/** An address without a key, so no code can be deployed or delegated there. */
export const NO_CODE = '0x0000000000000000000000000000000000000000'

/**
 * Chooses the receiver of a no-op: the account itself, unless the account has code (EIP-7702). A call of that
 * code, even with no data, would cost gas and could revert, so the no-op then goes to an address without
 * code. So does each no-op of a private relayer: Flashbots Protect takes a transfer to oneself as the command
 * to cancel and includes it nowhere (flashbots/rpc-endpoint `request_sendrawtx.go`).
 */
export async function chooseNoopTarget(
  client: Pick<PooledClient, 'sendEverywhere'>,
  request: EvmRequest,
  { privateTransactions }: Pick<EvmPolicies, 'privateTransactions'>,
): Promise<EvmRequest> {
  if (request.isNoop !== true) return request
  if (privateTransactions === true) return { ...request, to: NO_CODE }
  const endpoints = await client.sendEverywhere(
    [{ method: 'eth_getCode', params: [request.to, 'latest'] }],
    undefined,
    ALL_IN_TIME,
  )
  const codes = endpoints.flatMap(([answer]) =>
    answer?.reply.kind === 'result' && isHex(answer.reply.result) ? [answer.reply.result] : [],
  )
  const isPlain = codes.length > 0 && codes.every((code) => size(code) === 0)
  return isPlain ? request : { ...request, to: NO_CODE }
}
