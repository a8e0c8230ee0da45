import { randomBytes } from 'node:crypto'
import { type Hex, toHex } from 'viem'
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
