import { decodeFunctionData, encodeFunctionData, type Hex, hashTypedData } from 'viem'
import { Refusal } from '../refusal.ts'
import type { PaymentRequest } from '../wire.ts'
import { PROXY_ABI, UPTO_PROXY_ABI } from './abi.ts'
import { type Permit, readPermit } from './approval.ts'
import { addressOf, integerOf, objectOf } from './fields.ts'
import { checkPayer, type EvmPayment, isSame, PERMIT2, PERMIT2_PROXY, UPTO_PROXY } from './payment.ts'
import { readSignature } from './signature.ts'
import { readSignedApproval } from './signed-approval.ts'

/** The terms that a payment must meet, from the requirements. */
export interface Terms {
  readonly asset: Hex
  readonly payee: Hex
  readonly amount: bigint
  readonly chainId: number
}

/** The fields that the payer signed, as Permit2 and the proxies take them. */
interface Signed {
  readonly permit: {
    readonly permitted: { readonly token: Hex; readonly amount: bigint }
    readonly nonce: bigint
    readonly deadline: bigint
  }
  readonly witness: { readonly to: Hex; readonly facilitator: Hex; readonly validAfter: bigint }
  readonly payer: Hex
  readonly amount: bigint
  readonly chainId: number
}

/**
 * Decodes a payment by Permit2 with a witness: of exactly the amount that the payer signed, or with `upto` of
 * at most that, by the facilitator whom he named. Throws {@link Refusal}.
 */
export async function decodePermit2(
  { payload, scheme, maximum, extensions }: PaymentRequest,
  { asset, payee, amount, chainId }: Terms,
  relayer: Hex,
): Promise<EvmPayment> {
  const form = scheme === 'upto' ? UPTO : EXACT
  const fields = objectOf(payload, 'permit2Authorization')
  const payer = addressOf(fields, 'from')
  const [permitted, given] = [objectOf(fields, 'permitted'), objectOf(fields, 'witness')]
  const token = addressOf(permitted, 'token')
  const value = integerOf(permitted, 'amount')
  const [nonce, deadline] = [integerOf(fields, 'nonce'), integerOf(fields, 'deadline')]
  const to = addressOf(given, 'to')
  const validAfter = integerOf(given, 'validAfter')
  const facilitator = scheme === 'upto' ? addressOf(given, 'facilitator') : relayer
  const refuse = (reason: Refusal['reason'], message: string) => new Refusal(reason, message, payer)
  if (!isSame(addressOf(fields, 'spender'), form.proxy))
    throw refuse('invalid_permit2_spender', `The spender must be ${form.proxy}.`)
  if (!isSame(to, payee))
    throw refuse('invalid_permit2_recipient_mismatch', 'The permit pays someone else than payTo.')
  if (!isSame(facilitator, relayer))
    throw refuse('upto_facilitator_mismatch', `The permit is for the facilitator ${facilitator}.`)
  if (!isSame(token, asset)) throw refuse('permit2_token_mismatch', 'The permit is for another token.')
  if (value !== maximum)
    throw refuse('permit2_amount_mismatch', `The permit is for ${value}, not for ${maximum}.`)
  checkPayer(payer, payee)

  const permit = { permitted: { token, amount: value }, nonce, deadline }
  const signed: Signed = { permit, witness: { to, facilitator, validAfter }, payer, amount, chainId }
  const approval = readPermit(extensions, { payer, asset, value })
  // A permit costs less, so it goes before.
  const terms = { payer, asset, value, chainId }
  const signedApproval = approval ? undefined : await readSignedApproval(extensions, terms)
  const hash = form.hash(signed)
  const signature = await readSignature(payload, hash, payer)
  const move = { to: form.proxy, data: form.settle(signed, signature.signature), ...form.sender(relayer) }
  const call = approval && { ...move, data: form.settleWithPermit(approval, signed, signature.signature) }
  return {
    method: 'permit2',
    payer,
    payee,
    asset,
    amount,
    nonce,
    validAfter,
    // The settlement needs what came with the payment, too.
    validBefore: approval && approval.deadline < deadline ? approval.deadline : deadline,
    hash,
    ...signature,
    // A wallet is created by Multicall3, which is not the facilitator whom the payer named.
    ...(scheme === 'upto' && { creation: undefined }),
    move,
    call: call ?? move,
    bringsApproval: approval !== undefined,
    approval: signedApproval,
  }
}

