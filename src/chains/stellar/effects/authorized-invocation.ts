import type { SorobanAuthorizedFunction, SorobanAuthorizedInvocation } from '@stellar/stellar-sdk/xdr'
import { CONTRACT_CREATION, type Effects } from '../../effects.ts'
import { joinEffects, type PartialEffects } from '../../join-effects.ts'
import { contractName } from './sc-address.ts'
import { readTokenCall } from './token-call.ts'

/**
 * Returns the effects of an authorization: those of its first invocation and of every one below it. No transaction of the relayer surrounds
 * them, so a contract of anybody can make these calls, and each of them counts as one of the relayer. Tokens count whoever owns them, because
 * the signature can be for another account that has the same key.
 */
export function authorizedEffects(root: SorobanAuthorizedInvocation): Effects {
  return joinEffects(flatten(root).map((invocation) => effectsOf(invocation.function)))
}

function flatten(root: SorobanAuthorizedInvocation): SorobanAuthorizedInvocation[] {
  const found = [root]
  // The loop reaches what it appends.
  for (const { subInvocations } of found) found.push(...subInvocations)
  return found
}

function effectsOf(called: SorobanAuthorizedFunction): PartialEffects {
  if (called.type !== 'sorobanAuthorizedFunctionTypeContractFn')
    return {
      operations: ['create_contract'],
      contracts: [CONTRACT_CREATION],
      unread: [{ target: CONTRACT_CREATION }],
    }
  const target = contractName(called.contractFn)
  return {
    operations: ['invoke_contract'],
    contracts: [target],
    ...readTokenCall(called.contractFn),
    // As in a transaction, the call counts as unread in any case: the contract can be that of an asset with another name.
    unread: [{ target }],
  }
}
