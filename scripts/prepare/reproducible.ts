import crypto from 'node:crypto'

/** The time of day in ms while something is made reproducibly: 2026-01-01. */
const FIXED_TIME_MS = 1_767_225_600_000

/**
 * Makes something in this thread while the time of day stands still and random bytes are zeros, so that two
 * builds of one commit have the same bytes. Nothing that is made so may be a secret.
 */
export async function reproducibly<T>(make: () => Promise<T>): Promise<T> {
  const { Date: RealDate } = globalThis
  const { randomFillSync } = crypto
  const now = () => FIXED_TIME_MS
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args) => Reflect.construct(target, args.length === 0 ? [FIXED_TIME_MS] : args),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  })
  crypto.randomFillSync = ((bytes: Uint8Array) => bytes.fill(0)) as typeof randomFillSync
  try {
    return await make()
  } finally {
    globalThis.Date = RealDate
    crypto.randomFillSync = randomFillSync
  }
}
