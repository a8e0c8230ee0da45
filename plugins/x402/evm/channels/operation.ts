import { encodeFunctionData, type Hex, size } from 'viem'
import type { PaymentRequest } from '../../wire.ts'
import { addressOf, hexOf, integerOf, objectOf, requirement } from '../fields.ts'
import { isSame } from '../payment.ts'
import { readSignature } from '../signature.ts'
import { CHANNELS_ABI } from './abi.ts'
import {
  amountOf,
  CHANNELS,
  type Channel,
  channelIdOf,
  checkChannel,
  claimsHash,
  NO_ADDRESS,
  readChannel,
  readVoucher,
  refundHash,
  refusal,
  type Voucher,
  voucherHash,
} from './channel.ts'
import { type Deposit, decodeDeposit } from './deposit.ts'

/** A channel with the voucher that came for it. */
export interface Vouched {
  readonly channel: Channel
  readonly channelId: Hex
  readonly voucher: Voucher
  /** What the payer signed. */
  readonly hash: Hex
  /** Without what ERC-6492 wraps around it. */
  readonly signature: Hex
  /** True if the key of the voucher's signer made it, so that no contract needs to be asked. */
  readonly signedByKey: boolean
}

/** A row of a claim: the voucher, and what the receiver takes by it, in all since the channel was opened. */
export interface Claim {
  readonly channel: Channel
  readonly channelId: Hex
  readonly most: bigint
  readonly claimed: bigint
  readonly signature: Hex
}

/** What the scheme does: each but `voucher` in one transaction. */
export type Operation =
  | { readonly kind: 'deposit'; readonly vouched: Vouched; readonly deposit: Deposit; readonly data: Hex }
  /** Is verified alone: the receiver claims it later. `isRefund` if the payer wants his money back. */
  | { readonly kind: 'voucher'; readonly vouched: Vouched; readonly isRefund: boolean }
  | {
      readonly kind: 'claim'
      readonly authorizer: Hex
      readonly claims: readonly Claim[]
      readonly data: Hex
    }
  | { readonly kind: 'settle'; readonly receiver: Hex; readonly token: Hex; readonly data: Hex }
  | {
      readonly kind: 'refund'
      readonly channel: Channel
      readonly channelId: Hex
      readonly amount: bigint
      readonly nonce: bigint
      readonly claims: readonly Claim[]
      readonly data: Hex
    }

/**
 * The most rows of one claim, and the most bytes of its call: the simulation reads each channel before and
 * after it, and a node takes no more than 48 KiB of code that does so (EIP-3860).
 */
const MAX_CLAIMS = 32
const MAX_CLAIM_BYTES = 28_000

/** Decodes what a request asks for, and checks what needs no chain. @throws Refusal */
export async function decodeOperation(request: PaymentRequest): Promise<Operation> {
  const { payload, requirements, network } = request
  requirement('asset', requirements.asset)
  requirement('payTo', requirements.payTo)
  const chainId = Number(network.network.slice(7))
  switch (payload.type) {
    case 'deposit': {
      const vouched = await readVouched(request, chainId)
      const deposit = await decodeDeposit(request, vouched, chainId)
      const { amount, collector, collectorData } = deposit
      const data = encodeFunctionData({
        abi: CHANNELS_ABI,
        functionName: 'deposit',
        args: [vouched.channel, amount, collector, collectorData],
      })
      return { kind: 'deposit', vouched, deposit, data }
    }
    case 'voucher':
      return { kind: 'voucher', vouched: await readVouched(request, chainId), isRefund: false }
    case 'refund':
      return payload.refundNonce === undefined
        ? { kind: 'voucher', vouched: await readVouched(request, chainId), isRefund: true }
        : decodeRefund(request, chainId)
    case 'claim':
      return decodeClaim(request, chainId)
    case 'settle': {
      const [receiver, token] = [addressOf(payload, 'receiver'), addressOf(payload, 'token')]
      if (!isSame(receiver, requirements.payTo))
        throw refusal('receiver_mismatch', 'receiver: differs from paymentRequirements.payTo.')
      if (!isSame(token, requirements.asset))
        throw refusal('token_mismatch', 'token: differs from paymentRequirements.asset.')
      const data = encodeFunctionData({ abi: CHANNELS_ABI, functionName: 'settle', args: [receiver, token] })
      return { kind: 'settle', receiver, token, data }
    }
    default:
      throw refusal('payload_type', 'payload.type: expected deposit, voucher, claim, settle or refund.')
  }
}

