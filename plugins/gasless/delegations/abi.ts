import {
  decodeAbiParameters,
  decodeFunctionData,
  encodeAbiParameters,
  encodeFunctionData,
  encodePacked,
  type Hex,
  hashStruct,
  hexToBigInt,
  parseAbi,
  parseAbiParameters,
  slice,
} from 'viem'
import { type BatchCall, checkCalls, refusePadded } from '../accounts/account.ts'
import { invalid, RpcError } from '../errors.ts'

/** MetaMask's DelegationManager 1.3 (ERC-7710). */
const MANAGER = parseAbi([
  'function redeemDelegations(bytes[] permissionContexts, bytes32[] modes, bytes[] executionCallDatas)',
])

const DELEGATIONS = parseAbiParameters([
  'Delegation[]',
  'struct Delegation { address delegate; address delegator; bytes32 authority; Caveat[] caveats; uint256 salt; bytes signature; }',
  'struct Caveat { address enforcer; bytes terms; bytes args; }',
])

const EXECUTIONS = parseAbiParameters('(address target, uint256 value, bytes callData)[]')

/** The conditions of a delegation that a contract enforces. `args` are not signed. */
interface Caveat {
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

/** One use of a chain of delegations. Addresses are in lower case. */
export interface Redemption {
  /** The account in whose name the calls are made. */
  readonly account: Hex
  /** From the one that names who redeems it, up to that of the account. */
  readonly delegations: readonly Delegation[]
  /** What the last delegate was given: everyone who has it can use it again. */
  readonly hash: Hex
  readonly calls: readonly BatchCall[]
}

/** A single call, and several; both revert as a whole if one fails (ERC-7579). */
const SINGLE: Hex = `0x${'00'.repeat(32)}`
const BATCH: Hex = `0x01${'00'.repeat(31)}`

const EXPECTED =
  'data: expected redeemDelegations with one permission context, in the mode of a single call or of a batch that fails as a whole, encoded by its ABI.'

/** Decodes a call of a DelegationManager. @throws RpcError */
export function decodeRedemption(data: Hex): Redemption {
  try {
    const { functionName, args } = decodeFunctionData({ abi: MANAGER, data })
    refusePadded(data, encodeFunctionData({ abi: MANAGER, functionName, args }))
    const [[context, ...contexts], [mode, ...modes], [execution, ...executions]] = args
    if (context === undefined || mode === undefined || execution === undefined) throw new Error('empty')
    if (contexts.length + modes.length + executions.length > 0) throw new Error('several')
    const [delegations] = decodeAbiParameters(DELEGATIONS, context)
    refusePadded(context, encodeAbiParameters(DELEGATIONS, [delegations]))
    const [leaf, root] = [delegations[0], delegations.at(-1)]
    if (leaf === undefined || root === undefined) throw new Error('no delegation')
    const calls = callsOf(mode, execution)
    checkCalls(calls)
    return { account: lower(root.delegator), delegations, hash: hashOf(leaf), calls }
  } catch (error) {
    throw error instanceof RpcError ? error : invalid(EXPECTED)
  }
}

function callsOf(mode: Hex, execution: Hex): readonly BatchCall[] {
  if (mode === SINGLE) {
    const [to, value] = [
      slice(execution, 0, 20, { strict: true }),
      slice(execution, 20, 52, { strict: true }),
    ]
    const data = execution.length > 2 + 52 * 2 ? slice(execution, 52) : '0x'
    return [{ to, value: hexToBigInt(value), data }]
  }
  if (mode !== BATCH) throw new Error('another mode')
  const [calls] = decodeAbiParameters(EXECUTIONS, execution)
  refusePadded(execution, encodeAbiParameters(EXECUTIONS, [calls]))
  return calls.map(({ target, value, callData }) => ({ to: target, value, data: callData }))
}

/** Encodes the use of a chain of delegations for some calls. */
export function encodeRedemption(delegations: readonly Delegation[], calls: readonly BatchCall[]): Hex {
  const [only] = calls
  const isSingle = calls.length === 1 && only !== undefined
  const execution = isSingle
    ? encodePacked(['address', 'uint256', 'bytes'], [only.to, only.value, only.data])
    : encodeAbiParameters(EXECUTIONS, [
        calls.map(({ to, value, data }) => ({ target: to, value, callData: data })),
      ])
  const context = encodeAbiParameters(DELEGATIONS, [delegations])
  return encodeFunctionData({ abi: MANAGER, args: [[context], [isSingle ? SINGLE : BATCH], [execution]] })
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

/** The hash of what is signed, without its domain: what a DelegationManager calls a delegation's hash. */
function hashOf({ signature: _, ...signed }: Delegation): Hex {
  return hashStruct({ primaryType: 'Delegation', types: TYPES, data: { ...signed } })
}

function lower(address: Hex): Hex {
  return address.toLowerCase() as Hex
}
