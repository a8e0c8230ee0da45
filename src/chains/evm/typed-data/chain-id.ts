import type { Answer } from '../../answer.ts'
import type { TypedData } from '../content.ts'
import { readInteger } from './atom.ts'

/**
 * Reads the chain to which a signature of typed data is bound: the `chainId` of its domain (EIP-712), as far as the type of the domain has it
 * as an integer, because nothing else of a domain is signed. Undefined for a domain without one, whose signature is good on every chain, and
 * for hashes, which nobody can read. Refuses a `chainId` that is no integer. Pure.
 */
export function chainIdOf(data: TypedData): Exclude<Answer<bigint | undefined>, { kind: 'unknown' }> {
  if (data.kind === 'hashes' || !Object.hasOwn(data.domain, 'chainId')) return EVERY_CHAIN
  const { EIP712Domain: fields } = data.types
  const isBound = fields?.some(({ name, type }) => name === 'chainId' && /^u?int[0-9]*$/.test(type)) ?? true
  if (!isBound) return EVERY_CHAIN
  const value = readInteger(data.domain.chainId)
  if (value !== undefined) return { kind: 'ok', value }
  const detail = 'body.domain.chainId: an integer is expected.'
  return { kind: 'refused', refusal: { code: 'invalid_request', detail } }
}

const EVERY_CHAIN = { kind: 'ok', value: undefined } as const
