import type { Answer } from '../answer.ts'
import type { ReviewedAuthorization } from '../capabilities.ts'
import type { PooledClient } from '../rpc/rpc.ts'
import { authorizedEffects } from './effects/authorized-invocation.ts'
import { addressName } from './effects/sc-address.ts'
import { type AuthorizationPreimage, readAuthorizationPreimage } from './model/authorization-preimage.ts'
import { networkIdOf } from './model/envelope.ts'
import { readHead } from './read/head.ts'
import { signDetached, stellarSigner } from './signature.ts'

const AT = 'preimage_xdr'

/**
 * The number of ledgers after the newest one in which an authorization may still be used: about 10 minutes. Nobody can take it back before,
 * so a pause of the relayer would come too late. @stellar/stellar-sdk takes 100, counted from a node that may be ahead of ours by a few; with a
 * lower number its default would be refused.
 */
const MAX_LEDGERS_AHEAD = 120n

/** The network for which the relayer signs. */
interface AuthorizationContext {
  readonly client: PooledClient
  readonly passphrase: string
}

/**
 * Reviews the preimage of an authorization entry, XDR in base64: it authorizes calls and is nothing else, it is for this network, for the
 * relayer `self` where it names an account, and soon at its end.
 */
export async function reviewAuthorization(
  { client, passphrase }: AuthorizationContext,
  xdr: string,
  self: string,
): Promise<Answer<ReviewedAuthorization>> {
  const preimage = readAuthorizationPreimage(xdr)
  if (preimage === undefined)
    return invalid('a HashIdPreimage of a Soroban authorization is expected, XDR in base64.')
  const problem = checkOwner(preimage, passphrase, self)
  if (problem !== undefined) return invalid(problem)
  const head = await readHead(client)
  if (head.kind !== 'ok') return head
  const refused = checkExpiration(preimage, head.value.number)
  if (refused !== undefined) return invalid(refused)
  const { hash, invocation } = preimage
  return {
    kind: 'ok',
    value: {
      effects: authorizedEffects(invocation),
      sha256: hash.toString('hex'),
      sign: (signer) => signDetached(hash, stellarSigner(signer)),
    },
  }
}

function checkOwner(
  { networkId, address }: AuthorizationPreimage,
  passphrase: string,
  self: string,
): string | undefined {
  if (!networkIdOf(passphrase).equals(networkId))
    return `its network id is expected to be that of "${passphrase}", the network of the relayer; it is for another network.`
  if (address !== undefined && addressName(address) !== self)
    return `its address is expected to be that of the relayer, ${self}; it is ${addressName(address) ?? address.type}.`
  return undefined
}

function checkExpiration({ expirationLedger }: AuthorizationPreimage, newest: bigint): string | undefined {
  const [first, last] = [newest + 1n, newest + MAX_LEDGERS_AHEAD]
  if (expirationLedger >= first && expirationLedger <= last) return undefined
  return `signatureExpirationLedger: a ledger from ${first} to ${last} is expected, and it is ${expirationLedger}; the newest ledger is ${newest}.`
}

function invalid(detail: string): Answer<never> {
  return { kind: 'refused', refusal: { code: 'invalid_request', detail: `${AT}: ${detail}` } }
}