async function readVouched({ payload, requirements }: PaymentRequest, chainId: number): Promise<Vouched> {
  const channel = readChannel(payload, 'channelConfig')
  const voucher = readVoucher(payload, 'voucher')
  const { channelId } = voucher
  checkChannel(channel, channelId, { requirements, chainId })
  const hash = voucherHash(voucher, chainId)
  return { channel, channelId, voucher, hash, ...(await readSigner(channel, voucher.signature, hash)) }
}

/** Only a payer without a key of his own for vouchers may sign as a contract. */
async function readSigner(
  { payer, payerAuthorizer }: Channel,
  signature: Hex,
  hash: Hex,
): Promise<Pick<Vouched, 'signature' | 'signedByKey'>> {
  const hasKey = !isSame(payerAuthorizer, NO_ADDRESS)
  const read = await readSignature({ signature }, hash, hasKey ? payerAuthorizer : payer)
  if (!hasKey || read.signedByKey) return { signature: read.signature, signedByKey: read.signedByKey }
  throw refusal(
    'voucher_signature',
    'The voucher is not signed by the payerAuthorizer of the channel.',
    payer,
  )
}

async function decodeClaim(
  { payload, requirements, network }: PaymentRequest,
  chainId: number,
): Promise<Operation> {
  const claims = readClaims(payload.claims, chainId)
  const [first] = claims
  if (first === undefined) throw refusal('claim_payload', 'claims: expected at least one.')
  const authorizer = first.channel.receiverAuthorizer
  for (const { channel } of claims) {
    if (!isSame(channel.receiverAuthorizer, authorizer))
      throw refusal('authorizer_address_mismatch', 'claims: all must have the same receiverAuthorizer.')
    if (!isSame(channel.receiver, requirements.payTo))
      throw refusal('receiver_mismatch', 'claims: a channel pays someone else than payTo.')
    if (network.assets && !network.assets.has(channel.token))
      throw refusal('token_mismatch', `claims: ${channel.token} is not settled here.`)
  }
  const signature = await authorizerSignature(payload, 'claimAuthorizerSignature', {
    authorizer,
    hash: claimsHash(claims, chainId),
  })
  const data = claimData(claims, signature)
  if (size(data) > MAX_CLAIM_BYTES)
    throw refusal('claim_payload', `claims: expected at most ${MAX_CLAIM_BYTES} bytes.`)
  return { kind: 'claim', authorizer, claims, data }
}

function readClaims(value: unknown, chainId: number): Claim[] {
  if (!Array.isArray(value) || value.length > MAX_CLAIMS)
    throw refusal('claim_payload', `claims: expected a list of at most ${MAX_CLAIMS}.`)
  return value.map((row: unknown): Claim => {
    const fields = objectOf({ claim: row }, 'claim')
    const voucher = objectOf(fields, 'voucher')
    const channel = readChannel(voucher, 'channel')
    const [most, claimed] = [amountOf(voucher, 'maxClaimableAmount'), amountOf(fields, 'totalClaimed')]
    const channelId = channelIdOf(channel, chainId)
    if (claimed > most)
      throw refusal('claim_payload', `claims: ${claimed} is more than ${most}, which the payer signed.`)
    // The contract checks it, in the simulation as well: here each would cost a millisecond.
    const signature = hexOf(fields, 'signature')
    return { channel, channelId, most, claimed, signature }
  })
}

