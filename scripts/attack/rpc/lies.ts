import type { Random } from '../../../test/support/random.ts'

/** A value of JSON; numbers may be anything that JavaScript writes. */
type Json = unknown

const HEX = /^0x[0-9a-f]{1,16}$/i
const DECIMAL = /^\d{1,19}$/

/** Values that no field of an answer has. */
const NONSENSE: readonly Json[] = [
  null,
  true,
  '',
  '0x',
  '0x0',
  '-0x1',
  '0xzz',
  -1,
  1.5,
  1e300,
  2 ** 53,
  `0x${'f'.repeat(64)}`,
  `0x1${'0'.repeat(64)}`,
  '9'.repeat(400),
  '-1',
  'NaN',
  '\u0000',
  '__proto__',
  [],
  {},
  [[]],
  [null],
  { toString: 1 },
  { length: -1 },
]

/**
 * Returns the answer with one value replaced, once for each value that it has, itself included, and each that no field has. Of a list only the first and the
 * last item are replaced.
 */
export function everyNonsense(value: Json): Json[] {
  return [...NONSENSE, ...insideOf(value)]
}

function insideOf(value: Json): Json[] {
  if (Array.isArray(value)) {
    const places = new Set([0, value.length - 1].filter((place) => place >= 0 && place < value.length))
    return [...places].flatMap((place) =>
      everyNonsense(value[place]).map((changed) => value.with(place, changed)),
    )
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    everyNonsense(inner).map((changed) => ({ ...value, [key]: changed })),
  )
}

interface LieManner {
  readonly random: Random
  /** The probability of a value of another type. */
  readonly nonsense: number
}

/** Replaces one value of the answer, somewhere, and keeps its shape otherwise. */
export function lieOnce(value: Json, manner: LieManner): Json {
  const { random, nonsense } = manner
  if (random.chance(nonsense)) return random.pick(NONSENSE)
  if (Array.isArray(value) && value.length > 0) {
    const at = random.int(0, value.length - 1)
    if (random.chance(nonsense / 2)) return [...value, value[at]]
    return value.with(at, lieOnce(value[at], manner))
  }
  if (typeof value === 'object' && value !== null) {
    const keys = Object.keys(value)
    if (keys.length === 0) return value
    const key = random.pick(keys)
    const rest = value as Readonly<Record<string, Json>>
    if (random.chance(nonsense / 2))
      return Object.fromEntries(Object.entries(rest).filter(([name]) => name !== key))
    return { ...rest, [key]: lieOnce(rest[key], manner) }
  }
  return lieAbout(value, random)
}

/** Returns a plausible other value: a height that jumps back, a balance that is gone, a hash of something else. */
function lieAbout(value: Json, random: Random): Json {
  const move = (number: bigint) => {
    const moved = number + BigInt(random.pick([-1_000, -2, -1, 1, 2, 1_000]))
    return moved < 0n ? 0n : moved
  }
  if (typeof value === 'number' && Number.isSafeInteger(value)) return Number(move(BigInt(value)))
  if (typeof value === 'string' && HEX.test(value)) return `0x${move(BigInt(value)).toString(16)}`
  if (typeof value === 'string' && DECIMAL.test(value)) return String(move(BigInt(value)))
  if (typeof value === 'string' && value.length > 3) return changedText(value, random)
  if (typeof value === 'boolean') return !value
  // What is empty, such as a receipt that is not there, stays so.
  return value
}

function changedText(text: string, random: Random): string {
  const at = random.int(2, text.length - 1)
  return `${text.slice(0, at)}${text[at] === '1' ? '2' : '1'}${text.slice(at + 1)}`
}
