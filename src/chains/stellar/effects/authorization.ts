import type {
  InvokeContractArgs,
  SorobanAuthorizationEntry,
  SorobanAuthorizedInvocation,
} from '@stellar/stellar-sdk/xdr'
import { addressName } from './sc-address.ts'

/**
 * Returns true when the entries of `address`, the source of the call, authorize this call and nothing else. A tree of invocations need not
 * begin with the call itself: a contract can call another one, for which an entry of its own is attached.
 */
export function authorizesOnly(
  entries: readonly SorobanAuthorizationEntry[],
  { call, address }: { readonly call: InvokeContractArgs; readonly address: string },
): boolean {
  return entries
    .filter((entry) => isBySource(entry) || namesInCredentials(entry, address))
    .every(({ rootInvocation }) => isJust(rootInvocation, call))
}

/** Returns true for an entry that `address` authorizes with a signature of its own. */
export function namesInCredentials({ credentials }: SorobanAuthorizationEntry, address: string): boolean {
  switch (credentials.type) {
    case 'sorobanCredentialsSourceAccount':
      return false
    case 'sorobanCredentialsAddress':
      return addressName(credentials.address.address) === address
    case 'sorobanCredentialsAddressV2':
      return addressName(credentials.addressV2.address) === address
    // A delegate can be the account that signs, so this kind always counts as its entry.
    case 'sorobanCredentialsAddressWithDelegates':
      return true
  }
}

function isBySource({ credentials }: SorobanAuthorizationEntry): boolean {
  return credentials.type === 'sorobanCredentialsSourceAccount'
}

function isJust(invocation: SorobanAuthorizedInvocation, call: InvokeContractArgs): boolean {
  const { function: root, subInvocations } = invocation
  return (
    subInvocations.length === 0 &&
    root.type === 'sorobanAuthorizedFunctionTypeContractFn' &&
    Buffer.from(root.contractFn.toXdr()).equals(call.toXdr())
  )
}
