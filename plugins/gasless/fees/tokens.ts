import type { Hex } from 'viem'
import {
  EVM_SOURCE_TYPES,
  type EvmPriceSource,
  readEvmAddress,
  readEvmSource,
} from '../../shared/evm-prices.ts'
import { Fields } from '../../shared/fields.ts'

/** A token in which users pay. */
export interface FeeToken {
  readonly address: Hex
  readonly decimals: number
  /** All must answer, and agree. */
  readonly sources: readonly EvmPriceSource[]
  readonly maxDifferencePercent: number
}

/** Two sources may differ by so much if the operator says nothing. */
const DEFAULT_MAX_DIFFERENCE_PERCENT = 2

/** Reads a token. Throws a sentence that names the wrong field. */
export function readFeeToken(path: string, value: unknown): FeeToken {
  const fields = new Fields(path, value)
  const decimals = fields.integer('decimals', 0, 36)
  if (decimals === undefined) throw new Error(`${path}.decimals: expected an integer.`)
  const price = fields.fields('price')
  const sources = price?.list('sources') ?? []
  if (sources.length === 0) throw new Error(`${path}.price.sources: name at least one.`)
  const token = {
    address: readEvmAddress(path, fields, 'address'),
    decimals,
    sources: sources.map((each, index) => readSource(`${path}.price.sources[${index}]`, each)),
    maxDifferencePercent:
      price?.integer('max_difference_percentage', 0, 50) ?? DEFAULT_MAX_DIFFERENCE_PERCENT,
  }
  price?.refuseOthers()
  fields.refuseOthers()
  return token
}

function readSource(path: string, value: unknown): EvmPriceSource {
  const fields = new Fields(path, value)
  const type = fields.word('type', EVM_SOURCE_TYPES)
  if (type === undefined) throw new Error(`${path}.type: expected fixed, chainlink or uniswap_v3.`)
  const source = readEvmSource(type, path, fields)
  fields.refuseOthers()
  return source
}
