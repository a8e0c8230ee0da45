import type { Hex } from 'viem'
import { decodeAbiParameters, isHex, size, slice } from 'viem/utils'

/** `Error(string)` and `Panic(uint256)` of the Solidity ABI specification. */
const ERROR_SELECTOR = '0x08c379a0'
const PANIC_SELECTOR = '0x4e487b71'

/** Meanings of Solidity's panic codes. */
const PANICS: Readonly<Record<string, string>> = {
  '1': 'assertion failed',
  '17': 'arithmetic overflow or underflow',
  '18': 'division or modulo by zero',
  '33': 'value is not a member of the enum',
  '34': 'wrongly encoded storage byte array',
  '49': 'pop() on an empty array',
  '50': 'array index out of bounds',
  '65': 'too much memory allocated',
  '81': 'call of an uninitialised internal function',
}

/** Revert data longer than this is cut, in characters: a contract can return as much as its gas allows. */
const MAX_SHOWN = 1_024

/** Decodes the data of a reverted call: the text of `Error`, the meaning of `Panic`, or the selector and data of a custom error. */
export function decodeRevert(data: unknown, message: string): string {
  const hex = hexOf(data)
  if (hex === undefined || size(hex) === 0) return withoutPrefix(message)
  if (size(hex) < 4) return `revert data ${hex}`
  const selector = slice(hex, 0, 4)
  const decoded =
    selector === ERROR_SELECTOR
      ? decodeError(hex)
      : selector === PANIC_SELECTOR
        ? decodePanic(hex)
        : undefined
  return decoded ?? `custom error ${selector}, data ${cut(hex)}`
}

/** Nodes give the bytes themselves, or an object that holds them. */
function hexOf(data: unknown): Hex | undefined {
  if (isHex(data)) return data
  if (typeof data !== 'object' || data === null) return undefined
  const inner = 'data' in data ? data.data : 'result' in data ? data.result : undefined
  return isHex(inner) ? inner : undefined
}

function decodeError(hex: Hex): string | undefined {
  try {
    const [text] = decodeAbiParameters([{ type: 'string' }], slice(hex, 4))
    return cut(text)
  } catch {
    return undefined // Not the layout that the selector promises: shown as a custom error.
  }
}

function decodePanic(hex: Hex): string | undefined {
  try {
    const [code] = decodeAbiParameters([{ type: 'uint256' }], slice(hex, 4))
    return `panic 0x${code.toString(16)} (${PANICS[code.toString()] ?? 'unknown code'})`
  } catch {
    return undefined
  }
}

/** Most nodes write "execution reverted: reason"; our own sentence already tells that it reverts. */
function withoutPrefix(message: string): string {
  const text = message.replace(/^.*execution reverted(: )?/i, '').trim()
  return text === '' ? 'no reason given' : cut(text)
}

function cut(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`
}
