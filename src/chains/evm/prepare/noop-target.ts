import { isHex, size } from 'viem'
import type { Answer } from '../../answer.ts'
import type { RpcClient } from '../../rpc/rpc.ts'
import type { EvmRequest } from '../content.ts'

/** Nobody has a key for it, so nobody can deploy or delegate code there. */
export const NO_CODE = '0x0000000000000000000000000000000000000000'

/**
 * A no-op goes to the account itself, unless the account has code (EIP-7702): a call of it, even of nothing, would run what it was
 * delegated to, take gas for that, and could be reverted. Then it goes where no code is.
 */
export async function chooseNoopTarget(client: RpcClient, request: EvmRequest): Promise<Answer<EvmRequest>> {
  if (request.isNoop !== true) return { kind: 'ok', value: request }
  const reply = await client.call('eth_getCode', [request.to, 'latest'])
  if (reply.kind !== 'result' || !isHex(reply.result))
    return { kind: 'unknown', detail: 'no endpoint tells whether the account has code' }
  return { kind: 'ok', value: size(reply.result) === 0 ? request : { ...request, to: NO_CODE } }
}
