/** Calls that nearly every token has, by their selector: the name, and the kind of each argument. */
const CALLS: Readonly<Record<string, readonly [name: string, ...kinds: ('address' | 'uint256')[]]>> = {
  '0xa9059cbb': ['transfer', 'address', 'uint256'],
  '0x095ea7b3': ['approve', 'address', 'uint256'],
  '0x23b872dd': ['transferFrom', 'address', 'address', 'uint256'],
  '0x42842e0e': ['safeTransferFrom', 'address', 'address', 'uint256'],
  '0x40c10f19': ['mint', 'address', 'uint256'],
  '0x42966c68': ['burn', 'uint256'],
  '0xd0e30db0': ['deposit'],
  '0x2e1a7d4d': ['withdraw', 'uint256'],
}

/** The hexadecimal digits of a word of call data. */
const WORD = 64

/** Describes call data: a well-known call with its arguments, and otherwise the selector and the length. */
export function describeCall(data: string): string {
  const selector = data.slice(0, 10).toLowerCase()
  const words = data.slice(10)
  const [name, ...kinds] = CALLS[selector] ?? []
  if (name === undefined || words.length !== kinds.length * WORD)
    return `${selector} and ${Math.max(0, data.length - 10) / 2} bytes`
  const values = kinds.map((kind, at) => readWord(words.slice(at * WORD, (at + 1) * WORD), kind))
  return `${name}(${values.join(', ')})`
}

function readWord(word: string, kind: 'address' | 'uint256'): string {
  return kind === 'address' ? `0x${word.slice(-40)}` : BigInt(`0x${word}`).toString()
}
