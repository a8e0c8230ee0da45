import type { InnerInstruction } from 'litesvm'
import { base58 } from '../runtime/bytes.ts'

type Inner = readonly (readonly InnerInstruction[])[]

/** Writes the calls of programs, under the instruction that made them; accounts and programs are indexes of the keys. */
export function writeInner(inner: Inner): unknown[] {
  return group(inner, (each) => {
    const instruction = each.instruction()
    return {
      programIdIndex: instruction.programIdIndex(),
      accounts: [...instruction.accounts()],
      data: base58(instruction.data()),
      stackHeight: each.stackHeight(),
    }
  })
}

/**
 * The same with addresses, as `simulateTransaction` writes it. A node decodes the calls of programs that it knows; here none
 * is known.
 */
export function writeInnerByAddress(inner: Inner, keys: readonly string[]): unknown[] {
  return group(inner, (each) => {
    const instruction = each.instruction()
    return {
      programId: keys[instruction.programIdIndex()],
      accounts: [...instruction.accounts()].map((index) => keys[index]),
      data: base58(instruction.data()),
      stackHeight: each.stackHeight(),
    }
  })
}

function group(inner: Inner, write: (each: InnerInstruction) => unknown): unknown[] {
  return inner.flatMap((calls, index) =>
    calls.length > 0 ? [{ index, instructions: calls.map((each) => write(each)) }] : [],
  )
}
