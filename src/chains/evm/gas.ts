import { toHex } from 'viem'
import type { Answer } from '../answer.ts'
import type { RpcClient } from '../rpc/rpc.ts'
import type { EvmRequest } from './content.ts'
import { isInsufficientFunds, isRevert } from './failures.ts'
import { readQuantity } from './quantity.ts'
import { decodeRevert } from './revert.ts'

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

/** Asks a node how much gas the request takes, with a margin. A revert is a refusal with the decoded reason. */
export async function estimateGas(
  client: RpcClient,
  request: EvmRequest,
  from: string,
): Promise<Answer<bigint>> {
  const call = {
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
  if (isInsufficientFunds(reply)) {
    return refused(
      'insufficient_balance',
      'The account cannot pay for this transaction: top it up, or lower value.',
    )
  }
  if (isRevert(reply)) {
    return refused(
      'execution_reverted',
      `The transaction would revert: ${decodeRevert(reply.data, reply.message)}.`,
    )
  }
  return { kind: 'unknown', detail: reply.message }
}

function withMargin(estimate: bigint): bigint {
  return (estimate * ESTIMATE_MARGIN_PERCENT) / 100n
}

function refused(code: 'insufficient_balance' | 'execution_reverted', detail: string): Answer<bigint> {
  return { kind: 'refused', refusal: { code, detail } }
}
