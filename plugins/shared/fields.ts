import { isRecord } from './host.ts'

/** Hexadecimal addresses are the same in any letter case; those of other chains are not. */
export function normalized(address: string): string {
  return address.startsWith('0x') ? address.toLowerCase() : address
}

/** Reads the fields of one object, and remembers which, so that a misspelled one is refused. */
export class Fields {
  readonly #path: string
  readonly #values: Readonly<Record<string, unknown>>
  readonly #read = new Set<string>()

  constructor(path: string, value: unknown) {
    if (!isRecord(value)) throw new Error(`${path}: expected an object.`)
    this.#path = path
    this.#values = value
  }

  /** The fields of an object that may be absent. */
  fields(name: string): Fields | undefined {
    const value = this.#take(name)
    return value === undefined ? undefined : new Fields(`${this.#path}.${name}`, value)
  }

  list(name: string): readonly unknown[] {
    return this.optionalList(name) ?? []
  }

  optionalList(name: string): readonly unknown[] | undefined {
    const value = this.#take(name)
    if (value === undefined) return undefined
    if (!Array.isArray(value)) throw new Error(`${this.#path}.${name}: expected a list.`)
    return value
  }

  /** A value of any kind, for whoever reads it. */
  any(name: string): unknown {
    return this.#take(name)
  }

  optionalText(name: string): string | undefined {
    const value = this.#take(name)
    if (value === undefined) return undefined
    if (typeof value !== 'string' || value === '') throw new Error(`${this.#path}.${name}: expected a text.`)
    return normalized(value)
  }

  text(name: string, pattern: RegExp): string {
    const value = this.#take(name)
    if (typeof value !== 'string' || !pattern.test(value))
      throw new Error(`${this.#path}.${name}: expected a text that matches ${pattern}.`)
    return value
  }

  word<Word extends string>(name: string, words: readonly Word[]): Word | undefined {
    const value = this.#take(name)
    if (value === undefined) return undefined
    const word = words.find((each) => each === value)
    if (word === undefined) throw new Error(`${this.#path}.${name}: expected ${words.join(' or ')}.`)
    return word
  }

  integer(name: string, least: number, most: number): number | undefined {
    const value = this.#take(name)
    if (value === undefined) return undefined
    const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value
    if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < least || number > most)
      throw new Error(`${this.#path}.${name}: expected an integer from ${least} to ${most}.`)
    return number
  }

  flag(name: string): boolean | undefined {
    const value = this.#take(name)
    if (value === undefined || typeof value === 'boolean') return value
    throw new Error(`${this.#path}.${name}: expected true or false.`)
  }

  number(name: string, least: number, most: number): number | undefined {
    const value = this.#take(name)
    if (value === undefined) return undefined
    if (typeof value === 'number' && value >= least && value <= most) return value
    throw new Error(`${this.#path}.${name}: expected a number from ${least} to ${most}.`)
  }

  addresses(name: string): ReadonlySet<string> | undefined {
    if (this.#values[name] === undefined) return undefined
    const list = this.list(name)
    const bad = list.find((each) => typeof each !== 'string' || each === '')
    if (bad !== undefined) throw new Error(`${this.#path}.${name}: expected a list of addresses.`)
    return new Set(list.map((each) => normalized(String(each))))
  }

  refuseOthers(): void {
    const unknown = Object.keys(this.#values).find((name) => !this.#read.has(name))
    if (unknown !== undefined) throw new Error(`${this.#path}.${unknown}: unknown field.`)
  }

  #take(name: string): unknown {
    this.#read.add(name)
    return this.#values[name] ?? undefined
  }
}
