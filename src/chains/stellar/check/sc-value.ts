import { fitsWide, type ScValue, type ScValueFields, type WideType, wideInteger } from '../model/sc-value.ts'
import { isAccountId, isContractAddress } from '../model/strkey.ts'
import { firstOf, type Problem } from './fields.ts'

/** Smart contracts refuse values that are nested deeper (soroban-env-host `DEFAULT_HOST_DEPTH_LIMIT`). */
const MAX_DEPTH = 100

const WIDE_TYPES = ['u128', 'i128', 'u256', 'i256'] as const satisfies readonly WideType[]

/** The range of each type of 64 bits or less. */
const RANGES = {
  u32: [0n, 2n ** 32n - 1n],
  i32: [-(2n ** 31n), 2n ** 31n - 1n],
  u64: [0n, 2n ** 64n - 1n],
  i64: [-(2n ** 63n), 2n ** 63n - 1n],
  timepoint: [0n, 2n ** 64n - 1n],
  duration: [0n, 2n ** 64n - 1n],
} as const

/** Checks an argument of a smart contract. */
export function checkScValue(value: ScValue, at: string, depth = 1): Problem {
  if (value === 'void') return undefined
  if (depth > MAX_DEPTH) return `${at}: values may be nested ${MAX_DEPTH} deep.`
  if (Object.values(value).filter((field) => field !== undefined).length !== 1) {
    return `${at}: exactly one field is expected, which names the type.`
  }
  return (
    checkNarrow(value, at) ?? checkWide(value, at) ?? checkText(value, at) ?? checkNested(value, at, depth)
  )
}

function checkNarrow(value: ScValueFields, at: string): Problem {
  for (const [type, [least, most]] of Object.entries(RANGES) as [keyof typeof RANGES, [bigint, bigint]][]) {
    const integer = value[type]
    if (integer !== undefined && (integer < least || integer > most)) {
      return `${at}.${type}: an integer from ${least} to ${most} is expected.`
    }
  }
  return undefined
}

function checkWide(value: ScValueFields, at: string): Problem {
  for (const type of WIDE_TYPES) {
    const integer = value[type]
    if (integer !== undefined && !fitsWide(type, wideInteger(integer))) {
      return `${at}.${type}: an integer of ${type.slice(1)} bits${type.startsWith('i') ? ', signed,' : ''} is expected.`
    }
  }
  return undefined
}

function checkText({ symbol, address }: ScValueFields, at: string): Problem {
  if (symbol !== undefined && !/^[A-Za-z0-9_]{0,32}$/.test(symbol)) {
    return `${at}.symbol: at most 32 letters, digits and underscores are expected.`
  }
  if (address !== undefined && !isAccountId(address) && !isContractAddress(address)) {
    return `${at}.address: a Stellar address is expected (G… or C…); its checksum is wrong.`
  }
  return undefined
}

function checkNested({ vec, map }: ScValueFields, at: string, depth: number): Problem {
  if (vec) return firstOf(vec, `${at}.vec`, (item, path) => checkScValue(item, path, depth + 1))
  if (!map) return undefined
  return firstOf(
    map,
    `${at}.map`,
    ({ key, val }, path) =>
      checkScValue(key, `${path}.key`, depth + 1) ?? checkScValue(val, `${path}.val`, depth + 1),
  )
}
