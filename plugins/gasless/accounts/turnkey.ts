import {
  decodeAbiParameters,
  decodeFunctionData,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  hashTypedData,
  hexToBigInt,
  hexToNumber,
  parseAbi,
  parseAbiParameters,
  size,
  slice,
} from 'viem'
import { refusePadded, refuseShared, refuseSharedIn } from '../../shared/canonical.ts'
import { type AccountKind, type BatchCall, checkCalls } from './account.ts'

const ABI = parseAbi([
  'struct Call { address to; uint256 value; bytes data; }',
  'function execute(bytes data)',
  'function execute(address to, uint256 value, bytes data)',
  'function executeBatch(bytes data)',
  'function executeBatch(Call[] calls, bytes data)',
])

const CALLS = parseAbiParameters('(address to, uint256 value, bytes data)[] calls')

/** What the packed bytes begin with: the signature, the nonce (uint128) and the deadline (uint32). */
const SIGNATURE_END = 65
const NONCE_END = 81
const HEAD_END = 85

/** The receiver and the value, where they are packed too. */
const TO_END = 105
const VALUE_END = 137

/** The most calls that the account accepts. */
const MAX_CALLS = 20

const CALL_TYPE = [
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'data', type: 'bytes' },
] as const

const TYPES = {
  Execution: [{ name: 'nonce', type: 'uint128' }, { name: 'deadline', type: 'uint32' }, ...CALL_TYPE],
  BatchExecution: [
    { name: 'nonce', type: 'uint128' },
    { name: 'deadline', type: 'uint32' },
    { name: 'calls', type: 'Call[]' },
  ],
  Call: CALL_TYPE,
} as const

/** Turnkey's TKGasDelegate. Nonces are in sequence, and every signature ends. */
export const TURNKEY: AccountKind = {
  selectors: new Set(['0x09c5eabe', '0xb61d27f6', '0xa137d282', '0x5885bbcf']),
  callsOf: (data) => decode(data).calls,
  read: async ({ account, chainId, data }) => {
    const { head, calls, isBatch } = decode(data)
    checkCalls(calls, MAX_CALLS)
    const nonce = hexToBigInt(slice(head, SIGNATURE_END, NONCE_END))
    const deadline = hexToNumber(slice(head, NONCE_END, HEAD_END))
    const domain = { name: 'TKGasDelegate', version: '1.1', chainId, verifyingContract: account }
    const [only] = calls
    const hash =
      isBatch || only === undefined
        ? hashTypedData({
            domain,
            primaryType: 'BatchExecution',
            types: TYPES,
            message: { nonce, deadline, calls },
          })
        : hashTypedData({
            domain,
            primaryType: 'Execution',
            types: TYPES,
            message: { nonce, deadline, ...only },
          })
    return { hash, signature: slice(head, 0, SIGNATURE_END), nonce: String(nonce), deadline }
  },
}

interface Decoded {
  /** At least the signature, the nonce and the deadline. */
  readonly head: Hex
  readonly calls: readonly BatchCall[]
  readonly isBatch: boolean
}

function decode(data: Hex): Decoded {
  refuseSharedIn(ABI, data)
  const { functionName, args } = decodeFunctionData({ abi: ABI, data })
  if (functionName === 'execute') {
    refusePadded(data, encodeFunctionData({ abi: ABI, functionName, args: args as readonly [Hex] }))
    if (args.length === 3) {
      const [to, value, packed] = args
      return { head: packed, calls: [{ to, value, data: tailOf(packed, HEAD_END) }], isBatch: false }
    }
    const [packed] = args
    const call = {
      to: slice(packed, HEAD_END, TO_END, { strict: true }),
      value: hexToBigInt(slice(packed, TO_END, VALUE_END, { strict: true })),
      data: tailOf(packed, VALUE_END),
    }
    return { head: packed, calls: [call], isBatch: false }
  }
  refusePadded(data, encodeFunctionData({ abi: ABI, functionName, args: args as readonly [Hex] }))
  if (args.length === 2) {
    const [calls, head] = args
    return { head, calls, isBatch: true }
  }
  const [packed] = args
  const encoded = tailOf(packed, HEAD_END)
  refuseShared(CALLS, encoded)
  const [calls] = decodeAbiParameters(CALLS, encoded)
  refusePadded(encoded, encodeAbiParameters(CALLS, [calls]))
  return { head: packed, calls, isBatch: true }
}

function tailOf(bytes: Hex, start: number): Hex {
  return size(bytes) > start ? slice(bytes, start) : '0x'
}
