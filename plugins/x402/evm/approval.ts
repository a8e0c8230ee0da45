import { type Hex, size } from 'viem'
import { isRecord } from '../../shared/host.ts'
import { Refusal } from '../refusal.ts'
import { EIP2612_SPONSORING } from '../wire.ts'
import { isSame, PERMIT2 } from './payment.ts'
import { split } from './signature.ts'

/** A permit of EIP-2612 that lets Permit2 spend, as the proxies take it. */
export interface Permit {
  readonly value: bigint
  readonly deadline: bigint
  readonly r: Hex
  readonly s: Hex
  readonly v: number
}

const FIELDS = ['from', 'asset', 'spender', 'amount', 'nonce', 'deadline', 'signature', 'version'] as const

const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const INTEGER = /^\d{1,78}$/

/** The shape of each field, from the extension's schema. */
const SHAPES: Readonly<Record<(typeof FIELDS)[number], RegExp>> = {
  from: ADDRESS,
  asset: ADDRESS,
  spender: ADDRESS,
  amount: INTEGER,
  nonce: INTEGER,
  deadline: INTEGER,
  signature: /^0x[0-9a-fA-F]{130}$/,
  version: /^\d{1,8}(\.\d{1,8}){0,4}$/,
}

/**
 * Reads the permit of EIP-2612 that came with a payment; undefined if none did. Clients that bring none may
 * repeat what the resource server declared, without a signature. Whether the token accepts it, the simulation
 * shows. Throws {@link Refusal}.
 */
export function readPermit(
  extensions: Readonly<Record<string, unknown>>,
  { payer, asset, value }: { readonly payer: Hex; readonly asset: Hex; readonly value: bigint },
): Permit | undefined {
  const extension = extensions[EIP2612_SPONSORING]
  const info = isRecord(extension) && isRecord(extension.info) ? extension.info : {}
  if (info.signature === undefined) return undefined
  const refuse = (reason: Refusal['reason'], message: string) =>
    new Refusal(reason, `paymentPayload.extensions.${EIP2612_SPONSORING}.info.${message}`, payer)
  const texts = {} as Record<(typeof FIELDS)[number], string>
  for (const name of FIELDS) {
    const text = info[name]
    if (typeof text !== 'string' || !SHAPES[name].test(text))
      throw refuse('invalid_eip2612_extension_format', `${name}: expected a text like ${SHAPES[name]}.`)
    texts[name] = text
  }
  const [amount, deadline] = [BigInt(texts.amount), BigInt(texts.deadline)]
  if (!isSame(texts.from, payer)) throw refuse('eip2612_from_mismatch', 'from: is not the payer.')
  if (!isSame(texts.asset, asset)) throw refuse('eip2612_asset_mismatch', 'asset: is another token.')
  if (!isSame(texts.spender, PERMIT2)) throw refuse('eip2612_spender_not_permit2', 'spender: is not Permit2.')
  // The proxies demand it, so that no more is allowed than is paid.
  if (amount !== value) throw refuse('permit2_2612_amount_mismatch', `amount: expected ${value}.`)
  if (deadline >= 2n ** 256n) throw refuse('invalid_eip2612_extension_format', 'deadline: is too large.')
  const [v, r, s] = splitOf(texts.signature as Hex, () =>
    refuse('invalid_eip2612_extension_format', 'signature: expected r, s and v of a key.'),
  )
  return { value, deadline, r, s, v }
}

function splitOf(signature: Hex, problem: () => Refusal) {
  if (size(signature) !== 65) throw problem()
  try {
    return split(signature)
  } catch {
    throw problem()
  }
}
