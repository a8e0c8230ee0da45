import { numberToHex, toHex } from 'viem/utils'
import { larger } from '../../../lib/bigint.ts'
import type { Answer } from '../../answer.ts'
import type { RpcCall, RpcClient, RpcReply } from '../../rpc/rpc.ts'
import type { EvmDraft, EvmRequest } from '../content.ts'
import { readCount } from '../quantity.ts'
import { NO_CODE } from './noop-target.ts'
import { decodeRevert } from './revert.ts'
import { readSimulationError } from './simulation-error.ts'

/**
 * The service adds this margin to an estimate, in percent. State may change between estimate and inclusion: 10 % covers the usual drift,
 * less makes contract calls run out of gas, more locks funds for nothing.
 */
const ESTIMATE_MARGIN_PERCENT = 110n

/** The cost of a transaction before its first instruction (EIP-2, EIP-2028 and EIP-3860). */
const BASE_GAS = 21_000n
const CREATION_GAS = 32_000n
const ZERO_BYTE_GAS = 4n
const BYTE_GAS = 16n
const INIT_CODE_WORD_GAS = 2n
/** Each account and each storage key of an access list (EIP-2930). */
const LISTED_ADDRESS_GAS = 2_400n
const LISTED_KEY_GAS = 1_900n
/** Each authorization (EIP-7702). */
const AUTHORIZATION_GAS = 25_000n
/** Calldata pays at least this per token; a zero byte is one token and any other byte four (EIP-7623). */
const FLOOR_TOKEN_GAS = 10n

/** The parts of a request that cost gas before the first instruction. */
type GasContent = Pick<EvmRequest, 'to' | 'data' | 'accessList' | 'authorizationList'>

/** Returns the gas of a transaction before its first instruction, which every node demands. */
export function intrinsicGas(request: GasContent): bigint {
  const { length, zeros, others } = countBytes(request)
  const creation =
    request.to === undefined ? CREATION_GAS + INIT_CODE_WORD_GAS * BigInt(Math.ceil(length / 32)) : 0n
  return BASE_GAS + creation + zeros * ZERO_BYTE_GAS + others * BYTE_GAS + listsGas(request)
}

function listsGas({ accessList = [], authorizationList = [] }: GasContent): bigint {
  const keys = accessList.reduce((sum, { storageKeys }) => sum + storageKeys.length, 0)
  return (
    LISTED_ADDRESS_GAS * BigInt(accessList.length) +
    LISTED_KEY_GAS * BigInt(keys) +
    AUTHORIZATION_GAS * BigInt(authorizationList.length)
  )
}

/** Returns the same gas where calldata has a floor price (EIP-7623, since Prague). */
export function flooredGas(request: GasContent): bigint {
  const { zeros, others } = countBytes(request)
  return larger(intrinsicGas(request), BASE_GAS + FLOOR_TOKEN_GAS * (zeros + 4n * others))
}

function countBytes({ data = '0x' }: Pick<EvmRequest, 'data'>) {
  const bytes = Buffer.from(data.slice(2), 'hex')
  const zeros = BigInt(bytes.reduce((count, byte) => (byte === 0 ? count + 1 : count), 0))
  return { length: bytes.length, zeros, others: BigInt(bytes.length) - zeros }
}

/** Returns the part of a margin that fits below `most`; the estimate itself when it is above. */
export function withinLimit(gas: bigint, most: bigint): bigint {
  if (gas <= most) return gas
  return larger(withoutMargin(gas), most)
}

/** The parameters of `eth_estimateGas`. */
export interface GasCall extends ListParameters {
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

/** Asks a node for the gas of the request and adds a margin. A revert becomes a refusal with the decoded reason. */
export async function estimateGas(
  client: RpcClient,
  request: EvmRequest,
  from: string,
): Promise<Answer<bigint>> {
  const call = gasCallOf(request, from)
  const estimate = readEstimate(await client.call('eth_estimateGas', [call]))
  if (estimate.kind !== 'unclear') return estimate
  const [again, control] = await client.send(comparedCalls(call))
  const isSame = readEstimate(again).kind === 'unclear'
  return isSame ? readCompared(again, control) : { kind: 'unknown', detail: estimate.detail }
}

/** Returns the call, and a call of nothing from the same account for comparison. `readCompared` reads the replies. */
export function comparedCalls(call: GasCall): RpcCall[] {
  const nothing = { from: call.from, to: NO_CODE, value: '0x0', data: '0x' }
  return [call, nothing].map((one) => ({ method: 'eth_estimateGas', params: [one] }))
}

/**
 * An error with an unknown wording belongs to the node or to the content. It belongs to the content when the same node simulates a call of
 * nothing from the same account, which succeeds wherever a node can simulate at all. Without this comparison such a request would wait for
 * ever and hold up the requests behind it.
 */
export function readCompared(reply: RpcReply | undefined, control: RpcReply | undefined): Answer<bigint> {
  const estimate = readEstimate(reply)
  if (estimate.kind !== 'unclear') return estimate
  return readEstimate(control).kind === 'ok'
    ? refused('execution_reverted', `The node cannot execute it: ${estimate.detail}.`)
    : { kind: 'unknown', detail: estimate.detail }
}

type Estimate = Answer<bigint> | { readonly kind: 'unclear'; readonly detail: string }

function readEstimate(reply: RpcReply = NO_REPLY): Estimate {
  if (reply.kind === 'unknown') return reply
  if (reply.kind === 'error') return readFailure(reply)
  const estimate = readCount(reply.result)
  return estimate === undefined
    ? { kind: 'unknown', detail: 'the endpoint did not answer with a gas estimate' }
    : { kind: 'ok', value: withMargin(estimate) }
}

const NO_REPLY: RpcReply = { kind: 'unknown', detail: 'no reply' }

function readFailure(error: Extract<RpcReply, { kind: 'error' }>): Estimate {
  const { message, data } = error
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

function withMargin(estimate: bigint): bigint {
  return (estimate * ESTIMATE_MARGIN_PERCENT) / 100n
}

/** Returns the estimate, rounded up. */
function withoutMargin(gas: bigint): bigint {
  return (gas * 100n + ESTIMATE_MARGIN_PERCENT - 1n) / ESTIMATE_MARGIN_PERCENT
}

function refused(code: 'insufficient_balance' | 'execution_reverted', detail: string): Answer<bigint> {
  return { kind: 'refused', refusal: { code, detail } }
}
