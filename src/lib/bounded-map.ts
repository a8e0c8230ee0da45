/**
 * A map that forgets the entries which were set the longest ago when it has more than `maxSize`. An entry
 * that is set again is the newest one.
 */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #maxSize: number

  constructor(maxSize: number) {
    super()
    this.#maxSize = maxSize
  }

  override set(key: Key, value: Value): this {
    this.delete(key)
    super.set(key, value)
    const [oldest] = this.size > this.#maxSize ? this.keys() : []
    if (oldest !== undefined) this.delete(oldest)
    return this
  }
}
