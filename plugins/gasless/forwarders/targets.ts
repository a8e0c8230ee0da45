import type { Hex } from 'viem'
import { RpcError } from '../errors.ts'
import type { Forwarder } from '../networks.ts'
import type { ForwardRequest } from './abi.ts'

/**
 * Functions that make several calls by delegatecall or `call`. Through a forwarder, the caller of an inner
 * call is what its data ends with, so with them anybody could pretend to be anyone else (December 2023). They
 * are called only if the operator lists them for a contract.
 */
const MULTICALLS: ReadonlySet<string> = new Set([
  '0xac9650d8', // multicall(bytes[])
  '0x5ae401dc', // multicall(uint256,bytes[])
  '0x1f0464d1', // multicall(bytes32,bytes[])
  '0x29451959', // multicall(bytes)
  '0x348a0cdc', // multiCall(bytes[])
  '0x437b9116', // tryMulticall(bytes[])
  '0x1e897afb', // batch(bytes[])
  '0xd2423b51', // batch(bytes[],bool)
  '0x252dba42', // aggregate((address,bytes)[])
  '0x82ad56cb', // aggregate3((address,bool,bytes)[])
  '0xbce38bd7', // tryAggregate(bool,(address,bytes)[])
])

/** Refuses calls that the operator does not allow through a forwarder. @throws RpcError */
export function checkTarget({ targets }: Forwarder, { to, data }: ForwardRequest, path: string): void {
  const selector: Hex | undefined = data.length >= 10 ? (data.slice(0, 10) as Hex) : undefined
  if (targets !== undefined && !targets.has(to))
    throw new RpcError(
      'rejected',
      `${path}.to: ${to} is not a contract that is called through this forwarder.`,
    )
  const functions = targets?.get(to)
  if (functions !== undefined) {
    if (selector !== undefined && functions.has(selector)) return
    throw new RpcError(
      'rejected',
      `${path}.data: the function ${selector ?? 'without a name'} of ${to} is not called through this forwarder.`,
    )
  }
  if (selector !== undefined && MULTICALLS.has(selector))
    throw new RpcError(
      'rejected',
      `${path}.data: ${selector} makes several calls, in which anyone could pretend to be another account; send them one by one.`,
    )
}
