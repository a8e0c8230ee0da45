import {
  decodeAbiParameters,
  encodeAbiParameters,
  encodeFunctionData,
  encodePacked,
  type Hex,
  hashStruct,
  parseAbi,
  parseAbiParameters,
} from 'viem'
import { refusePadded, refuseShared } from './canonical.ts'

// Delegations as MetaMask's DelegationManager takes them (ERC-7710). What it is given is public once a block
// has it, and everyone can read it there.

/** MetaMask's DelegationManager 1.3. */
export const MANAGER_ABI = parseAbi([
  'function redeemDelegations(bytes[] permissionContexts, bytes32[] modes, bytes[] executionCallDatas)',
])

const DELEGATIONS = parseAbiParameters([
  'Delegation[]',
  'struct Delegation { address delegate; address delegator; bytes32 authority; Caveat[] caveats; uint256 salt; bytes signature; }',
  'struct Caveat { address enforcer; bytes terms; bytes args; }',
])

/** The delegate of a delegation that anyone may use. */
export const ANY_DELEGATE: Hex = '0x0000000000000000000000000000000000000a11'

/** The longest chain from an account to whoever makes the call. */
export const MAX_DELEGATIONS = 5

/** The most conditions of one delegation: each is a contract that is called before and after. */
export const MAX_CAVEATS = 20

/** The mode of a single call, which reverts as a whole if the call fails (ERC-7579). */
export const SINGLE_CALL: Hex = `0x${'00'.repeat(32)}`

/** The conditions of a delegation that a contract enforces. `args` are not signed. */
export interface Caveat {
  readonly enforcer: Hex
  readonly terms: Hex
  readonly args: Hex
}

/** What an account lets another one do in its name. */
export interface Delegation {
  readonly delegate: Hex
  readonly delegator: Hex
  /** The hash of the delegation above it; that of the root is all ones. */
  readonly authority: Hex
  readonly caveats: readonly Caveat[]
  readonly salt: bigint
  readonly signature: Hex
}

/** A chain of delegations, which has at least one. */
export interface DelegationChain {
  /** From the one that names who uses it, up to that of the account in whose name the calls are made. */
  readonly delegations: readonly Delegation[]
  readonly leaf: Delegation
  readonly root: Delegation
}

/**
 * Decodes a permission context. Without any delegation, the manager would make the calls in the name of
 * whoever sends the transaction. @throws any error for none, and for another encoding than the ABI's own
 */
export function decodeContext(context: Hex): DelegationChain {
  refuseShared(DELEGATIONS, context)
  const [delegations] = decodeAbiParameters(DELEGATIONS, context)
  refusePadded(context, encodeContext(delegations))
  const [leaf, root] = [delegations[0], delegations.at(-1)]
  if (leaf === undefined || root === undefined) throw new Error('no delegation')
  return { delegations, leaf, root }
}

/** Encodes a permission context. */
export function encodeContext(delegations: readonly Delegation[]): Hex {
  return encodeAbiParameters(DELEGATIONS, [delegations])
}

/** Encodes a single call as the manager takes it (ERC-7579). */
export function encodeSingleCall({
  to,
  value,
  data,
}: {
  readonly to: Hex
  readonly value: bigint
  readonly data: Hex
}): Hex {
  return encodePacked(['address', 'uint256', 'bytes'], [to, value, data])
}

/** Encodes one use of one permission context. */
export function encodeUse(context: Hex, mode: Hex, execution: Hex): Hex {
  return encodeFunctionData({ abi: MANAGER_ABI, args: [[context], [mode], [execution]] })
}

const TYPES = {
  Delegation: [
    { name: 'delegate', type: 'address' },
    { name: 'delegator', type: 'address' },
    { name: 'authority', type: 'bytes32' },
    { name: 'caveats', type: 'Caveat[]' },
    { name: 'salt', type: 'uint256' },
  ],
  Caveat: [
    { name: 'enforcer', type: 'address' },
    { name: 'terms', type: 'bytes' },
  ],
}

/**
 * The hash of what is signed, without its domain: what a DelegationManager calls a delegation's hash. It
 * names the delegations above as well, and neither the signature nor `args`.
 */
export function hashOfDelegation({ signature: _, ...signed }: Delegation): Hex {
  return hashStruct({ primaryType: 'Delegation', types: TYPES, data: { ...signed } })
}