/**
 * Reads a signature of the receiver's authorizer. A contract's is asked about in the simulation, by the
 * contract of the channels itself.
 */
async function authorizerSignature(
  payload: PaymentRequest['payload'],
  name: string,
  { authorizer, hash }: { readonly authorizer: Hex; readonly hash: Hex },
): Promise<Hex> {
  if (payload[name] === undefined)
    throw refusal(
      'authorizer_not_configured',
      `${name}: is required. The facilitator signs nothing for receivers.`,
    )
  const signature = hexOf(payload, name)
  return (await readSignature({ signature }, hash, authorizer)).signature
}

function claimData(claims: readonly Claim[], authorizer: Hex): Hex {
  const rows = claims.map(({ channel, most, claimed, signature }) => ({
    voucher: { channel, maxClaimableAmount: most },
    signature,
    totalClaimed: claimed,
  }))
  return encodeFunctionData({
    abi: CHANNELS_ABI,
    functionName: 'claimWithSignature',
    args: [rows, authorizer],
  })
}

async function decodeRefund({ payload, requirements }: PaymentRequest, chainId: number): Promise<Operation> {
  const channel = readChannel(payload, 'channelConfig')
  const channelId = channelIdOf(channel, chainId)
  const { payer, receiverAuthorizer: authorizer } = channel
  if (!isSame(channel.receiver, requirements.payTo))
    throw refusal('receiver_mismatch', 'The channel pays someone else than payTo.', payer)
  if (!isSame(channel.token, requirements.asset))
    throw refusal('token_mismatch', 'The channel is in another token.', payer)
  const [amount, nonce] = [amountOf(payload, 'amount'), integerOf(payload, 'refundNonce')]
  if (amount === 0n) throw refusal('refund_amount_invalid', 'amount: expected more than 0.', payer)
  const claims = readClaims(payload.claims, chainId)
  // What is claimed before a refund is of the same channel: the payer gets the rest of it.
  if (claims.some((each) => each.channelId !== channelId))
    throw refusal('refund_payload', 'claims: expected those of the refunded channel.', payer)
  const signature = await authorizerSignature(payload, 'refundAuthorizerSignature', {
    authorizer,
    hash: refundHash({ channelId, nonce, amount }, chainId),
  })
  const refund = encodeFunctionData({
    abi: CHANNELS_ABI,
    functionName: 'refundWithSignature',
    args: [channel, amount, nonce, signature],
  })
  const operation = { kind: 'refund', channel, channelId, amount, nonce, claims } as const
  if (claims.length === 0) return { ...operation, data: refund }
  const claim = await authorizerSignature(payload, 'claimAuthorizerSignature', {
    authorizer,
    hash: claimsHash(claims, chainId),
  })
  const data = encodeFunctionData({
    abi: CHANNELS_ABI,
    functionName: 'multicall',
    args: [[claimData(claims, claim), refund]],
  })
  if (size(data) > MAX_CLAIM_BYTES)
    throw refusal('refund_payload', `claims: expected at most ${MAX_CLAIM_BYTES} bytes.`, payer)
  return { ...operation, data }
}

/**
 * What makes it this operation and no other. A settlement gives all that was claimed by then, so it is named
 * by that: `target`.
 */
export function identityOf(
  operation: Exclude<Operation, { readonly kind: 'voucher' }>,
  target: bigint,
): readonly string[] {
  switch (operation.kind) {
    case 'deposit': {
      const { vouched, deposit } = operation
      const { token, payer } = vouched.channel
      return ['deposit', deposit.method, token, payer, deposit.nonce.toString()]
    }
    case 'claim':
      return ['claim', operation.data]
    case 'settle':
      return ['settle', operation.receiver, operation.token, target.toString()]
    case 'refund':
      return ['refund', operation.channelId, operation.nonce.toString()]
  }
}

/** The call of an operation. */
export function callOf({ data }: { readonly data: Hex }) {
  return { to: CHANNELS, data }
}
