import {
  decodeAbiParameters,
  decodeFunctionData,
  decodeFunctionResult,
  encodeAbiParameters,
  encodeFunctionData,
  hashTypedData,
  hexToBigInt,
  parseAbi,
  parseAbiParameters,
  size,
  slice,
} from 'viem'
import { refusePadded, refuseShared } from '../../shared/canonical.ts'
import { type AccountKind, checkCalls } from './account.ts'

const ABI = parseAbi([
  'function execute(bytes32 mode, bytes executionData) payable',
  'function getNonce(uint192 key) view returns (uint256)',
])

const BATCH = parseAbiParameters('(address to, uint256 value, bytes data)[] calls, bytes opData')

/** ERC-7821: a batch that reverts as a whole, with the signature of the owner in `opData`. */
const SIGNED_MODE = '0x0100000000007821000100000000000000000000000000000000000000000000'

/** The key of a nonce, before the signature. */
const KEY_BYTES = 24

const TYPES = {
  Execute: [
    { name: 'mode', type: 'bytes32' },
    { name: 'calls', type: 'Call[]' },
    { name: 'nonce', type: 'uint256' },
  ],
  Call: [
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'data', type: 'bytes' },
  ],
} as const

/** Gelato's delegation. The signed nonce is not passed, so the account is asked for it. */
export const GELATO: AccountKind = {
  selectors: new Set(['0xe9ae5c53']),
  callsOf: (data) => {
    const { functionName, args } = decodeFunctionData({ abi: ABI, data })
    if (functionName !== 'execute') throw new Error('another function')
    return decodeAbiParameters(BATCH, args[1])[0]
  },
  read: async ({ account, chainId, data, ask }) => {
    const { args } = decodeFunctionData({ abi: ABI, data })
    const [mode, executionData] = args as readonly [typeof SIGNED_MODE, `0x${string}`]
    if (mode.toLowerCase() !== SIGNED_MODE) throw new Error('another mode')
    refuseShared(BATCH, executionData)
    const [calls, opData] = decodeAbiParameters(BATCH, executionData)
    refusePadded(
      data,
      encodeFunctionData({
        abi: ABI,
        functionName: 'execute',
        args: [mode, encodeAbiParameters(BATCH, [calls, opData])],
      }),
    )
    checkCalls(calls)
    const key = hexToBigInt(slice(opData, 0, KEY_BYTES))
    const signature = size(opData) > KEY_BYTES ? slice(opData, KEY_BYTES) : '0x'
    const answer = await ask(encodeFunctionData({ abi: ABI, functionName: 'getNonce', args: [key] }))
    const nonce = decodeFunctionResult({ abi: ABI, functionName: 'getNonce', data: answer })
    const hash = hashTypedData({
      domain: { name: 'GelatoDelegation', version: '0.0.1', chainId, verifyingContract: account },
      primaryType: 'Execute',
      types: TYPES,
      message: { mode, calls, nonce },
    })
    return { hash, signature, nonce: String(nonce), deadline: undefined }
  },
}
