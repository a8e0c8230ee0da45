import { type Hex, numberToHex } from 'viem'
import { recoverAuthorizationAddress } from 'viem/utils'
import { RpcError } from '../errors.ts'
import type { NetworkSettings } from '../networks.ts'
import type { Authorization } from '../wire.ts'

/** Half of the order of the curve: a signature with a higher `s` counts nowhere (EIP-7702). */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/**
 * Checks that an authorization can apply to the account that is called: what does not apply is skipped
 * silently, and costs all the same. @throws RpcError
 */
export async function checkAuthorization(
  authorization: Authorization,
  {
    account,
    nonce,
    network,
  }: { readonly account: Hex; readonly nonce: bigint; readonly network: NetworkSettings },
): Promise<void> {
  const { chainId, address } = authorization
  if (chainId === 0 && !network.anyChainAuthorizations)
    throw refused('chainId: 0, for every chain, is not accepted', `sign it for the chain ${network.chainId}`)
  if (chainId !== 0 && chainId !== network.chainId)
    throw refused(`chainId: ${chainId} is signed`, `${network.chainId} is expected`)
  if (!network.delegates.has(address)) throw refused(`address: ${address}`, 'it is not a listed delegate')
  if ((await authorityOf(authorization)) !== account)
    throw refused(': it is not signed by the account that is called', `${account} is expected`)
  if (authorization.nonce !== nonce)
    throw refused(
      `nonce: ${authorization.nonce} is signed`,
      `${nonce} is expected, the nonce of ${account} on the chain`,
    )
}

/** The field of a simulated call with which authorizations apply to it; none without them. */
export function authorizationsOfCall(authorizations: readonly Authorization[]): {
  readonly authorizationList?: readonly object[]
} {
  if (authorizations.length === 0) return {}
  const authorizationList = authorizations.map(({ chainId, nonce, yParity, ...signed }) => ({
    ...signed,
    chainId: numberToHex(chainId),
    nonce: numberToHex(nonce),
    yParity: numberToHex(yParity),
  }))
  return { authorizationList }
}

async function authorityOf({
  nonce,
  address,
  chainId,
  r,
  s,
  yParity,
}: Authorization): Promise<Hex | undefined> {
  if (BigInt(s) > HALF_ORDER || nonce > BigInt(Number.MAX_SAFE_INTEGER)) return undefined
  try {
    const signed = { address, chainId, nonce: Number(nonce), r, s, yParity }
    return (await recoverAuthorizationAddress({ authorization: signed })).toLowerCase() as Hex
  } catch {
    return undefined
  }
}

function refused(what: string, expected: string): RpcError {
  const path = what.startsWith(':') ? 'authorizationList[0]' : 'authorizationList[0].'
  return new RpcError('invalidAuthorizationList', `${path}${what}; ${expected}.`)
}
