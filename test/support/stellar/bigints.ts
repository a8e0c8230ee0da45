/** The smaller of two; `Math.min` would round. */
export function smaller(a: bigint, b: bigint): bigint {
  return [a, b].reduce((least, value) => (value < least ? value : least))
}

/** The larger of two. */
export function larger(a: bigint, b: bigint): bigint {
  return [a, b].reduce((most, value) => (value > most ? value : most))
}

/** Division of positive integers that rounds up. */
export function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor
}
