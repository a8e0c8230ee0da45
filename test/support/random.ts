/** Numbers that follow from a seed alone, so that everything drawn from them can be drawn again. */
export interface Random {
  /** At least 0 and below 1. */
  next(): number
  /** A whole number from `least` to `most`, both included. */
  int(least: number, most: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly T[]): T
  /** One of the keys; each as likely as its weight is in the sum of all. */
  weighted<Key extends string>(weights: Readonly<Record<Key, number>>): Key
  /** Independent numbers of its own for each label: how many one draws does not change the others. */
  fork(label: string): Random
}

/** mulberry32: 32 bits of state are plenty for choosing steps. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  return {
    next,
    int,
    chance: (probability) => next() < probability,
    pick: (items) => {
      const item = items[int(0, items.length - 1)]
      if (item === undefined) throw new Error('nothing to pick from')
      return item
    },
    weighted: (weights) => weightedKey(weights, next()),
    fork: (label) => createRandom(hash(`${seed}/${label}`)),
  }
}

function weightedKey<Key extends string>(weights: Readonly<Record<Key, number>>, drawn: number): Key {
  const entries = Object.entries(weights) as [Key, number][]
  let left = drawn * entries.reduce((sum, [, weight]) => sum + weight, 0)
  for (const [key, weight] of entries) {
    left -= weight
    if (left < 0) return key
  }
  throw new Error('no key has a weight')
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 0x01000193)
  return value >>> 0
}
