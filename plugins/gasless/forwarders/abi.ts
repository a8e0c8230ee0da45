import { decodeFunctionData, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { refusePadded, refuseSharedIn } from '../../shared/canonical.ts'
import { invalid } from '../errors.ts'
import type { ForwarderKind } from '../networks.ts'

/** OpenZeppelin's ERC2771Forwarder 5.x. The nonce is signed, and not passed. */
const OPENZEPPELIN = parseAbi([
  'struct ForwardRequestData { address from; address to; uint256 value; uint256 gas; uint48 deadline; bytes data; bytes signature; }',
  'function execute(ForwardRequestData request) payable',
  'function executeBatch(ForwardRequestData[] requests, address refundReceiver) payable',
])

/** OpenZeppelin's MinimalForwarder 4.x, and thirdweb's Forwarder. */
const MINIMAL = parseAbi([
  'struct ForwardRequest { address from; address to; uint256 value; uint256 gas; uint256 nonce; bytes data; }',
  'function execute(ForwardRequest req, bytes signature) payable returns (bool, bytes)',
])

/** thirdweb's ForwarderChainlessDomain. */
const CHAINLESS = parseAbi([
  'struct ForwardRequest { address from; address to; uint256 value; uint256 gas; uint256 nonce; bytes data; uint256 chainid; }',
  'function execute(ForwardRequest req, bytes signature) payable returns (bool, bytes)',
])

/** What of all forwarders is asked. */
export const READS = parseAbi([
  'function nonces(address owner) view returns (uint256)',
  'function getNonce(address from) view returns (uint256)',
  'function eip712Domain() view returns (bytes1 fields, string name, string version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] extensions)',
  'function isTrustedForwarder(address forwarder) view returns (bool)',
])

/** A request that a user has signed. Addresses are in lower case. */
export interface ForwardRequest {
  readonly from: Hex
  readonly to: Hex
  readonly value: bigint
  readonly gas: bigint
  /** Undefined where it is signed and not passed. */
  readonly nonce: bigint | undefined
  /** Seconds since 1970; undefined where the forwarder has none. */
  readonly deadline: number | undefined
  readonly data: Hex
  /** thirdweb's chainless domain: the chain for which it is signed. */
  readonly chainId: bigint | undefined
  readonly signature: Hex
}

/** A call of a forwarder. */
export interface ForwardCall {
  readonly requests: readonly ForwardRequest[]
  /** `executeBatch`: who gets the value of requests that are skipped; undefined for a single request. */
  readonly refundReceiver: Hex | undefined
}

/** Decodes a call of a forwarder. @throws RpcError */
export function decodeForward(kind: ForwarderKind, data: Hex): ForwardCall {
  try {
    if (kind === 'openzeppelin') return decodeOpenZeppelin(data)
    if (kind === 'thirdweb_chainless') {
      const { args } = decodeFunctionData({ abi: CHAINLESS, data })
      const [request, signature] = args
      refusePadded(data, encodeFunctionData({ abi: CHAINLESS, args }))
      return single({ ...request, deadline: undefined, chainId: request.chainid, signature })
    }
    const { args } = decodeFunctionData({ abi: MINIMAL, data })
    const [request, signature] = args
    refusePadded(data, encodeFunctionData({ abi: MINIMAL, args }))
    return single({ ...request, deadline: undefined, chainId: undefined, signature })
  } catch {
    throw invalid(
      `data: expected ${NAMES[kind]} of the forwarder, encoded by its ABI; nothing else of it is called.`,
    )
  }
}

const NAMES: Readonly<Record<ForwarderKind, string>> = {
  openzeppelin: 'execute or executeBatch',
  minimal: 'execute',
  thirdweb: 'execute',
  thirdweb_chainless: 'execute',
}

function decodeOpenZeppelin(data: Hex): ForwardCall {
  refuseSharedIn(OPENZEPPELIN, data)
  const { functionName, args } = decodeFunctionData({ abi: OPENZEPPELIN, data })
  const more = { nonce: undefined, chainId: undefined }
  if (functionName === 'execute') {
    refusePadded(data, encodeFunctionData({ abi: OPENZEPPELIN, functionName, args }))
    return single({ ...args[0], ...more })
  }
  refusePadded(data, encodeFunctionData({ abi: OPENZEPPELIN, functionName, args }))
  const [requests, refundReceiver] = args
  return {
    requests: requests.map((request) => normalize({ ...request, ...more })),
    refundReceiver: refundReceiver.toLowerCase() as Hex,
  }
}

function single(request: ForwardRequest): ForwardCall {
  return { requests: [normalize(request)], refundReceiver: undefined }
}

function normalize(request: ForwardRequest): ForwardRequest {
  const { from, to, data, signature } = request
  return {
    ...request,
    from: from.toLowerCase() as Hex,
    to: to.toLowerCase() as Hex,
    data: data.toLowerCase() as Hex,
    signature: signature.toLowerCase() as Hex,
  }
}

/** Encodes the call of a forwarder with one request. */
export function encodeForward(kind: ForwarderKind, request: ForwardRequest): Hex {
  const { signature, nonce = 0n, deadline = 0, chainId = 0n, ...fields } = request
  if (kind === 'openzeppelin')
    return encodeFunctionData({
      abi: OPENZEPPELIN,
      functionName: 'execute',
      args: [{ ...fields, deadline, signature }],
    })
  if (kind === 'thirdweb_chainless')
    return encodeFunctionData({
      abi: CHAINLESS,
      args: [{ ...fields, nonce, chainid: chainId }, signature],
    })
  return encodeFunctionData({ abi: MINIMAL, args: [{ ...fields, nonce }, signature] })
}
