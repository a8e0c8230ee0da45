import {
  compactSignatureToSignature,
  encodeFunctionData,
  type Hex,
  hashTypedData,
  isErc6492Signature,
  numberToHex,
  parseCompactSignature,
  parseErc6492Signature,
  parseSignature,
  recoverAddress,
  serializeSignature,
  size,
} from 'viem'
import { isRecord } from '../../shared/host.ts'
import { Refusal } from '../refusal.ts'
import type { PaymentRequest, Requirements } from '../wire.ts'
import { PERMIT2_ABI, PROXY_ABI, TOKEN_ABI } from './abi.ts'

/** Uniswap's Permit2, at the same address on every chain. */
export const PERMIT2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3'

/** x402ExactPermit2Proxy, at the same address on every chain. */
export const PERMIT2_PROXY = '0x402085c248EeA27D92E8b30b2C58ed07f9E20001'

/** A payment in an ERC-20 token, decoded and checked as far as that is possible without the chain. */
export interface EvmPayment {
  readonly method: 'eip3009' | 'permit2'
  readonly payer: Hex
  readonly payee: Hex
  readonly asset: Hex
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
  readonly creation: { readonly to: Hex; readonly data: Hex } | undefined
  /** The call that moves the tokens. */
  readonly call: { readonly to: Hex; readonly data: Hex }
}

/**
 * Seconds that must be left at least: a settlement that begins later may be included too late. The reference
 * facilitator requires as many.
 */
const SECONDS_LEFT = 6

/** Blocks that must be left: the next one may be full. */
const BLOCKS_LEFT = 2

