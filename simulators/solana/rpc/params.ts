import { type Address, address, getBase58Encoder } from '@solana/kit'
import { invalidParams, RpcFault } from '../../json-rpc.ts'
import type { Commitment, Node } from '../node.ts'

/** Codes of the validator (agave rpc-client-api/src/custom_error.rs). */
export const BLOCK_CLEANED_UP = -32001
export const PREFLIGHT_FAILURE = -32002
export const BLOCK_NOT_AVAILABLE = -32004
export const NODE_UNHEALTHY = -32005
export const SLOT_SKIPPED = -32007
export const TRANSACTION_HISTORY_NOT_AVAILABLE = -32011
export const UNSUPPORTED_TRANSACTION_VERSION = -32015
const MIN_CONTEXT_SLOT_NOT_REACHED = -32016

/** The parameters of a call, by position; the last one of most methods is an object. */
export type Params = readonly unknown[]

/** An object of options. */
export type Config = Readonly<Record<string, unknown>>

/** An address that must be there. */
export function addressParam(value: unknown): Address {
  if (typeof value !== 'string') throw invalidParams('Invalid params: expected a string.')
  try {
    return address(value)
  } catch {
    throw invalidParams('Invalid param: Invalid')
  }
}

/** Signatures in base58, which must be there. */
export function signatureParam(value: unknown): string {
  if (typeof value !== 'string') throw invalidParams('Invalid params: expected a string.')
  try {
    if (getBase58Encoder().encode(value).length === 64) return value
  } catch {
    throw invalidParams('Invalid param: Invalid')
  }
  throw invalidParams('Invalid param: WrongSize')
}

/** A string that must be there. */
export function stringParam(value: unknown): string {
  if (typeof value !== 'string') throw invalidParams('Invalid params: expected a string.')
  return value
}

/** A list of something that must be there. */
export function listParam<Item>(value: unknown, read: (item: unknown) => Item): Item[] {
  if (!Array.isArray(value)) throw invalidParams('Invalid params: expected a sequence.')
  return value.map(read)
}

/** A whole number that may stand there. */
export function numberParam(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw invalidParams('Invalid params: expected a whole number.')
  }
  return value
}

/** An object, which may be missing. */
export function configParam(value: unknown): Config {
  if (value === undefined || value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value))
    throw invalidParams('Invalid params: expected an object.')
  return value as Config
}

/** The commitment that was asked for; `finalized` when none was (commitment-config `default`). */
export function commitmentParam(value: unknown): Commitment {
  if (value === undefined || value === null) return 'finalized'
  if (value === 'processed' || value === 'confirmed' || value === 'finalized') return value
  throw invalidParams(
    `Invalid params: unknown variant \`${value}\`, expected one of processed, confirmed, finalized.`,
  )
}

/**
 * The commitment of an object of options. Fails when the node has not reached `minContextSlot` at it (agave rpc.rs
 * `get_bank_with_config`).
 */
export function contextParam(node: Node, value: unknown): Commitment {
  const config = configParam(value)
  const commitment = commitmentParam(config.commitment)
  const least = numberParam(config.minContextSlot)
  const { slot } = node.block(commitment)
  if (least !== undefined && slot < BigInt(least)) {
    const message = 'Minimum context slot has not been reached'
    throw new RpcFault(MIN_CONTEXT_SLOT_NOT_REACHED, message, { contextSlot: slot })
  }
  return commitment
}

/** The version that the validator reports in answers. */
export const API_VERSION = '3.0.6'

/** A value with the slot that it is of. */
export function withContext(node: Node, commitment: Commitment, value: unknown): unknown {
  return { context: { apiVersion: API_VERSION, slot: node.block(commitment).slot }, value }
}
