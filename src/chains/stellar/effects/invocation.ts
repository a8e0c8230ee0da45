import type {
  HostFunction,
  InvokeContractArgs,
  InvokeHostFunctionOp,
  OperationBody,
} from '@stellar/stellar-sdk/xdr'
import { CONTRACT_CREATION } from '../../effects.ts'
import type { PartialEffects } from '../../join-effects.ts'
import { authorizesOnly, namesInCredentials } from './authorization.ts'
import { contractName } from './sc-address.ts'
import { readTokenCall } from './token-call.ts'

/** Returns the contracts that an operation calls, whoever its source is. */
export function calledContracts(body: OperationBody): string[] {
  return body.type === 'invokeHostFunction' ? [targetOf(body.invokeHostFunctionOp.hostFunction)] : []
}

/**
 * Returns the effects of a host function on its source, `address`. Contract code can move everything for which the account authorizes it,
 * so only calls of tokens that authorize nothing but themselves are read.
 */
export function invocationEffects(
  { hostFunction, auth }: InvokeHostFunctionOp,
  address: string,
): PartialEffects {
  // The upload of code runs no contract.
  if (hostFunction.type === 'hostFunctionTypeUploadContractWasm') return {}
  const call = callOf(hostFunction)
  const read =
    call !== undefined && authorizesOnly(auth, { call, address }) ? readTokenCall(call, address) : undefined
  // The call counts as unread in any case. The contract can be that of an asset which the rules know by another name, and a contract that only
  // looks like a token can ask the simulation for more than its call shows.
  return { ...read, ...unreadEffects(hostFunction) }
}

/** Returns the effects on `address` of a host function with another source: those for which a signed entry of `address` is attached. */
export function externallySignedInvocationEffects(
  { hostFunction, auth }: InvokeHostFunctionOp,
  address: string,
): PartialEffects {
  return auth.some((entry) => namesInCredentials(entry, address)) ? unreadEffects(hostFunction) : {}
}

function unreadEffects(hostFunction: HostFunction): PartialEffects {
  return { unread: [{ target: targetOf(hostFunction) }] }
}

function targetOf(hostFunction: HostFunction): string {
  const call = callOf(hostFunction)
  return call === undefined ? CONTRACT_CREATION : contractName(call)
}

function callOf(hostFunction: HostFunction): InvokeContractArgs | undefined {
  return hostFunction.type === 'hostFunctionTypeInvokeContract' ? hostFunction.invokeContract : undefined
}
