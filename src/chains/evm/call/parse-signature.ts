import { CallProblem } from '../../call/problem.ts'
import { type AbiFunction, canonicalType, isAtom, type Parameter } from './abi.ts'

/**
 * Reads the signature of a function, with or without names of its parameters: `pay((address to,uint256 value)[])`. The parser of viem keeps
 * every parameter that it has ever read, which callers could fill the memory with.
 * @throws CallProblem
 */
export function parseSignature(text: string): AbiFunction {
  const tokens = text.match(/[A-Za-z_$][\w$]*|\[[0-9]*\]|\S/g) ?? []
  const [name = ''] = tokens.splice(0, 1)
  if (!/^[A-Za-z_$]/.test(name)) throw unreadable()
  const inputs = readTuple(tokens)
  if (tokens.length > 0) throw unreadable()
  return { type: 'function', name, inputs }
}

/** Takes what stands in parentheses from the beginning of the tokens. */
function readTuple(tokens: string[]): Parameter[] {
  take(tokens, '(')
  const parameters: Parameter[] = []
  while (tokens[0] !== ')') {
    if (parameters.length > 0) take(tokens, ',')
    parameters.push(readParameter(tokens))
  }
  take(tokens, ')')
  return parameters
}

function readParameter(tokens: string[]): Parameter {
  const components = tokens[0] === '(' ? readTuple(tokens) : undefined
  const base = components === undefined ? readAtom(tokens) : 'tuple'
  let type = base
  while (tokens[0]?.startsWith('[')) type += tokens.shift()
  const name = /^[A-Za-z_$]/.test(tokens[0] ?? '') ? tokens.shift() : undefined
  return { type, name, components }
}

function readAtom(tokens: string[]): string {
  const type = canonicalType(tokens.shift() ?? '')
  if (isAtom(type)) return type
  throw new CallProblem('call.function', `${type === '' ? 'the end' : type} is no type of Solidity`)
}

function take(tokens: string[], expected: string): void {
  if (tokens.shift() !== expected) throw unreadable()
}

function unreadable(): CallProblem {
  return new CallProblem('call.function', 'expected a signature such as transfer(address,uint256)')
}
