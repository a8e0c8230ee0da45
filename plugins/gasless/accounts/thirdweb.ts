import { decodeFunctionData, encodeFunctionData, hashTypedData, parseAbi } from 'viem'
import { refusePadded, refuseSharedIn } from '../../shared/canonical.ts'
import { type AccountKind, checkCalls } from './account.ts'

const ABI = parseAbi([
  'struct Call { address target; uint256 value; bytes data; }',
  'struct WrappedCalls { Call[] calls; bytes32 uid; }',
  'function executeWithSig(WrappedCalls wrappedCalls, bytes signature) payable',
])

const TYPES = {
  WrappedCalls: [
    { name: 'calls', type: 'Call[]' },
    { name: 'uid', type: 'bytes32' },
  ],
  Call: [
    { name: 'target', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'data', type: 'bytes' },
  ],
} as const

/** thirdweb's MinimalAccount. Each batch has an id that counts once, and nothing ends it. */
export const THIRDWEB: AccountKind = {
  selectors: new Set(['0xba61557d']),
  callsOf: (data) => {
    const [wrapped] = decodeFunctionData({ abi: ABI, data }).args
    return wrapped.calls.map(({ target: to, value, data: inner }) => ({ to, value, data: inner }))
  },
  read: async ({ account, chainId, data }) => {
    refuseSharedIn(ABI, data)
    const { args } = decodeFunctionData({ abi: ABI, data })
    const [wrapped, signature] = args
    refusePadded(data, encodeFunctionData({ abi: ABI, args }))
    checkCalls(wrapped.calls)
    const hash = hashTypedData({
      domain: { name: 'MinimalAccount', version: '1', chainId, verifyingContract: account },
      primaryType: 'WrappedCalls',
      types: TYPES,
      message: wrapped,
    })
    return { hash, signature, nonce: wrapped.uid.toLowerCase(), deadline: undefined }
  },
}
