import { decodeFunctionData, encodeFunctionData, type Hex, hexToBigInt, parseAbi, size, slice } from 'viem'
import { refusePadded } from '../accounts/account.ts'
import { invalid, RpcError } from '../errors.ts'

/** EntryPoint 0.7 and later (ERC-4337). */
export const ENTRY_POINT = parseAbi([
  'struct PackedUserOperation { address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 accountGasLimits; uint256 preVerificationGas; bytes32 gasFees; bytes paymasterAndData; bytes signature; }',
  'function handleOps(PackedUserOperation[] ops, address beneficiary)',
  'function getUserOpHash(PackedUserOperation userOp) view returns (bytes32)',
  'function getNonce(address sender, uint192 key) view returns (uint256)',
  'function balanceOf(address account) view returns (uint256)',
  'error FailedOp(uint256 opIndex, string reason)',
  'error FailedOpWithRevert(uint256 opIndex, string reason, bytes inner)',
])

/** A user operation as it is signed and passed. */
export interface PackedOperation {
  readonly sender: Hex
  readonly nonce: bigint
  readonly initCode: Hex
  readonly callData: Hex
  readonly accountGasLimits: Hex
  readonly preVerificationGas: bigint
  readonly gasFees: Hex
  readonly paymasterAndData: Hex
  readonly signature: Hex
}

/** A user operation with what is in its words. Addresses are in lower case. */
export interface Operation {
  readonly packed: PackedOperation
  readonly sender: Hex
  readonly nonce: bigint
  readonly callData: Hex
  /** Undefined if the account pays itself, or nobody does. */
  readonly paymaster: Hex | undefined
  readonly verificationGas: bigint
  readonly callGas: bigint
  readonly paymasterVerificationGas: bigint
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

/** Decodes a call of an EntryPoint. @throws RpcError */
export function decodeOperation(data: Hex): HandledOperation {
  const { ops, beneficiary } = decodeHandleOps(data)
  const [packed] = ops
  if (packed === undefined || ops.length > 1)
    throw invalid(`data: handleOps must have exactly one operation, and has ${ops.length}.`)
  return { operation: unpack(packed), beneficiary: lower(beneficiary) }
}

function decodeHandleOps(data: Hex): { ops: readonly PackedOperation[]; beneficiary: Hex } {
  try {
    const { functionName, args } = decodeFunctionData({ abi: ENTRY_POINT, data })
    if (functionName !== 'handleOps') throw new Error('another function')
    refusePadded(data, encodeFunctionData({ abi: ENTRY_POINT, functionName, args }))
    const [ops, beneficiary] = args
    return { ops, beneficiary }
  } catch {
    throw invalid(
      'data: expected handleOps of an EntryPoint 0.7 or later, encoded by its ABI; nothing else of it is called.',
    )
  }
}

/** The paymaster, and its two limits of gas. */
const PAYMASTER_BYTES = 52

function unpack(packed: PackedOperation): Operation {
  const { sender, nonce, callData, preVerificationGas, paymasterAndData } = packed
  const [verificationGas, callGas] = halves(packed.accountGasLimits)
  const [, maxFeePerGas] = halves(packed.gasFees)
  const bytes = size(paymasterAndData)
  if (bytes > 0 && bytes < PAYMASTER_BYTES)
    throw new RpcError('invalidParams', 'data: paymasterAndData: expected nothing, or at least 52 bytes.')
  const [paymasterVerificationGas, postOpGas] =
    bytes === 0 ? [0n, 0n] : halves(slice(paymasterAndData, 20, PAYMASTER_BYTES))
  return {
    packed,
    sender: lower(sender),
    nonce,
    callData,
    paymaster: bytes === 0 ? undefined : lower(slice(paymasterAndData, 0, 20)),
    verificationGas,
    callGas,
    paymasterVerificationGas,
    postOpGas,
    preVerificationGas,
    maxFeePerGas,
  }
}

function halves(word: Hex): readonly [bigint, bigint] {
  return [hexToBigInt(slice(word, 0, 16)), hexToBigInt(slice(word, 16, 32))]
}

function lower(address: Hex): Hex {
  return address.toLowerCase() as Hex
}
