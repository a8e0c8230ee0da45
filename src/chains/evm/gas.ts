import { toHex } from 'viem'
import type { Answer } from '../answer.ts'
import type { RpcClient, RpcReply } from '../rpc/rpc.ts'
import type { EvmRequest } from './content.ts'
import { readQuantity } from './quantity.ts'
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

/** Gas that any node demands for this content: the intrinsic gas, or the calldata floor of EIP-7623 if that is more. */
export function intrinsicGas(request: Pick<EvmRequest, 'to' | 'data'>): bigint {
  const bytes = Buffer.from((request.data ?? '0x').slice(2), 'hex')
  const zeros = BigInt(bytes.reduce((count, byte) => (byte === 0 ? count + 1 : count), 0))
  const others = BigInt(bytes.length) - zeros
  const creation =
    request.to === undefined ? CREATION_GAS + INIT_CODE_WORD_GAS * BigInt(Math.ceil(bytes.length / 32)) : 0n
  const standard = BASE_GAS + creation + zeros * ZERO_BYTE_GAS + others * BYTE_GAS
  const floor = BASE_GAS + FLOOR_TOKEN_GAS * (zeros + 4n * others)
  return standard > floor ? standard : floor
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

/** Nobody deploys code there, so a call of nothing to it succeeds on any node that can simulate at all. */
const NO_CODE = '0x0000000000000000000000000000000000000000'

/**
 * An error in words that nobody knows is the node's trouble, or the content's. It is the content's when the same node says the same
 * again, and simulates a call of nothing from the same account: otherwise one such request would wait for ever, and hold up everything
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

function refused(code: 'insufficient_balance' | 'execution_reverted', detail: string): Answer<bigint> {
  return { kind: 'refused', refusal: { code, detail } }
}
