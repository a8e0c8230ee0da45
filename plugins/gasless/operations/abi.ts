import { decodeFunctionData, encodeFunctionData, type Hex, hexToBigInt, parseAbi, size, slice } from 'viem'
import { refusePadded, refuseSharedIn } from '../../shared/canonical.ts'
import { invalid, RpcError } from '../errors.ts'

/** What all EntryPoints have in common (ERC-4337). */
export const ENTRY_POINT = parseAbi([
  'function getNonce(address sender, uint192 key) view returns (uint256)',
  'function balanceOf(address account) view returns (uint256)',
  'error FailedOp(uint256 opIndex, string reason)',
  'error FailedOpWithRevert(uint256 opIndex, string reason, bytes inner)',
])

/** EntryPoint 0.7 and later: two limits or prices are in one word. */
export const PACKED = parseAbi([
  'struct PackedUserOperation { address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 accountGasLimits; uint256 preVerificationGas; bytes32 gasFees; bytes paymasterAndData; bytes signature; }',
  'function handleOps(PackedUserOperation[] ops, address beneficiary)',
  'function getUserOpHash(PackedUserOperation userOp) view returns (bytes32)',
])

/** EntryPoint 0.6. */
const UNPACKED = parseAbi([
  'struct UserOperation { address sender; uint256 nonce; bytes initCode; bytes callData; uint256 callGasLimit; uint256 verificationGasLimit; uint256 preVerificationGas; uint256 maxFeePerGas; uint256 maxPriorityFeePerGas; bytes paymasterAndData; bytes signature; }',
  'function handleOps(UserOperation[] ops, address beneficiary)',
])

/** What the versions have in the same fields. */
interface CommonOperation {
  readonly sender: Hex
  readonly nonce: bigint
  readonly initCode: Hex
  readonly callData: Hex
  readonly preVerificationGas: bigint
  readonly paymasterAndData: Hex
  readonly signature: Hex
}

/** A user operation as EntryPoint 0.7 and later take it. */
export interface PackedOperation extends CommonOperation {
  readonly accountGasLimits: Hex
  readonly gasFees: Hex
}

/** A user operation as EntryPoint 0.6 takes it. */
interface UnpackedOperation extends CommonOperation {
  readonly callGasLimit: bigint
  readonly verificationGasLimit: bigint
  readonly maxFeePerGas: bigint
}

/** A user operation with what is in its words. Addresses are in lower case. */
export interface Operation {
  readonly sender: Hex
  readonly nonce: bigint
  readonly initCode: Hex
  readonly callData: Hex
  /** The form of EntryPoint 0.7 and later; undefined for 0.6. */
  readonly packed: PackedOperation | undefined
  /** Undefined if the account pays itself, or nobody does. */
  readonly paymaster: Hex | undefined
  readonly verificationGas: bigint
  readonly callGas: bigint
  readonly paymasterVerificationGas: bigint
  /** The gas that must be left after the call, for the paymaster. */
  readonly postOpGas: bigint
  readonly preVerificationGas: bigint
  /** The most that it pays for a unit of gas, in wei; 0 if the relayer pays. */
  readonly maxFeePerGas: bigint
}

/** A call of an EntryPoint with one operation. */
export interface HandledOperation {
  readonly operation: Operation
  /** The receiver of the operation's payment, in lower case. */
  readonly beneficiary: Hex
}

/** Decodes a call of an EntryPoint: the function tells its version. @throws RpcError */
export function decodeOperation(data: Hex): HandledOperation {
  const { operations, beneficiary } = decodeHandleOps(data)
  const [operation] = operations
  if (operation === undefined || operations.length > 1)
    throw invalid(`data: handleOps must have exactly one operation, and has ${operations.length}.`)
  return { operation, beneficiary: lower(beneficiary) }
}

interface HandleOps {
  readonly operations: readonly Operation[]
  readonly beneficiary: Hex
}

/** `handleOps` of EntryPoint 0.6. */
const UNPACKED_SELECTOR = '0x1fad948c'

function decodeHandleOps(data: Hex): HandleOps {
  try {
    return data.startsWith(UNPACKED_SELECTOR) ? decodeUnpacked(data) : decodePacked(data)
  } catch (error) {
    if (error instanceof RpcError) throw error
    throw invalid(
      'data: expected handleOps of an EntryPoint, encoded by its ABI; nothing else of it is called.',
    )
  }
}

function decodePacked(data: Hex): HandleOps {
  refuseSharedIn(PACKED, data)
  const { functionName, args } = decodeFunctionData({ abi: PACKED, data })
  if (functionName !== 'handleOps') throw new Error('another function')
  refusePadded(data, encodeFunctionData({ abi: PACKED, functionName, args }))
  const [operations, beneficiary] = args
  return { operations: operations.map(readPacked), beneficiary }
}

function decodeUnpacked(data: Hex): HandleOps {
  refuseSharedIn(UNPACKED, data)
  const { functionName, args } = decodeFunctionData({ abi: UNPACKED, data })
  refusePadded(data, encodeFunctionData({ abi: UNPACKED, functionName, args }))
  const [operations, beneficiary] = args
  return { operations: operations.map(readUnpacked), beneficiary }
}

/** The paymaster, and its two limits of gas. */
const PAYMASTER_BYTES = 52

function readPacked(packed: PackedOperation): Operation {
  const { paymasterAndData } = packed
  const [verificationGas, callGas] = halves(packed.accountGasLimits)
  const [, maxFeePerGas] = halves(packed.gasFees)
  const paymaster = paymasterIn(paymasterAndData, PAYMASTER_BYTES)
  const [paymasterVerificationGas, postOpGas] =
    paymaster === undefined ? [0n, 0n] : halves(slice(paymasterAndData, 20, PAYMASTER_BYTES))
  return {
    ...partsOf(packed),
    packed,
    paymaster,
    verificationGas,
    callGas,
    paymasterVerificationGas,
    postOpGas,
    maxFeePerGas,
  }
}

/**
 * In 0.6, one limit is that of the account, of the paymaster together with it, and of each of the two calls
 * that a paymaster may get afterwards; the first of them must be possible before the account is called, even
 * without a paymaster.
 */
function readUnpacked(unpacked: UnpackedOperation): Operation {
  const { paymasterAndData, verificationGasLimit, callGasLimit, maxFeePerGas } = unpacked
  const paymaster = paymasterIn(paymasterAndData, 20)
  return {
    ...partsOf(unpacked),
    packed: undefined,
    paymaster,
    verificationGas: verificationGasLimit,
    callGas: callGasLimit,
    paymasterVerificationGas: 0n,
    postOpGas: paymaster === undefined ? verificationGasLimit : 2n * verificationGasLimit,
    maxFeePerGas,
  }
}

function partsOf({ sender, nonce, initCode, callData, preVerificationGas }: CommonOperation) {
  return {
    sender: lower(sender),
    nonce,
    initCode: lower(initCode),
    callData: lower(callData),
    preVerificationGas,
  }
}

function paymasterIn(paymasterAndData: Hex, least: number): Hex | undefined {
  const bytes = size(paymasterAndData)
  if (bytes === 0) return undefined
  if (bytes >= least) return lower(slice(paymasterAndData, 0, 20))
  throw new RpcError('invalidParams', `data: paymasterAndData: expected nothing, or at least ${least} bytes.`)
}

function halves(word: Hex): readonly [bigint, bigint] {
  return [hexToBigInt(slice(word, 0, 16)), hexToBigInt(slice(word, 16, 32))]
}

function lower(hex: Hex): Hex {
  return hex.toLowerCase() as Hex
}
