import type { Refusal } from '../../answer.ts'
import { authorityOf } from '../authorization.ts'
import type { Authorization, EvmRequest } from '../content.ts'
import { MAX_NONCE } from '../max-nonce.ts'
import type { EvmAccount, FeeMarket } from '../types.ts'

/** Checks the authorization list of a request (EIP-7702): the relayer's policy, the receiver, the price and each entry. */
export function checkAuthorizationList(
  request: EvmRequest,
  account: EvmAccount,
  network: FeeMarket,
): Refusal | undefined {
  const { authorizationList, to } = request
  if (authorizationList === undefined) return undefined
  if (account.policies.allowAuthorizationList !== true)
    return {
      code: 'policy_violation',
      detail:
        'authorization_list: the policy allow_authorization_list of the relayer is not true; set it, or leave the list out.',
    }
  if (to === undefined)
    return invalid('to: an address is expected; a transaction with authorization_list creates no contract.')
  return checkPrice(request, account, network) ?? checkEntries(authorizationList, account, network)
}

function checkPrice(
  { gasPrice }: EvmRequest,
  { policies }: EvmAccount,
  { eip1559 }: FeeMarket,
): Refusal | undefined {
  if (gasPrice !== undefined)
    return invalid(
      'gas_price: max_fee_per_gas with max_priority_fee_per_gas, or speed, is expected with authorization_list (EIP-7702).',
    )
  if (eip1559 && policies.eip1559Pricing !== false) return undefined
  return {
    code: 'not_supported',
    detail:
      'authorization_list: it needs EIP-1559 prices (EIP-7702), which the network or the policy eip1559_pricing of the relayer excludes.',
  }
}

function checkEntries(
  list: readonly Authorization[],
  { address }: EvmAccount,
  { chainId }: FeeMarket,
): Refusal | undefined {
  for (const [index, authorization] of list.entries()) {
    const problem = entryProblem(authorization, { address, chainId })
    if (problem !== undefined) return invalid(`authorization_list[${index}]${problem}`)
  }
  return undefined
}

/** The service counts the nonces of the relayer's account, so nothing but its own transactions may use one. */
function entryProblem(
  authorization: Authorization,
  { address, chainId }: { readonly address: string; readonly chainId: number },
): string | undefined {
  if (authorization.chainId !== 0 && authorization.chainId !== chainId)
    return `.chain_id: ${chainId}, or 0 for every network, is expected, not ${authorization.chainId}.`
  if (authorization.nonce > MAX_NONCE) return `.nonce: at most ${MAX_NONCE} is expected.`
  const authority = authorityOf(authorization)
  if (authority === undefined)
    return ': y_parity, r and s of a signature with a low s are expected (EIP-7702).'
  if (authority.toLowerCase() === address.toLowerCase())
    return ": an authorization of another account is expected; one of the relayer's own account would use a nonce that the service assigns."
  return undefined
}

function invalid(detail: string): Refusal {
  return { code: 'invalid_request', detail }
}
