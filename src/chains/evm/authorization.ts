import type { Hex } from 'viem'
import { hashAuthorization, hexToBytes } from 'viem/utils'
import type { Clock } from '../../lib/time.ts'
import { evmAddress, libsecp256k1 } from '../../signers/secp256k1.ts'
import type { Answer, Refusal } from '../answer.ts'
import { ALL_IN_TIME } from '../rpc/agreement.ts'
import type { EndpointReply, PooledClient } from '../rpc/rpc.ts'
import type { Authorization, EvmRequest } from './content.ts'
import type { AccountReader } from './read/accounts.ts'
import type { EvmAccount, FeeMarket } from './types.ts'

/**
 * Checks the authorization list of a request (EIP-7702): the relayer's policy, the receiver, the price and
 * each entry.
 */
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
        'authorization_list: the policy allow_authorization_list of the relayer is not true; set it, or omit the list.',
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

/**
 * The service counts the nonces of the relayer's account, so nothing but its own transactions may use one.
 */
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

/** Half of the order of the curve: a signature with a higher `s` counts nowhere (EIP-7702). */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/** Returns the account that signed the authorization, in EIP-55; undefined if its signature is none. */
export function authorityOf({ address, chainId, nonce, yParity, r, s }: Authorization): string | undefined {
  if (BigInt(s) > HALF_ORDER) return undefined
  const hash = hashAuthorization({ address: address as Hex, chainId, nonce: Number(nonce) })
  const signature = Buffer.concat([hexToBytes(r as Hex), hexToBytes(s as Hex)])
  try {
    return evmAddress(libsecp256k1().ecdsaRecover(signature, yParity, hexToBytes(hash), false))
  } catch {
    return undefined // The library throws for numbers that are no point of the curve.
  }
}

/** The code of a delegated account begins with this prefix (EIP-7702). */
const DELEGATION = /^0xef0100/i

/**
 * Returns the contract to which this code of an account delegates, in lower case; undefined for any other
 * code.
 */
export function delegationOf(code: string): string | undefined {
  return DELEGATION.test(code) ? `0x${code.slice(8).toLowerCase()}` : undefined
}

/**
 * Refuses authorizations that cannot apply any more: the chain would include the transaction, charge its fee,
 * and skip them. Each account's nonce must be that of its authorization, and its code none, or a delegation
 * (EIP-7702). A nonce that is still to come may fit when the transaction is included. What no endpoint
 * answers refuses nothing.
 */
export async function checkAuthorities(
  {
    client,
    accounts,
  }: { readonly client: Pick<PooledClient, 'sendEverywhere'>; readonly accounts: AccountReader },
  list: readonly Authorization[] = [],
): Promise<Extract<Answer<never>, { kind: 'refused' }> | undefined> {
  const entries = list.map((authorization) => ({
    authorization,
    authority: authorityOf(authorization) ?? '',
  }))
  const authorities = [...new Set(entries.map(({ authority }) => authority))]
  if (authorities.length === 0) return undefined
  const [nonces, codes] = await Promise.all([
    accounts.nonces(authorities),
    client.sendEverywhere(
      authorities.map((authority) => ({ method: 'eth_getCode', params: [authority, 'latest'] })),
      undefined,
      ALL_IN_TIME,
    ),
  ])
  const next = new Map(
    authorities.map((authority, index) => {
      const nonce = nonces[index]
      return [authority, nonce?.kind === 'ok' ? nonce.value : undefined]
    }),
  )
  for (const [index, { authorization, authority }] of entries.entries()) {
    const expected = next.get(authority)
    if (expected !== undefined && authorization.nonce < expected)
      return refusedEntry(
        `authorization_list[${index}].nonce: ${expected} is expected, the nonce of ${authority} on the chain; ${authorization.nonce} is used already, so it cannot apply.`,
      )
    if (expected === authorization.nonce) next.set(authority, expected + 1n)
    if (hasOwnCode(codes, authorities.indexOf(authority)))
      return refusedEntry(
        `authorization_list[${index}]: ${authority} is a contract, so its authorization cannot apply (EIP-7702).`,
      )
  }
  return undefined
}

/** Every endpoint that answers says that the account has code of its own. */
function hasOwnCode(codes: readonly (readonly EndpointReply[])[], index: number): boolean {
  const told = codes.flatMap((replies) => {
    const reply = replies[index]?.reply
    return reply?.kind === 'result' && typeof reply.result === 'string' ? [reply.result] : []
  })
  return told.length > 0 && told.every((code) => code !== '0x' && !DELEGATION.test(code))
}

function refusedEntry(detail: string): Extract<Answer<never>, { kind: 'refused' }> {
  return { kind: 'refused', refusal: invalid(detail) }
}

/**
 * An answer counts for this long, in ms. A delegation that is noticed later than it happened only costs
 * refused broadcasts.
 */
const FRESH_MS = 60_000

/**
 * Returns a reader of how many transactions of an account pools keep at the same time: one for a delegated
 * account, because its code can move its money and invalidate all waiting transactions
 * (`core/txpool/legacypool` of geth). It returns undefined for no limit, and when no node answers.
 */
export function createInFlightLimits(
  client: Pick<PooledClient, 'sendEverywhere'>,
  clock: Clock,
): (address: string) => Promise<number | undefined> {
  const known = new Map<string, { readonly limit: number | undefined; readonly until: number }>()
  return async (address) => {
    const before = known.get(address)
    if (before !== undefined && clock.monotonic() < before.until) return before.limit
    const endpoints = await client.sendEverywhere(
      [{ method: 'eth_getCode', params: [address, 'latest'] }],
      undefined,
      ALL_IN_TIME,
    )
    const codes = endpoints.flatMap(([answer]) =>
      answer?.reply.kind === 'result' && typeof answer.reply.result === 'string' ? [answer.reply.result] : [],
    )
    if (codes.length === 0) return before?.limit
    // Half of the endpoints are not enough: the limit makes the account slow.
    const delegated = codes.filter((code) => DELEGATION.test(code))
    const limit = delegated.length * 2 > codes.length ? 1 : undefined
    known.set(address, { limit, until: clock.monotonic() + FRESH_MS })
    return limit
  }
}

/** The highest nonce that a number can represent exactly; no account sends this many transactions. */
export const MAX_NONCE = BigInt(Number.MAX_SAFE_INTEGER)
