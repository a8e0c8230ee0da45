import {
  decodeAbiParameters,
  decodeFunctionData,
  decodeFunctionResult,
  encodeFunctionData,
  hashTypedData,
  parseAbi,
  parseAbiParameters,
  zeroAddress,
  zeroHash,
} from 'viem'
import { refusePadded, refuseSharedIn } from '../../shared/canonical.ts'
import { invalid, RpcError } from '../errors.ts'
import { type AccountKind, checkCalls } from './account.ts'

const ABI = parseAbi([
  'struct Call { address to; uint256 value; bytes data; }',
  'struct BatchedCall { Call[] calls; bool revertOnFailure; }',
  'struct SignedBatchedCall { BatchedCall batchedCall; uint256 nonce; bytes32 keyHash; address executor; uint256 deadline; }',
  'function execute(SignedBatchedCall signedBatchedCall, bytes wrappedSignature) payable',
  'function eip712Domain() view returns (bytes1 fields, string name, string version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] extensions)',
])

const WRAPPED = parseAbiParameters('bytes signature, bytes hookData')

const TYPES = {
  SignedBatchedCall: [
    { name: 'batchedCall', type: 'BatchedCall' },
    { name: 'nonce', type: 'uint256' },
    { name: 'keyHash', type: 'bytes32' },
    { name: 'executor', type: 'address' },
    { name: 'deadline', type: 'uint256' },
  ],
  BatchedCall: [
    { name: 'calls', type: 'Call[]' },
    { name: 'revertOnFailure', type: 'bool' },
  ],
  Call: [
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'data', type: 'bytes' },
  ],
} as const

/** Uniswap's Calibur. Its domain has a salt, which the account tells. */
export const CALIBUR: AccountKind = {
  selectors: new Set(['0xc3c16ee4']),
  callsOf: (data) => {
    const { functionName, args } = decodeFunctionData({ abi: ABI, data })
    if (functionName !== 'execute') throw new Error('another function')
    return args[0].batchedCall.calls
  },
  read: async ({ account, chainId, data, ask }) => {
    refuseSharedIn(ABI, data)
    const { args } = decodeFunctionData({ abi: ABI, data })
    const [batch, wrapped] = args as Exclude<typeof args, readonly [] | undefined>
    refusePadded(data, encodeFunctionData({ abi: ABI, functionName: 'execute', args: [batch, wrapped] }))
    checkCalls(batch.batchedCall.calls)
    if (!batch.batchedCall.revertOnFailure)
      throw invalid(
        'data: revertOnFailure must be true, because nothing on the chain tells which calls of the batch failed.',
      )
    if (batch.executor !== zeroAddress)
      throw new RpcError(
        'rejected',
        'data: executor must be the zero address, so that any account may send it.',
      )
    if (batch.keyHash !== zeroHash)
      throw new RpcError('invalidSignature', 'data: keyHash must be 0: the own key of the account signs.')
    const [signature] = decodeAbiParameters(WRAPPED, wrapped)
    const answer = await ask(encodeFunctionData({ abi: ABI, functionName: 'eip712Domain' }))
    const [, name, version, , , salt] = decodeFunctionResult({
      abi: ABI,
      functionName: 'eip712Domain',
      data: answer,
    })
    const hash = hashTypedData({
      domain: { name, version, chainId, verifyingContract: account, salt },
      primaryType: 'SignedBatchedCall',
      types: TYPES,
      message: batch,
    })
    const { nonce, deadline } = batch
    return { hash, signature, nonce: String(nonce), deadline: deadline === 0n ? undefined : Number(deadline) }
  },
}
