import { concatHex, encodeFunctionData, type Hex, numberToHex, padHex, parseAbi, slice } from 'viem'
import type { Rpc } from '../../shared/host.ts'

const TOKEN = parseAbi(['function balanceOf(address account) view returns (uint256)'])

/** A transfer that an account is about to make. */
interface Transfer {
  readonly account: Hex
  readonly token: Hex
  readonly receiver: Hex
  /** The call data of `transfer`. */
  readonly data: Hex
}

/**
 * Returns what a transfer changes of the receiver's balance on the newest state, whatever the token says of
 * itself; undefined if it fails. For this one call, the account runs code that asks for the balance, makes the
 * transfer, and asks again. @throws NodeError, Unavailable
 */
export async function readArrival(
  { account, token, receiver, data }: Transfer,
  rpc: Rpc,
): Promise<bigint | undefined> {
  const question = encodeFunctionData({ abi: TOKEN, functionName: 'balanceOf', args: [receiver] })
  const code = checkerCode(token, question, data)
  const answer = await rpc<Hex>('eth_call', [{ to: account }, 'latest', { [account]: { code } }])
  if (answer.length !== 2 + WORDS * 64) return undefined
  const [before = 0n, asked, made, after = 0n, askedAgain] = Array.from({ length: WORDS }, (_, index) =>
    BigInt(slice(answer, index * 32, index * 32 + 32)),
  )
  return asked === 1n && made === 1n && askedAgain === 1n ? after - before : undefined
}

/** The balance, whether it was told, whether the transfer was made, the balance, whether it was told. */
const WORDS = 5

/** Where the answers are in memory, behind the question, and where the call data of the transfer is. */
const ANSWERS = 0x80
const TRANSFER = 0x200

/** Instructions of the EVM. */
const [MSTORE, GAS, CALL, RETURN, STATICCALL] = ['0x52', '0x5a', '0xf1', '0xf3', '0xfa'] as const

function checkerCode(token: Hex, question: Hex, transfer: Hex): Hex {
  const ask = (at: number) => [
    ...[32, at, bytesOf(question), 0].map(push),
    pushAddress(token),
    GAS,
    STATICCALL,
    store(at + 32),
  ]
  return concatHex([
    ...load(question, 0),
    ...load(transfer, TRANSFER),
    // The balance goes to the first word, and whether it was told to the second one.
    ...ask(ANSWERS),
    ...[0, 0, bytesOf(transfer), TRANSFER, 0].map(push),
    pushAddress(token),
    GAS,
    CALL,
    store(ANSWERS + 64),
    ...ask(ANSWERS + 96),
    ...[WORDS * 32, ANSWERS].map(push),
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
