import { randomBytes } from 'node:crypto'
import { encodeFunctionData, type Hex, parseAbi, parseSignature, toHex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { NETWORK } from './evm-site.ts'

/** The fields of an authorization by EIP-3009. */
export interface Authorization {
  readonly from: Hex
  readonly to: Hex
  readonly value: bigint
  readonly validAfter: bigint
  readonly validBefore: bigint
  readonly nonce: Hex
}

/** What a test pays, and how. */
export interface PaymentParts {
  readonly token: Hex
  readonly payTo: Hex
  readonly amount?: bigint
  /** What the payer signs, if it is something else than what is required. */
  readonly authorization?: Partial<Authorization>
  /** Replaces the signature of the payer's key. */
  readonly sign?: (typedData: object) => Promise<Hex>
  /** Changes of the whole request. */
  readonly requirements?: object
  readonly accepted?: object
  readonly extensions?: object
  /** Default: that of anvil. */
  readonly chainId?: number
}

const TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

/** Makes the body of a request to verify or to settle a payment by EIP-3009, as a resource server sends it. */
export async function paymentBy(payer: PrivateKeyAccount, parts: PaymentParts) {
  const { token, payTo, amount = 10_000n } = parts
  const seconds = BigInt(Math.floor(Date.now() / 1000))
  const authorization: Authorization = {
    from: payer.address,
    to: payTo,
    value: amount,
    validAfter: seconds - 600n,
    validBefore: seconds + 600n,
    nonce: toHex(randomBytes(32)),
    ...parts.authorization,
  }
  const typedData = {
    domain: { name: 'Test Dollar', version: '2', chainId: parts.chainId ?? 31337, verifyingContract: token },
    types: TYPES,
    primaryType: 'TransferWithAuthorization',
    message: authorization,
  } as const
  const signature = await (parts.sign?.(typedData) ?? payer.signTypedData(typedData))
  const requirements = {
    scheme: 'exact',
    network: NETWORK,
    amount: amount.toString(),
    asset: token,
    payTo,
    maxTimeoutSeconds: 300,
    extra: { name: 'Test Dollar', version: '2' },
    ...parts.requirements,
  }
  const { value, validAfter, validBefore } = authorization
  return {
    x402Version: 2,
    paymentPayload: {
      x402Version: 2,
      resource: { url: 'https://shop.example/report' },
      accepted: { ...requirements, ...parts.accepted },
      payload: {
        signature,
        authorization: {
          ...authorization,
          value: value.toString(),
          validAfter: validAfter.toString(),
          validBefore: validBefore.toString(),
        },
      },
      ...(parts.extensions === undefined ? {} : { extensions: parts.extensions }),
    },
    paymentRequirements: requirements,
  }
}

const TOKEN = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
])

/** What a payment signs. */
export type SignedAuthorization = Awaited<ReturnType<typeof paymentBy>>['paymentPayload']['payload']

/** Returns the call that makes a payment. Everyone who has seen it can send it. */
export function transferCall({ authorization, signature }: SignedAuthorization): Hex {
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  const { r, s, yParity } = parseSignature(signature)
  return encodeFunctionData({
    abi: TOKEN,
    functionName: 'transferWithAuthorization',
    args: [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, yParity + 27, r, s],
  })
}

/** Returns the call by which a payer takes an authorization back before it is used. */
export async function cancelCall(payer: PrivateKeyAccount, token: Hex, nonce: Hex): Promise<Hex> {
  const signature = await payer.signTypedData({
    domain: { name: 'Test Dollar', version: '2', chainId: 31337, verifyingContract: token },
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: payer.address, nonce },
  })
  const { r, s, yParity } = parseSignature(signature)
  const args = [payer.address, nonce, yParity + 27, r, s] as const
  return encodeFunctionData({ abi: TOKEN, functionName: 'cancelAuthorization', args })
}
