import {
  decodeAbiParameters,
  decodeFunctionData,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  hexToBigInt,
  parseAbiParameters,
  slice,
} from 'viem'
import { refusePadded, refuseShared, refuseSharedIn } from '../../shared/canonical.ts'
import {
  type Delegation,
  decodeContext,
  encodeContext,
  encodeSingleCall,
  encodeUse,
  hashOfDelegation,
  MANAGER_ABI,
  SINGLE_CALL,
} from '../../shared/delegations.ts'
import { type BatchCall, checkCalls } from '../accounts/account.ts'
import { invalid, RpcError } from '../errors.ts'

const EXECUTIONS = parseAbiParameters('(address target, uint256 value, bytes callData)[]')

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

/** Several calls, which revert as a whole if one fails (ERC-7579). */
const BATCH: Hex = `0x01${'00'.repeat(31)}`

const EXPECTED =
  'data: expected redeemDelegations with one permission context, in the mode of a single call or of a batch that fails as a whole, encoded by its ABI.'

/** Decodes a call of a DelegationManager. @throws RpcError */
export function decodeRedemption(data: Hex): Redemption {
  try {
    refuseSharedIn(MANAGER_ABI, data)
    const { functionName, args } = decodeFunctionData({ abi: MANAGER_ABI, data })
    refusePadded(data, encodeFunctionData({ abi: MANAGER_ABI, functionName, args }))
    const [[context, ...contexts], [mode, ...modes], [execution, ...executions]] = args
    if (context === undefined || mode === undefined || execution === undefined) throw new Error('empty')
    if (contexts.length + modes.length + executions.length > 0) throw new Error('several')
    const { delegations, leaf, root } = decodeContext(context)
    const calls = callsOf(mode, execution)
    checkCalls(calls)
    return { account: lower(root.delegator), delegations, hash: hashOfDelegation(leaf), calls }
  } catch (error) {
    throw error instanceof RpcError ? error : invalid(EXPECTED)
  }
}

function callsOf(mode: Hex, execution: Hex): readonly BatchCall[] {
  if (mode === SINGLE_CALL) {
    const [to, value] = [
      slice(execution, 0, 20, { strict: true }),
      slice(execution, 20, 52, { strict: true }),
    ]
    const data = execution.length > 2 + 52 * 2 ? slice(execution, 52) : '0x'
    return [{ to, value: hexToBigInt(value), data }]
  }
  if (mode !== BATCH) throw new Error('another mode')
  refuseShared(EXECUTIONS, execution)
  const [calls] = decodeAbiParameters(EXECUTIONS, execution)
  refusePadded(execution, encodeAbiParameters(EXECUTIONS, [calls]))
  return calls.map(({ target, value, callData }) => ({ to: target, value, data: callData }))
}

/** Encodes the use of a chain of delegations for some calls. */
export function encodeRedemption(delegations: readonly Delegation[], calls: readonly BatchCall[]): Hex {
  const [only] = calls
  const context = encodeContext(delegations)
  if (calls.length === 1 && only !== undefined) return encodeUse(context, SINGLE_CALL, encodeSingleCall(only))
  const executions = calls.map(({ to, value, data }) => ({ target: to, value, callData: data }))
  return encodeUse(context, BATCH, encodeAbiParameters(EXECUTIONS, [executions]))
}

function lower(address: Hex): Hex {
  return address.toLowerCase() as Hex
}
