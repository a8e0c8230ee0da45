import { concatHex, encodeFunctionData, type Hex, numberToHex, padHex, parseAbi, slice } from 'viem'
import type { Rpc } from '../../shared/host.ts'
import type { BatchCall } from '../accounts/account.ts'

/** The balance of a token (ERC-20). */
export const BALANCE = parseAbi(['function balanceOf(address account) view returns (uint256)'])

/** What an account is about to pay. */
interface Payment {
  readonly account: Hex
  readonly token: Hex
  readonly receiver: Hex
  /** The calls that pay, in order. */
  readonly calls: readonly Pick<BatchCall, 'to' | 'data'>[]
}

/**
 * Returns what some calls of an account change of the receiver's balance on the newest state, whatever the
 * token says of itself; undefined if one fails. For this one question, the account runs code that asks for
 * the balance, makes the calls, and asks again. @throws NodeError, Unavailable
 */
export async function readArrival(
  { account, token, receiver, calls }: Payment,
  rpc: Rpc,
): Promise<bigint | undefined> {
  const question = encodeFunctionData({ abi: BALANCE, functionName: 'balanceOf', args: [receiver] })
  const code = checkerCode(token, question, calls)
  const answer = await rpc<Hex>('eth_call', [{ to: account }, 'latest', { [account]: { code } }])
  const count = wordsOf(calls)
  if (answer.length !== 2 + count * 64) return undefined
  const [before = 0n, asked, after = 0n, askedAgain, ...made] = Array.from({ length: count }, (_, index) =>
    BigInt(slice(answer, index * 32, index * 32 + 32)),
  )
  return [asked, askedAgain, ...made].every((flag) => flag === 1n) ? after - before : undefined
}

/** The balance before, whether it was told, the one after, whether it was told, and whether each call was made. */
function wordsOf(calls: Payment['calls']): number {
  return 4 + calls.length
}

/** The question is at the beginning of the memory, then come the words of the answer, then the call data. */
const ANSWERS = 0x80

/** Instructions of the EVM. */
const [MSTORE, GAS, CALL, RETURN, STATICCALL] = ['0x52', '0x5a', '0xf1', '0xf3', '0xfa'] as const

function checkerCode(token: Hex, question: Hex, calls: Payment['calls']): Hex {
  const ask = (at: number) => [
    ...[32, at, bytesOf(question), 0].map(push),
    pushAddress(token),
    GAS,
    STATICCALL,
    store(at + 32),
  ]
  const inputs = ANSWERS + wordsOf(calls) * 32
  const make = ({ to, data }: Payment['calls'][number], index: number) => [
    ...load(data, inputs),
    ...[0, 0, bytesOf(data), inputs, 0].map(push),
    pushAddress(to),
    GAS,
    CALL,
    store(ANSWERS + 128 + index * 32),
  ]
  return concatHex([
    ...load(question, 0),
    ...ask(ANSWERS),
    ...calls.flatMap(make),
    ...ask(ANSWERS + 64),
    ...[wordsOf(calls) * 32, ANSWERS].map(push),
    RETURN,
  ])
}

function bytesOf(data: Hex): number {
  return (data.length - 2) / 2
}

/** `PUSH2` */
function push(value: number): Hex {
  return concatHex(['0x61', numberToHex(value, { size: 2 })])
}

/** `PUSH20` */
function pushAddress(address: Hex): Hex {
  return concatHex(['0x73', address])
}

/** Stores the top of the stack. */
function store(at: number): Hex {
  return concatHex([push(at), MSTORE])
}

/** Puts data into memory, word by word (`PUSH32`). */
function load(data: Hex, at: number): readonly Hex[] {
  const words = Math.ceil(bytesOf(data) / 32)
  return Array.from({ length: words }, (_, index) => {
    const end = Math.min(index * 32 + 32, bytesOf(data))
    const word = padHex(slice(data, index * 32, end), { dir: 'right', size: 32 })
    return concatHex(['0x7f', word, store(at + index * 32)])
  })
}
