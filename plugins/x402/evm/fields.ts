import type { Hex } from 'viem'
import { isRecord } from '../../shared/host.ts'
import { Refusal } from '../refusal.ts'

/** The digits of the largest uint256. */
const UINT256_DIGITS = 78

type Values = Readonly<Record<string, unknown>>

/** Reads an address of the requirements. */
export function requirement(field: string, value: string): Hex {
  if (/^0x[0-9a-fA-F]{40}$/.test(value)) return value.toLowerCase() as Hex
  throw new Refusal('invalid_payment_requirements', `paymentRequirements.${field}: expected an address, 0x….`)
}

/** Reads an object of the payload. */
export function objectOf(fields: Values, name: string) {
  const value = fields[name]
  if (isRecord(value)) return value
  throw malformed(name, 'an object')
}

/** Reads an address of the payload, in lower case. */
export function addressOf(fields: Values, name: string): Hex {
  const value = fields[name]
  if (typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value)) return value.toLowerCase() as Hex
  throw malformed(name, 'an address, 0x…')
}

/** Reads a uint256 of the payload. */
export function integerOf(fields: Values, name: string): bigint {
  const value = fields[name]
  if (typeof value === 'string' && value.length <= UINT256_DIGITS && /^\d+$/.test(value)) {
    const integer = BigInt(value)
    if (integer < 2n ** 256n) return integer
  }
  throw malformed(name, 'a decimal text')
}

/** Reads bytes of the payload. */
export function hexOf(fields: Values, name: string): Hex {
  const value = fields[name]
  if (typeof value === 'string' && /^0x([0-9a-fA-F]{2})+$/.test(value)) return value as Hex
  throw malformed(name, 'bytes in hexadecimal, 0x…')
}

/** Makes the refusal of a field of the payload. */
export function malformed(field: string, expected: string): Refusal {
  return new Refusal('invalid_payload', `paymentPayload.payload: ${field}: expected ${expected}.`)
}
