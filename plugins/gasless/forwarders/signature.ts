import { type Hex, hashTypedData, recoverAddress } from 'viem'
import { RpcError } from '../errors.ts'
import { requireKeySignature } from '../intent.ts'
import type { Forwarder, ForwarderKind } from '../networks.ts'
import type { ForwardRequest } from './abi.ts'

/** The EIP-712 domain of a forwarder, besides its address. */
export interface ForwarderDomain {
  readonly name: string
  readonly version: string
}

/** The domains of those that cannot be asked for it. */
const DOMAINS: Readonly<Record<Exclude<ForwarderKind, 'openzeppelin'>, ForwarderDomain>> = {
  minimal: { name: 'MinimalForwarder', version: '0.0.1' },
  thirdweb: { name: 'GSNv2 Forwarder', version: '0.0.1' },
  thirdweb_chainless: { name: 'GSNv2 Forwarder', version: '0.0.1' },
}

/** Returns the domain of a forwarder; undefined for one that has to be asked. */
export function knownDomain({ kind, domain }: Forwarder): ForwarderDomain | undefined {
  return domain ?? (kind === 'openzeppelin' ? undefined : DOMAINS[kind])
}

const COMMON = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'gas', type: 'uint256' },
  { name: 'nonce', type: 'uint256' },
] as const

const TYPES = {
  openzeppelin: [...COMMON, { name: 'deadline', type: 'uint48' }, { name: 'data', type: 'bytes' }],
  minimal: [...COMMON, { name: 'data', type: 'bytes' }],
  thirdweb: [...COMMON, { name: 'data', type: 'bytes' }],
  thirdweb_chainless: [...COMMON, { name: 'data', type: 'bytes' }, { name: 'chainid', type: 'uint256' }],
} as const satisfies Readonly<Record<ForwarderKind, unknown>>

/**
 * Checks that the account `from` has signed a request with this nonce, for this forwarder on this chain.
 * @throws RpcError
 */
export async function checkSignature(
  { address, kind }: Forwarder,
  request: ForwardRequest,
  {
    domain,
    nonce,
    chainId,
    path,
  }: {
    readonly domain: ForwarderDomain
    readonly nonce: bigint
    readonly chainId: number
    readonly path: string
  },
): Promise<void> {
  requireKeySignature(request.signature, `${path}.signature`)
  if (kind === 'thirdweb_chainless' && request.chainId !== BigInt(chainId))
    throw new RpcError(
      'invalidSignature',
      `${path}.chainid: ${request.chainId} is signed; expected ${chainId}.`,
    )
  const { deadline = 0, data, from, to, value, gas } = request
  const hash = hashTypedData({
    domain: {
      ...domain,
      verifyingContract: address,
      ...(kind !== 'thirdweb_chainless' && { chainId }),
    },
    primaryType: 'ForwardRequest',
    types: { ForwardRequest: TYPES[kind] },
    message: { from, to, value, gas, nonce, deadline, data, chainid: request.chainId ?? 0n },
  })
  const signer = await signerOf(hash, request.signature)
  if (signer === request.from) return
  throw new RpcError(
    'invalidSignature',
    `${path}.signature: it is not by ${request.from} for the nonce ${nonce} of this forwarder on the chain ${chainId}.`,
  )
}

/** Returns the account whose key has signed a hash, in lower case; undefined for no signature. */
export async function signerOf(hash: Hex, signature: Hex): Promise<Hex | undefined> {
  try {
    return (await recoverAddress({ hash, signature })).toLowerCase() as Hex
  } catch {
    return undefined
  }
}
