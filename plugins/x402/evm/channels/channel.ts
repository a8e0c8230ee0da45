import { type Hex, hashTypedData, size } from 'viem'
import { Refusal } from '../../refusal.ts'
import type { Requirements } from '../../wire.ts'
import { addressOf, hexOf, integerOf, malformed, objectOf } from '../fields.ts'
import { isSame } from '../payment.ts'

/** x402BatchSettlement, at the same address on every chain. */
export const CHANNELS: Hex = '0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003'

/** The contracts that take a deposit from the payer, by EIP-3009 and by Permit2. */
export const EIP3009_COLLECTOR: Hex = '0x4020806089470a89826cB9fB1f4059150b550004'
export const PERMIT2_COLLECTOR: Hex = '0x4020425FAf3B746C082C2f942b4E5159887B0005'

export const NO_ADDRESS: Hex = '0x0000000000000000000000000000000000000000'

/** What makes a channel this one and no other; its id is the hash of it. */
export interface Channel {
  readonly payer: Hex
  /** The key that signs vouchers; the zero address if the payer does. */
  readonly payerAuthorizer: Hex
  readonly receiver: Hex
  /** Signs claims and refunds. */
  readonly receiverAuthorizer: Hex
  readonly token: Hex
  /** Seconds between the payer's wish to withdraw and the withdrawal. */
  readonly withdrawDelay: number
  readonly salt: Hex
}

/** Lets the receiver take so much from a channel, in all since it was opened. */
export interface Voucher {
  readonly channelId: Hex
  readonly most: bigint
  readonly signature: Hex
}

/** Makes a refusal with one of the reasons that the scheme has. */
export function refusal(reason: string, message: string, payer?: string): Refusal {
  return new Refusal(`invalid_batch_settlement_evm_${reason}`, message, payer)
}

const CHANNEL_TYPES = {
  ChannelConfig: [
    { name: 'payer', type: 'address' },
    { name: 'payerAuthorizer', type: 'address' },
    { name: 'receiver', type: 'address' },
    { name: 'receiverAuthorizer', type: 'address' },
    { name: 'token', type: 'address' },
    { name: 'withdrawDelay', type: 'uint40' },
    { name: 'salt', type: 'bytes32' },
  ],
} as const

function domainOf(chainId: number) {
  return { name: 'x402 Batch Settlement', version: '1', chainId, verifyingContract: CHANNELS } as const
}

/** Returns the id of a channel on a chain. */
export function channelIdOf(channel: Channel, chainId: number): Hex {
  return hashTypedData({
    domain: domainOf(chainId),
    types: CHANNEL_TYPES,
    primaryType: 'ChannelConfig',
    message: channel,
  })
}

/** What the payer signs for a voucher. */
export function voucherHash({ channelId, most }: Pick<Voucher, 'channelId' | 'most'>, chainId: number): Hex {
  return hashTypedData({
    domain: domainOf(chainId),
    types: {
      Voucher: [
        { name: 'channelId', type: 'bytes32' },
        { name: 'maxClaimableAmount', type: 'uint128' },
      ],
    },
    primaryType: 'Voucher',
    message: { channelId, maxClaimableAmount: most },
  })
}

/** What the receiver's authorizer signs for a claim. */
export function claimsHash(
  claims: readonly (Pick<Voucher, 'channelId' | 'most'> & { readonly claimed: bigint })[],
  chainId: number,
): Hex {
  return hashTypedData({
    domain: domainOf(chainId),
    types: {
      ClaimBatch: [{ name: 'claims', type: 'ClaimEntry[]' }],
      ClaimEntry: [
        { name: 'channelId', type: 'bytes32' },
        { name: 'maxClaimableAmount', type: 'uint128' },
        { name: 'totalClaimed', type: 'uint128' },
      ],
    },
    primaryType: 'ClaimBatch',
    message: {
      claims: claims.map(({ channelId, most, claimed }) => ({
        channelId,
        maxClaimableAmount: most,
        totalClaimed: claimed,
      })),
    },
  })
}

