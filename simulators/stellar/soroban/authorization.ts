import { randomBytes } from 'node:crypto'
import { Address, xdr } from '@stellar/stellar-sdk'
import { Trap } from './contracts.ts'

/** A call that is under way; the same object as long as it runs. */
export interface Call {
  readonly contract: string
  readonly function: xdr.SorobanAuthorizedFunction
}

/** Decides about the agreement of an account to a call (CAP-46-11). */
export interface Authorizer {
  /**
   * Ends the call unless `address` agrees to the innermost of these calls; outermost first. `authorized` is that call as the address has to
   * name it: with other arguments where the contract asks for them (`require_auth_for_args`).
   */
  require(address: string, calls: readonly Call[], authorized?: xdr.SorobanAuthorizedFunction): void
}

/** An authorizer that agrees, and remembers to what. */
export interface Recorder extends Authorizer {
  /** Returns the entries to sign, without signatures. */
  entries(): xdr.SorobanAuthorizationEntry[]
}

interface Recorded {
  readonly authorized: xdr.SorobanAuthorizedFunction
  readonly children: Recorded[]
}

/**
 * Records what simulation mode `record` would: each address agrees to a tree that starts with the outermost call.
 * `source` needs no signature of its own.
 */
export function createRecorder(source: string, mayStartInside: boolean): Recorder {
  const roots: { readonly address: string; readonly root: Recorded }[] = []
  const byCall = new Map<string, Map<Call, Recorded>>()
  return {
    require(address, calls, authorized = innermost(calls).function) {
      const known = byCall.get(address) ?? new Map<Call, Recorded>()
      byCall.set(address, known)
      const call = innermost(calls)
      if (known.has(call))
        throw new Trap('HostError: Error(Auth, ExistingValue): frame is already authorized')
      const node: Recorded = { authorized, children: [] }
      const around = calls.slice(0, -1).findLast((outer) => known.has(outer))
      if (around) known.get(around)?.children.push(node)
      else if (calls.length > 1 && !mayStartInside) {
        throw new Trap(
          'HostError: Error(Auth, InvalidAction): [recording authorization only] encountered authorization not tied to the root contract invocation for an address',
        )
      } else roots.push({ address, root: node })
      known.set(call, node)
    },
    entries: () =>
      roots.map(
        ({ address, root }) =>
          new xdr.SorobanAuthorizationEntry({
            credentials: address === source ? sourceCredentials() : unsignedCredentials(address),
            rootInvocation: toInvocation(root),
          }),
      ),
  }
}

/** The call that is under way now. */
export function innermost(calls: readonly Call[]): Call {
  const call = calls.at(-1)
  if (!call) throw new Error('No call is under way.')
  return call
}

function toInvocation({ authorized, children }: Recorded): xdr.SorobanAuthorizedInvocation {
  return new xdr.SorobanAuthorizedInvocation({
    function: authorized,
    subInvocations: children.map(toInvocation),
  })
}

function sourceCredentials(): xdr.SorobanCredentials {
  return xdr.SorobanCredentials.sorobanCredentialsSourceAccount()
}

function unsignedCredentials(address: string): xdr.SorobanCredentials {
  return xdr.SorobanCredentials.sorobanCredentialsAddress(
    new xdr.SorobanAddressCredentials({
      address: Address.fromString(address).toScAddress(),
      nonce: randomBytes(8).readBigInt64BE(),
      signatureExpirationLedger: 0,
      signature: xdr.ScVal.scvVoid(),
    }),
  )
}
