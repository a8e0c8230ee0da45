import type { InvokeContractArgs, ScVal } from '@stellar/stellar-sdk/xdr'
import type { PartialEffects } from '../../join-effects.ts'
import { wideInteger } from '../model/sc-value.ts'
import { addressName } from './sc-address.ts'

/**
 * The functions of a token that move what their first argument owns (SEP-41), with the types of their arguments: the owner, except for
 * `burn` the receiver or spender, the amount, and for `approve` the ledger at which it ends.
 */
const LAYOUTS: ReadonlyMap<string, readonly ScVal['type'][]> = new Map([
  ['transfer', ['scvAddress', 'scvAddress', 'scvI128']],
  ['approve', ['scvAddress', 'scvAddress', 'scvI128', 'scvU32']],
  ['burn', ['scvAddress', 'scvI128']],
])

/**
 * Reads a call that moves tokens of `owner`, or of anybody when that is not given; undefined for other functions, other arguments and the
 * tokens of others.
 */
export function readTokenCall(call: InvokeContractArgs, owner?: string): PartialEffects | undefined {
  const layout = LAYOUTS.get(call.functionName.toString())
  const asset = addressName(call.contractAddress)
  if (asset === undefined || layout === undefined || !hasLayout(call.args, layout)) return undefined
  const names = call.args.flatMap((arg) => (arg.type === 'scvAddress' ? [addressName(arg.address)] : []))
  const value = call.args.flatMap((arg) => (arg.type === 'scvI128' ? [wideInteger(arg.i128)] : []))[0] ?? -1n
  const [from, ...receivers] = names
  if (from !== (owner ?? from) || value < 0n || !receivers.every((name) => name !== undefined))
    return undefined
  const amounts = [{ asset, value }]
  return { receivers, amounts, ...(call.functionName.toString() === 'approve' && { allowances: amounts }) }
}

function hasLayout(args: readonly ScVal[], layout: readonly ScVal['type'][]): boolean {
  return args.length === layout.length && args.every(({ type }, index) => type === layout[index])
}
