import { randomBytes } from 'node:crypto'
import { encodeFunctionData, type Hex, hexToBigInt, parseAbi, toHex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { PERMIT2, PERMIT2_PROXY, UPTO_PROXY } from '../../../plugins/x402/evm/payment.ts'
import { PERMIT2_CODE, PERMIT2_PROXY_CODE, UPTO_PROXY_CODE } from './contract-code.ts'
import { type EvmSite, NETWORK, RELAYER } from './evm-site.ts'

/** Puts Permit2 and x402's proxies where they are on every chain. */
export async function placePermit2({ anvil }: Pick<EvmSite, 'anvil'>): Promise<void> {
  await anvil.rpc('anvil_setCode', [PERMIT2, PERMIT2_CODE])
  await anvil.rpc('anvil_setCode', [PERMIT2_PROXY, PERMIT2_PROXY_CODE])
  await anvil.rpc('anvil_setCode', [UPTO_PROXY, UPTO_PROXY_CODE])
}

const APPROVE = parseAbi(['function approve(address spender, uint256 value) returns (bool)'])

/** Lets Permit2 spend, in a transaction that the payer pays for. */
export async function approve(
  { anvil, token }: Pick<EvmSite, 'anvil' | 'token'>,
  payer: PrivateKeyAccount,
  value = 1_000_000n,
): Promise<void> {
  await anvil.rpc('anvil_impersonateAccount', [payer.address])
  await anvil.rpc('anvil_setBalance', [payer.address, '0xde0b6b3a7640000'])
  const data = encodeFunctionData({ abi: APPROVE, functionName: 'approve', args: [PERMIT2, value] })
  await anvil.rpc('eth_sendTransaction', [{ from: payer.address, to: token, data }])
}

/** A payment by Permit2 in a test. */
export interface PermitParts {
  readonly token: Hex
  readonly payTo: Hex
  readonly scheme?: 'exact' | 'upto'
  /** The fields that the payer signs. */
  readonly maximum?: bigint
  /** Default: the relayer. */
  readonly facilitator?: Hex
  readonly nonce?: bigint
  readonly deadline?: bigint
  /** A permit of EIP-2612 that comes with it. */
  readonly permit?: Partial<Eip2612>
}

interface Eip2612 {
  readonly value: bigint
  readonly nonce: bigint
  readonly deadline: bigint
  readonly from: Hex
  readonly asset: Hex
  readonly spender: Hex
}

const TYPES = {
  PermitWitnessTransferFrom: [
    { name: 'permitted', type: 'TokenPermissions' },
    { name: 'spender', type: 'address' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
    { name: 'witness', type: 'Witness' },
  ],
  TokenPermissions: [
    { name: 'token', type: 'address' },
    { name: 'amount', type: 'uint256' },
  ],
}

/** Makes the body of a request to verify a payment by Permit2. */
export async function permitBy(payer: PrivateKeyAccount, parts: PermitParts) {
  const { token, payTo, scheme = 'upto', maximum = 10_000n, facilitator = RELAYER } = parts
  const deadline = parts.deadline ?? BigInt(Math.floor(Date.now() / 1000)) + 600n
  const nonce = parts.nonce ?? hexToBigInt(toHex(randomBytes(32)))
  const isUpto = scheme === 'upto'
  const spender = isUpto ? UPTO_PROXY : PERMIT2_PROXY
  const witness = { to: payTo, ...(isUpto && { facilitator }), validAfter: 0n }
  const signature = await payer.signTypedData({
    domain: { name: 'Permit2', chainId: 31337, verifyingContract: PERMIT2 },
    types: {
      ...TYPES,
      Witness: [
        { name: 'to', type: 'address' },
        ...(isUpto ? [{ name: 'facilitator', type: 'address' }] : []),
        { name: 'validAfter', type: 'uint256' },
      ],
    },
    primaryType: 'PermitWitnessTransferFrom',
    message: { permitted: { token, amount: maximum }, spender, nonce, deadline, witness },
  })
  const requirements = {
    scheme,
    network: NETWORK,
    amount: maximum.toString(),
    asset: token,
    payTo,
    maxTimeoutSeconds: 300,
    extra: { name: 'Test Dollar', version: '2', assetTransferMethod: 'permit2' },
  }
  return {
    x402Version: 2,
    paymentPayload: {
      x402Version: 2,
      resource: { url: 'https://shop.example/report' },
      accepted: requirements,
      payload: {
        signature,
        permit2Authorization: {
          from: payer.address,
          permitted: { token, amount: maximum.toString() },
          spender,
          nonce: nonce.toString(),
          deadline: deadline.toString(),
          witness: { ...witness, validAfter: '0' },
        },
      },
      ...(parts.permit && {
        extensions: {
          eip2612GasSponsoring: { info: await permitOf(payer, token, { value: maximum, ...parts.permit }) },
        },
      }),
    },
    paymentRequirements: requirements,
  }
}

async function permitOf(payer: PrivateKeyAccount, token: Hex, parts: Partial<Eip2612> & { value: bigint }) {
  const { value, nonce = 0n, from = payer.address, asset = token, spender = PERMIT2 } = parts
  const deadline = parts.deadline ?? BigInt(Math.floor(Date.now() / 1000)) + 600n
  const signature = await payer.signTypedData({
    domain: { name: 'Test Dollar', version: '2', chainId: 31337, verifyingContract: token },
    types: {
      Permit: [
        { name: 'owner', type: 'address' },
        { name: 'spender', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'nonce', type: 'uint256' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    primaryType: 'Permit',
    message: { owner: payer.address, spender, value, nonce, deadline },
  })
  return {
    from,
    asset,
    spender,
    amount: value.toString(),
    nonce: nonce.toString(),
    deadline: deadline.toString(),
    signature,
    version: '1',
  }
}

/** The same request as the resource server sends it to settle, for what it charges in the end. */
export function charging<Body extends { readonly paymentRequirements: object }>(body: Body, amount: bigint) {
  return { ...body, paymentRequirements: { ...body.paymentRequirements, amount: amount.toString() } }
}
