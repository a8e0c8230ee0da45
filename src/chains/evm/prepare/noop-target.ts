import { isHex, size } from 'viem/utils'
import type { Answer } from '../../answer.ts'
import type { RpcClient } from '../../rpc/rpc.ts'
import type { EvmPolicies, EvmRequest } from '../content.ts'

/** An address without a key, so nobody can deploy or delegate code there. */
export const NO_CODE = '0x0000000000000000000000000000000000000000'

/**
 * Chooses the receiver of a no-op: the account itself, unless the account has code (EIP-7702). A call of that code, even with no data,
 * would cost gas and could revert, so the no-op then goes to an address without code. So does each no-op of a private relayer: Flashbots
 * Protect takes a transfer to oneself as the command to cancel and includes it nowhere (flashbots/rpc-endpoint `request_sendrawtx.go`).
 */
export async function chooseNoopTarget(
  client: RpcClient,
  request: EvmRequest,
  { privateTransactions }: Pick<EvmPolicies, 'privateTransactions'>,
): Promise<Answer<EvmRequest>> {
  if (request.isNoop !== true) return { kind: 'ok', value: request }
  if (privateTransactions === true) return { kind: 'ok', value: { ...request, to: NO_CODE } }
  const reply = await client.call('eth_getCode', [request.to, 'latest'])
  if (reply.kind !== 'result' || !isHex(reply.result))
    return { kind: 'unknown', detail: 'no endpoint tells whether the account has code' }
  return { kind: 'ok', value: size(reply.result) === 0 ? request : { ...request, to: NO_CODE } }
}
