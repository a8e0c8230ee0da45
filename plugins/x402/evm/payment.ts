import { encodeFunctionData, type Hex, numberToHex } from 'viem'
import { Refusal } from '../refusal.ts'
import { PERMIT2_ABI, TOKEN_ABI } from './abi.ts'

/** Uniswap's Permit2, at the same address on every chain. */
export const PERMIT2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3'

/** x402ExactPermit2Proxy, at the same address on every chain. */
export const PERMIT2_PROXY = '0x402085c248EeA27D92E8b30b2C58ed07f9E20001'

/** x402UptoPermit2Proxy, at the same address on every chain. */
export const UPTO_PROXY = '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002'

/** A call of a contract. */
export interface Call {
  readonly to: Hex
  readonly data: Hex
  /** The account that makes it, where the contract asks for that; the relayer or a contract if absent. */
  readonly from?: Hex
}

/** The payer's own transaction that lets Permit2 spend, signed and not sent. */
export interface SignedApproval {
  readonly raw: Hex
  readonly hash: Hex
  readonly nonce: bigint
  readonly gas: bigint
  /** Wei for each gas. */
  readonly maxFee: bigint
  readonly data: Hex
}

/** A payment in an ERC-20 token, decoded and checked as far as that is possible without the chain. */
export interface EvmPayment {
  readonly method: 'eip3009' | 'permit2'
  readonly payer: Hex
  readonly payee: Hex
  readonly asset: Hex
  /** The amount that moves; with `upto`, at most the one that the payer signed. */
  readonly amount: bigint
  readonly nonce: bigint
  /** Seconds since 1970: it can be settled after the first, and before the second. */
  readonly validAfter: bigint
  readonly validBefore: bigint
  /** What the payer signed. */
  readonly hash: Hex
  /** Without what ERC-6492 wraps around it. */
  readonly signature: Hex
  /** True if the payer's own key made the signature, so that no contract needs to be asked. */
  readonly signedByKey: boolean
  /** The call that creates the payer's wallet, if the signature names one (ERC-6492). */
  readonly creation: Call | undefined
  /** The call that moves the tokens. */
  readonly move: Call
  /** The same, after submitting the permit of EIP-2612 that came with the payment, if one did. */
  readonly call: Call
  /** True if one did. */
  readonly bringsApproval: boolean
  /** The payer's own transaction that lets Permit2 spend, if one came with the payment. */
  readonly approval: SignedApproval | undefined
}

/**
 * Seconds that must be left at least: a settlement that begins later may be included too late. The reference
 * facilitator requires as many.
 */
const SECONDS_LEFT = 6

/** Blocks that must be left: the next one may be full. */
const BLOCKS_LEFT = 2

/**
 * Refuses a payment that is not valid yet, or not for long enough: for itself, and as many blocks before it.
 * `now` is in milliseconds.
 */
export function checkEvmWindow(
  {
    method,
    payer,
    validAfter,
    validBefore,
  }: Pick<EvmPayment, 'method' | 'payer' | 'validAfter' | 'validBefore'>,
  {
    now,
    blockSeconds,
    before = 0,
    reasons = WINDOW_REASONS[method],
  }: {
    readonly now: number
    readonly blockSeconds: number
    readonly before?: number
    readonly reasons?: { readonly early: Refusal['reason']; readonly late: Refusal['reason'] }
  },
): void {
  const seconds = BigInt(Math.floor(now / 1000))
  const needed = BigInt(Math.ceil(Math.max(SECONDS_LEFT, (BLOCKS_LEFT + before) * blockSeconds)))
  // By EIP-3009, an authorization is valid after the moment that it names; a permit begins with it.
  if (method === 'eip3009' ? validAfter >= seconds : validAfter > seconds)
    throw new Refusal(reasons.early, `The payment is valid after ${validAfter}, and it is ${seconds}.`, payer)
  if (validBefore < seconds + needed)
    throw new Refusal(
      reasons.late,
      `The payment expires at ${validBefore}, and it is ${seconds}: at least ${needed} seconds must be left.`,
      payer,
    )
}

/** The reasons for a payment that is not valid yet, or not for long enough. */
export const WINDOW_REASONS = {
  eip3009: {
    early: 'invalid_exact_evm_payload_authorization_valid_after',
    late: 'invalid_exact_evm_payload_authorization_valid_before',
  },
  permit2: { early: 'permit2_not_yet_valid', late: 'permit2_deadline_expired' },
} as const

/** The call that tells whether the nonce of a payment was used. */
export function nonceCall({ method, asset, payer, nonce }: EvmPayment): Call {
  return method === 'eip3009'
    ? {
        to: asset,
        data: encodeFunctionData({
          abi: TOKEN_ABI,
          functionName: 'authorizationState',
          args: [payer, numberToHex(nonce, { size: 32 })],
        }),
      }
    : {
        to: PERMIT2,
        data: encodeFunctionData({
          abi: PERMIT2_ABI,
          functionName: 'nonceBitmap',
          args: [payer, nonce >> 8n],
        }),
      }
}

/** Reads the answer to that call; undefined if the token has no such state. */
export function isNonceUsed({ method, nonce }: EvmPayment, word: bigint | undefined): boolean | undefined {
  if (word === undefined) return undefined
  return method === 'eip3009' ? word > 0n : ((word >> (nonce & 255n)) & 1n) === 1n
}

/** True if both are the same address, in any letter case. */
export function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

/** A payment to oneself moves nothing, so nothing could show that it happened. */
export function checkPayer(payer: Hex, payee: Hex): void {
  if (!isSame(payer, payee)) return
  throw new Refusal('invalid_payload', 'The payer and the payee are the same account.', payer)
}

/** The end of the year 9999, the last that RFC 3339 can write. */
const LAST_SECOND = 253_402_300_799n

/** The time until which a payment counts, as the service takes it. */
export function dateOf(seconds: bigint): string {
  const second = seconds < LAST_SECOND ? seconds : LAST_SECOND
  return new Date(Number(second) * 1000).toISOString()
}