/** Returns the call of a proxy without the permit of EIP-2612 that it submits first; others as they are. */
export function withoutPermit(proxy: string, data: string): string {
  try {
    if (isSame(proxy, UPTO_PROXY)) {
      const { functionName, args } = decodeFunctionData({ abi: UPTO_PROXY_ABI, data: data as Hex })
      if (functionName !== 'settleWithPermit') return data
      const [, ...rest] = args
      return encodeFunctionData({ abi: UPTO_PROXY_ABI, functionName: 'settle', args: rest })
    }
    const { functionName, args } = decodeFunctionData({ abi: PROXY_ABI, data: data as Hex })
    if (functionName !== 'settleWithPermit') return data
    const [, ...rest] = args
    return encodeFunctionData({ abi: PROXY_ABI, functionName: 'settle', args: rest })
  } catch {
    return data
  }
}

/** The differences between the proxies. */
interface Form {
  readonly proxy: Hex
  hash(signed: Signed): Hex
  settle(signed: Signed, signature: Hex): Hex
  settleWithPermit(approval: Permit, signed: Signed, signature: Hex): Hex
  /** Names the relayer where the proxy asks who calls. */
  sender(relayer: Hex): { readonly from?: Hex }
}

const PRIMARY_TYPE = 'PermitWitnessTransferFrom'

const TYPES = {
  [PRIMARY_TYPE]: [
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
} as const

const EXACT_WITNESS = [
  { name: 'to', type: 'address' },
  { name: 'validAfter', type: 'uint256' },
] as const

const UPTO_WITNESS = [
  { name: 'to', type: 'address' },
  { name: 'facilitator', type: 'address' },
  { name: 'validAfter', type: 'uint256' },
] as const

function domainOf(chainId: number) {
  return { name: 'Permit2', chainId, verifyingContract: PERMIT2 } as const
}

const EXACT: Form = {
  proxy: PERMIT2_PROXY,
  hash: ({ permit, witness, chainId }) =>
    hashTypedData({
      domain: domainOf(chainId),
      types: { ...TYPES, Witness: EXACT_WITNESS },
      primaryType: PRIMARY_TYPE,
      message: { ...permit, spender: PERMIT2_PROXY, witness },
    }),
  settle: ({ permit, payer, witness }, signature) =>
    encodeFunctionData({
      abi: PROXY_ABI,
      functionName: 'settle',
      args: [permit, payer, witness, signature],
    }),
  settleWithPermit: (approval, { permit, payer, witness }, signature) =>
    encodeFunctionData({
      abi: PROXY_ABI,
      functionName: 'settleWithPermit',
      args: [approval, permit, payer, witness, signature],
    }),
  sender: () => ({}),
}

const UPTO: Form = {
  proxy: UPTO_PROXY,
  hash: ({ permit, witness, chainId }) =>
    hashTypedData({
      domain: domainOf(chainId),
      types: { ...TYPES, Witness: UPTO_WITNESS },
      primaryType: PRIMARY_TYPE,
      message: { ...permit, spender: UPTO_PROXY, witness },
    }),
  settle: ({ permit, amount, payer, witness }, signature) =>
    encodeFunctionData({
      abi: UPTO_PROXY_ABI,
      functionName: 'settle',
      args: [permit, amount, payer, witness, signature],
    }),
  settleWithPermit: (approval, { permit, amount, payer, witness }, signature) =>
    encodeFunctionData({
      abi: UPTO_PROXY_ABI,
      functionName: 'settleWithPermit',
      args: [approval, permit, amount, payer, witness, signature],
    }),
  sender: (relayer) => ({ from: relayer }),
}
