import { toHex } from 'viem'
import { larger } from '../../../lib/bigint.ts'
import type { Answer } from '../../answer.ts'
import type { RpcClient, RpcReply } from '../../rpc/rpc.ts'
import type { EvmRequest } from '../content.ts'
import { readQuantity } from '../quantity.ts'
import { NO_CODE } from './noop-target.ts'
import { decodeRevert } from './revert.ts'
import { readSimulationError } from './simulation-error.ts'

/**
 * Added to an estimate, in percent. State may change between estimating and inclusion; 10 % covers the usual drift,
 * less makes contract calls run out of gas, more locks funds for nothing.
 */
const ESTIMATE_MARGIN_PERCENT = 110n

/** EIP-2, EIP-2028 and EIP-3860: what a transaction costs before its first instruction. */
const BASE_GAS = 21_000n
const CREATION_GAS = 32_000n
const ZERO_BYTE_GAS = 4n
const BYTE_GAS = 16n
const INIT_CODE_WORD_GAS = 2n
/** EIP-7623: calldata pays at least this per token, a zero byte being one token and any other four. */
const FLOOR_TOKEN_GAS = 10n

/** The gas of a transaction before its first instruction: what every node demands for this content. */
export function intrinsicGas(request: Pick<EvmRequest, 'to' | 'data'>): bigint {
  const { length, zeros, others } = countBytes(request)
  const creation =
    request.to === undefined ? CREATION_GAS + INIT_CODE_WORD_GAS * BigInt(Math.ceil(length / 32)) : 0n
  return BASE_GAS + creation + zeros * ZERO_BYTE_GAS + others * BYTE_GAS
}

/** The same where calldata has a floor price (EIP-7623), as from Prague on. */
export function flooredGas(request: Pick<EvmRequest, 'to' | 'data'>): bigint {
  const { zeros, others } = countBytes(request)
  return larger(intrinsicGas(request), BASE_GAS + FLOOR_TOKEN_GAS * (zeros + 4n * others))
}

function countBytes({ data = '0x' }: Pick<EvmRequest, 'data'>) {
  const bytes = Buffer.from(data.slice(2), 'hex')
  const zeros = BigInt(bytes.reduce((count, byte) => (byte === 0 ? count + 1 : count), 0))
  return { length: bytes.length, zeros, others: BigInt(bytes.length) - zeros }
}

/** What is left of an estimate with its margin below `most`; the estimate itself, where even that is above. */
export function withinLimit(gas: bigint, most: bigint): bigint {
  if (gas <= most) return gas
  return larger(withoutMargin(gas), most)
}

interface GasCall {
  readonly from: string
  readonly to?: string
  readonly value: string
  readonly data: string
}

/** Asks a node how much gas the request takes, with a margin. A revert is a refusal with the decoded reason. */
export async function estimateGas(
  client: RpcClient,
  request: EvmRequest,
  from: string,
): Promise<Answer<bigint>> {
  const call: GasCall = {
    from,
    ...(request.to === undefined ? {} : { to: request.to }),
    value: toHex(request.value),
    data: request.data ?? '0x',
  }
  const reply = await client.call('eth_estimateGas', [call])
  if (reply.kind === 'result') {
    const estimate = readQuantity(reply.result)
    if (estimate === undefined)
      return { kind: 'unknown', detail: 'the endpoint did not answer with a gas estimate' }
    return { kind: 'ok', value: withMargin(estimate) }
  }
  if (reply.kind === 'unknown') return reply
  return refuseSimulated(client, call, reply)
}

type SimulationFailure = Extract<RpcReply, { kind: 'error' }>

async function refuseSimulated(
  client: RpcClient,
  call: GasCall,
  error: SimulationFailure,
): Promise<Answer<bigint>> {
  switch (readSimulationError(error)) {
    case 'insufficient_funds':
      return refused(
        'insufficient_balance',
        'The account cannot pay for this transaction: top it up, or lower value.',
      )
    case 'reverted':
      return refused(
        'execution_reverted',
        `The transaction would revert: ${decodeRevert(error.data, error.message)}.`,
      )
    case 'out_of_gas':
      return refused(
        'execution_reverted',
        `The transaction takes more gas than the node allows a call: ${error.message}.`,
      )
    case 'trouble':
      return { kind: 'unknown', detail: error.message }
    case 'unclear':
      return compareWithTransfer(client, call, error)
  }
}

/**
 * An error in words that nobody knows is the node's trouble, or the content's. It is the content's when the same node says the same
 * again, and simulates a call of nothing from the same account, which succeeds wherever anything can be simulated: otherwise one such request would wait for ever, and hold up everything
 * behind it.
 */
async function compareWithTransfer(
  client: RpcClient,
  call: GasCall,
  { message }: SimulationFailure,
): Promise<Answer<bigint>> {
  const nothing = { from: call.from, to: NO_CODE, value: '0x0', data: '0x' }
  const [again, control] = await client.send([
    { method: 'eth_estimateGas', params: [call] },
    { method: 'eth_estimateGas', params: [nothing] },
  ])
  const same = again?.kind === 'error' && readSimulationError(again) === 'unclear'
  if (!same || control?.kind !== 'result' || readQuantity(control.result) === undefined)
    return { kind: 'unknown', detail: message }
  return refused('execution_reverted', `The node cannot execute it: ${message}.`)
}

function withMargin(estimate: bigint): bigint {
  return (estimate * ESTIMATE_MARGIN_PERCENT) / 100n
}

/** The estimate, rounded up. */
function withoutMargin(gas: bigint): bigint {
  return (gas * 100n + ESTIMATE_MARGIN_PERCENT - 1n) / ESTIMATE_MARGIN_PERCENT
}

function refused(code: 'insufficient_balance' | 'execution_reverted', detail: string): Answer<bigint> {
  return { kind: 'refused', refusal: { code, detail } }
}