/** What the receiver's authorizer signs for a refund. */
export function refundHash(
  { channelId, nonce, amount }: { readonly channelId: Hex; readonly nonce: bigint; readonly amount: bigint },
  chainId: number,
): Hex {
  return hashTypedData({
    domain: domainOf(chainId),
    types: {
      Refund: [
        { name: 'channelId', type: 'bytes32' },
        { name: 'nonce', type: 'uint256' },
        { name: 'amount', type: 'uint128' },
      ],
    },
    primaryType: 'Refund',
    message: { channelId, nonce, amount },
  })
}

type Values = Readonly<Record<string, unknown>>

/** Reads a channel of the payload. */
export function readChannel(values: Values, name: string): Channel {
  const fields = objectOf(values, name)
  const { withdrawDelay } = fields
  if (typeof withdrawDelay !== 'number' || !Number.isSafeInteger(withdrawDelay) || withdrawDelay < 0)
    throw malformed(`${name}.withdrawDelay`, 'a number of seconds')
  return {
    payer: addressOf(fields, 'payer'),
    payerAuthorizer: addressOf(fields, 'payerAuthorizer'),
    receiver: addressOf(fields, 'receiver'),
    receiverAuthorizer: addressOf(fields, 'receiverAuthorizer'),
    token: addressOf(fields, 'token'),
    withdrawDelay,
    salt: wordOf(fields, 'salt'),
  }
}

/** Reads a voucher of the payload. */
export function readVoucher(values: Values, name: string): Voucher {
  const fields = objectOf(values, name)
  return {
    channelId: wordOf(fields, 'channelId'),
    most: amountOf(fields, 'maxClaimableAmount'),
    signature: hexOf(fields, 'signature'),
  }
}

/** Reads 32 bytes of the payload. */
export function wordOf(fields: Values, name: string): Hex {
  const value = hexOf(fields, name)
  if (size(value) !== 32) throw malformed(name, '32 bytes in hexadecimal')
  return value.toLowerCase() as Hex
}

/** Reads an amount as channels keep it: a uint128. */
export function amountOf(fields: Values, name: string): bigint {
  const value = integerOf(fields, name)
  if (value >= 2n ** 128n) throw malformed(name, 'an amount of at most 128 bits')
  return value
}

/** Seconds between which the contract lets a channel's delay be. */
const DELAY = { least: 900, most: 2_592_000 }

/**
 * Checks that a channel is the one that its id names, and is of the parties, the token and the delay that the
 * resource server demands.
 * @throws Refusal if it is another one
 */
export function checkChannel(
  channel: Channel,
  channelId: Hex,
  {
    requirements: { asset, payTo, extra },
    chainId,
  }: { readonly requirements: Requirements; readonly chainId: number },
): void {
  const { payer, receiver, receiverAuthorizer, token, withdrawDelay } = channel
  const refuse = (reason: string, message: string) => refusal(reason, message, payer)
  if (channelIdOf(channel, chainId) !== channelId)
    throw refuse('channel_id_mismatch', 'The voucher is for another channel than this one.')
  if (!isSame(receiver, payTo)) throw refuse('receiver_mismatch', 'The channel pays someone else than payTo.')
  const wanted = extra.receiverAuthorizer
  if (typeof wanted !== 'string' || isSame(wanted, NO_ADDRESS) || !isSame(receiverAuthorizer, wanted))
    throw refuse(
      'receiver_authorizer_mismatch',
      'The channel has another receiverAuthorizer than paymentRequirements.extra.',
    )
  if (!isSame(token, asset)) throw refuse('token_mismatch', 'The channel is in another token.')
  if (extra.withdrawDelay !== undefined && withdrawDelay !== Number(extra.withdrawDelay))
    throw refuse(
      'withdraw_delay_mismatch',
      'The channel has another withdrawDelay than paymentRequirements.extra.',
    )
  if (withdrawDelay < DELAY.least || withdrawDelay > DELAY.most)
    throw refuse(
      'withdraw_delay_out_of_range',
      `withdrawDelay: expected ${DELAY.least} to ${DELAY.most} seconds.`,
    )
}