/** Refuses a payment that is not valid yet, or not for long enough. `now` is in milliseconds. */
export function checkEvmWindow(
  { method, payer, validAfter, validBefore }: EvmPayment,
  { now, blockSeconds }: { readonly now: number; readonly blockSeconds: number },
): void {
  const seconds = BigInt(Math.floor(now / 1000))
  const needed = BigInt(Math.ceil(Math.max(SECONDS_LEFT, BLOCKS_LEFT * blockSeconds)))
  const reasons = WINDOW_REASONS[method]
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

/** The digits of the largest uint256. */
const UINT256_DIGITS = 78

/** Signatures of contracts may be long, but a payer must not make every simulation slow. */
const MAX_SIGNATURE_BYTES = 8192

/**
 * Decodes a payment by EIP-3009 or Permit2, and compares it with what is required. Throws {@link Refusal}.
 */
export async function decodeEvmPayment(request: PaymentRequest): Promise<EvmPayment> {
  const { payload, requirements } = request
  const asset = requirement('asset', requirements.asset)
  const payee = requirement('payTo', requirements.payTo)
  const method = chosenMethod(payload, requirements)
  const terms = {
    asset,
    payee,
    amount: requirements.amount,
    chainId: Number(request.network.network.slice(7)),
  }
  return method === 'permit2'
    ? decodePermit2(payload, terms)
    : decodeEip3009(payload, { ...terms, ...domainOf(requirements) })
}

interface Terms {
  readonly asset: Hex
  readonly payee: Hex
  readonly amount: bigint
  readonly chainId: number
}

function chosenMethod(payload: PaymentRequest['payload'], { extra }: Requirements): EvmPayment['method'] {
  const method = payload.permit2Authorization === undefined ? 'eip3009' : 'permit2'
  if (payload.delegationManager !== undefined || extra.assetTransferMethod === 'erc7710')
    throw new Refusal('invalid_payload', 'Payments by ERC-7710 are not supported.')
  const wanted = extra.assetTransferMethod ?? method
  if (wanted === method) return method
  throw new Refusal(
    'invalid_payload',
    `The requirements want ${String(wanted)}, and the payload is of ${method}.`,
  )
}

function domainOf({ extra: { name, version } }: Requirements) {
  if (typeof name === 'string' && typeof version === 'string') return { name, version }
  const message = 'paymentRequirements.extra: needs name and version, the EIP-712 domain of the token.'
  throw new Refusal('invalid_payment_requirements', message)
}

const TRANSFER_TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

async function decodeEip3009(
  payload: PaymentRequest['payload'],
  { asset, payee, amount, chainId, name, version }: Terms & { name: string; version: string },
): Promise<EvmPayment> {
  const fields = objectOf(payload, 'authorization')
  const payer = addressOf(fields, 'from')
  const to = addressOf(fields, 'to')
  const value = integerOf(fields, 'value')
  const [validAfter, validBefore] = [integerOf(fields, 'validAfter'), integerOf(fields, 'validBefore')]
  const nonce = hexOf(fields, 'nonce')
  if (size(nonce) !== 32) throw malformed('authorization.nonce', '32 bytes in hexadecimal')
  const refuse = (reason: string, message: string) =>
    new Refusal(`invalid_exact_evm_payload_${reason}`, message, payer)
  if (!isSame(to, payee))
    throw refuse('recipient_mismatch', 'The authorization pays someone else than payTo.')
  if (value !== amount)
    throw refuse('authorization_value_mismatch', `The authorization is for ${value}, not for ${amount}.`)
  checkPayer(payer, payee)

  const hash = hashTypedData({
    domain: { name, version, chainId, verifyingContract: asset },
    types: TRANSFER_TYPES,
    primaryType: 'TransferWithAuthorization',
    message: { from: payer, to, value, validAfter, validBefore, nonce },
  })
  const signed = await readSignature(payload, hash, payer)
  const args = [payer, to, value, validAfter, validBefore, nonce] as const
  // The older form of the function is the one that every token has; contracts that sign need the newer one.
  const data = signed.signedByKey
    ? encodeFunctionData({
        abi: TOKEN_ABI,
        functionName: 'transferWithAuthorization',
        args: [...args, ...split(signed.signature)],
      })
    : encodeFunctionData({
        abi: TOKEN_ABI,
        functionName: 'transferWithAuthorization',
        args: [...args, signed.signature],
      })
  const call = { to: asset, data }
  return {
    method: 'eip3009',
    payer,
    payee,
    asset,
    amount,
    nonce: BigInt(nonce),
    validAfter,
    validBefore,
    hash,
    ...signed,
    call,
  }
}

const PERMIT_TYPES = {
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
  Witness: [
    { name: 'to', type: 'address' },
    { name: 'validAfter', type: 'uint256' },
  ],
} as const

async function decodePermit2(
  payload: PaymentRequest['payload'],
  { asset, payee, amount, chainId }: Terms,
): Promise<EvmPayment> {
  const fields = objectOf(payload, 'permit2Authorization')
  const payer = addressOf(fields, 'from')
  const [permitted, witness] = [objectOf(fields, 'permitted'), objectOf(fields, 'witness')]
  const token = addressOf(permitted, 'token')
  const value = integerOf(permitted, 'amount')
  const [nonce, validBefore] = [integerOf(fields, 'nonce'), integerOf(fields, 'deadline')]
  const to = addressOf(witness, 'to')
  const validAfter = integerOf(witness, 'validAfter')
  if (!isSame(addressOf(fields, 'spender'), PERMIT2_PROXY))
    throw new Refusal('invalid_permit2_spender', `The spender must be ${PERMIT2_PROXY}.`, payer)
  if (!isSame(to, payee))
    throw new Refusal('invalid_permit2_recipient_mismatch', 'The permit pays someone else than payTo.', payer)
  if (!isSame(token, asset))
    throw new Refusal('permit2_token_mismatch', 'The permit is for another token.', payer)
  if (value !== amount)
    throw new Refusal('permit2_amount_mismatch', `The permit is for ${value}, not for ${amount}.`, payer)
  checkPayer(payer, payee)

  const permit = { permitted: { token, amount: value }, nonce, deadline: validBefore }
  const hash = hashTypedData({
    domain: { name: 'Permit2', chainId, verifyingContract: PERMIT2 },
    types: PERMIT_TYPES,
    primaryType: 'PermitWitnessTransferFrom',
    message: { ...permit, spender: PERMIT2_PROXY, witness: { to, validAfter } },
  })
  const signed = await readSignature(payload, hash, payer)
  const args = [permit, payer, { to, validAfter }, signed.signature] as const
  const data = encodeFunctionData({ abi: PROXY_ABI, functionName: 'settle', args })
  const call = { to: PERMIT2_PROXY, data } as const
  return {
    method: 'permit2',
    payer,
    payee,
    asset,
    amount,
    nonce,
    validAfter,
    validBefore,
    hash,
    ...signed,
    call,
  }
}

/** A payment to oneself moves nothing, so nothing could show that it happened. */
function checkPayer(payer: Hex, payee: Hex): void {
  if (!isSame(payer, payee)) return
  throw new Refusal('invalid_payload', 'The payer and the payee are the same account.', payer)
}

async function readSignature(payload: PaymentRequest['payload'], hash: Hex, payer: Hex) {
  const whole = hexOf(payload, 'signature')
  if (size(whole) > MAX_SIGNATURE_BYTES) throw malformed('signature', `at most ${MAX_SIGNATURE_BYTES} bytes`)
  if (!isErc6492Signature(whole)) {
    const ofKey = spelledOut(whole)
    return ofKey !== undefined && (await isOfKey(ofKey, hash, payer))
      ? { signature: ofKey, signedByKey: true, creation: undefined }
      : { signature: whole, signedByKey: false, creation: undefined }
  }
  try {
    const { address: to, data = '0x', signature } = parseErc6492Signature(whole)
    if (to === undefined) return { signature, signedByKey: false, creation: undefined }
    return { signature, signedByKey: false, creation: { to, data } }
  } catch {
    throw malformed('signature', 'a signature as ERC-6492 wraps it')
  }
}

/**
 * Returns the signature of a key in the form that contracts accept: r, s, and v as 27 or 28. Wallets also
 * write v as 0 or 1, or the short form of 64 bytes (EIP-2098). Undefined if it is none of them.
 */
function spelledOut(signature: Hex): Hex | undefined {
  try {
    if (size(signature) === 64)
      return serializeSignature(compactSignatureToSignature(parseCompactSignature(signature)))
    return size(signature) === 65 ? serializeSignature(parseSignature(signature)) : undefined
  } catch {
    return undefined
  }
}

/**
 * Signatures whose `s` is in the upper half are others' copies of a payer's signature, which tokens refuse.
 */
async function isOfKey(signature: Hex, hash: Hex, payer: Hex): Promise<boolean> {
  try {
    return isSame(await recoverAddress({ hash, signature }), payer)
  } catch {
    return false
  }
}

function split(signature: Hex): readonly [number, Hex, Hex] {
  const { r, s, yParity } = parseSignature(signature)
  return [yParity + 27, r, s]
}

/** The call that tells whether the nonce of a payment was used. */
export function nonceCall({ method, asset, payer, nonce }: EvmPayment): {
  readonly to: Hex
  readonly data: Hex
} {
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

function requirement(field: string, value: string): Hex {
  if (/^0x[0-9a-fA-F]{40}$/.test(value)) return value.toLowerCase() as Hex
  throw new Refusal('invalid_payment_requirements', `paymentRequirements.${field}: expected an address, 0x….`)
}

function objectOf(fields: Readonly<Record<string, unknown>>, name: string) {
  const value = fields[name]
  if (isRecord(value)) return value
  throw malformed(name, 'an object')
}

function addressOf(fields: Readonly<Record<string, unknown>>, name: string): Hex {
  const value = fields[name]
  if (typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value)) return value.toLowerCase() as Hex
  throw malformed(name, 'an address, 0x…')
}

function integerOf(fields: Readonly<Record<string, unknown>>, name: string): bigint {
  const value = fields[name]
  if (typeof value === 'string' && value.length <= UINT256_DIGITS && /^\d+$/.test(value)) {
    const integer = BigInt(value)
    if (integer < 2n ** 256n) return integer
  }
  throw malformed(name, 'a decimal text')
}

function hexOf(fields: Readonly<Record<string, unknown>>, name: string): Hex {
  const value = fields[name]
  if (typeof value === 'string' && /^0x([0-9a-fA-F]{2})+$/.test(value)) return value as Hex
  throw malformed(name, 'bytes in hexadecimal, 0x…')
}

function malformed(field: string, expected: string): Refusal {
  return new Refusal('invalid_payload', `paymentPayload.payload: ${field}: expected ${expected}.`)
}
