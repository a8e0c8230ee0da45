import type { Hex } from 'viem'
import { decodeAbiParameters, isHex, size, slice } from 'viem/utils'
import type { RpcReply } from '../../rpc/rpc.ts'
import { isDefinitive } from '../inclusion/everywhere.ts'

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

/**
 * Decodes the data of a reverted call: the text of `Error`, the meaning of `Panic`, or the selector and data
 * of a custom error.
 */
export function decodeRevert(data: unknown, message: string): string {
  const hex = revertBytes(data)
  if (hex === undefined) return withoutPrefix(wordsOf({ message, data }))
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

/** Fields in which nodes and gateways put the bytes of a revert, and fields in which they put its text. */
const BYTES_FIELDS: readonly string[] = ['data', 'result', 'output', 'return']
const WORDS_FIELDS: readonly string[] = ['message', 'reason', 'data', 'error']

/**
 * Gateways and wallets wrap an error in at most three others; a deeper search would let an answer take up
 * time.
 */
const MAX_DEPTH = 4
const MAX_FIELDS = 16

/**
 * Finds the bytes of a revert in the `data` of a JSON-RPC error: as it is (geth), after "Reverted " (Besu,
 * Nethermind, OpenEthereum), or within the errors that a gateway put around it, as in
 * `data.originalError.data`. Undefined if there are none.
 */
function revertBytes(data: unknown): Hex | undefined {
  return fieldsWithin(data)
    .filter(({ name }) => name === undefined || BYTES_FIELDS.includes(name))
    .map(({ value }) => (typeof value === 'string' ? value.replace(/^Reverted /i, '') : undefined))
    .find((text): text is Hex => isHex(text) && size(text) > 0)
}

/** The message of a gateway that wraps the error of its node and has no meaning itself. */
const WRAPPED = /^(internal (json-rpc |server )?error|server error|(transaction|rpc) error|error)\W*$/i

/**
 * Returns the sentence of the node. Where the outer message only says that there is an error, it is the first
 * sentence within `data`, one about a revert before others.
 */
export function wordsOf({ message, data }: { readonly message: string; readonly data?: unknown }): string {
  if (!WRAPPED.test(message)) return message
  const sentences = fieldsWithin(data).flatMap(({ name, value }) =>
    typeof value === 'string' && !isHex(value) && (name === undefined || WORDS_FIELDS.includes(name))
      ? [value]
      : [],
  )
  return sentences.find((text) => /revert/i.test(text)) ?? sentences.find((text) => text !== '') ?? message
}

interface Field {
  /** Absent for the value itself. */
  readonly name: string | undefined
  readonly value: unknown
}

/** Lists the value and the fields within it, the outer ones first, each with its name. */
function fieldsWithin(data: unknown): Field[] {
  let level: Field[] = [{ name: undefined, value: data }]
  const all: Field[] = []
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth += 1) {
    all.push(...level)
    level = level.flatMap(({ value }) =>
      typeof value === 'object' && value !== null
        ? Object.entries(value)
            .slice(0, MAX_FIELDS)
            .map(([name, inner]) => ({ name, value: inner }))
        : [],
    )
  }
  return all
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

/** Most nodes write "execution reverted: reason"; our sentence already says that it reverts. */
function withoutPrefix(message: string): string {
  const text = message.replace(/^.*execution reverted(: )?/i, '').trim()
  return text === '' ? 'no reason given' : cut(text)
}

function cut(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`
}

/**
 * The meaning of an error of `eth_estimateGas` or `eth_call`. `reverted`: the code itself failed · `out_of_gas`: it needs more gas than the
 * node allows a call · `insufficient_funds`: the account cannot pay for it · `unavailable`: the node cannot say now · `unclear`: none of
 * the known wordings.
 */
export type SimulationError = 'reverted' | 'out_of_gas' | 'insufficient_funds' | 'unavailable' | 'unclear'

/** EIP-1474 has no code for a revert; geth and its relatives use 3, and their messages begin like this. */
const REVERTED = /execution reverted|\breverted\b|^VM Exception while processing/i

/**
 * geth's `gasestimator`: without a price in the call the message is about the gas limit of a block or of the
 * node, never about money.
 */
const OUT_OF_GAS = /gas required exceeds (the )?allowance|gas limit is too low|exceeds the gas cap/i

/**
 * The phrases match only at the beginning, where the node's own text is: a contract chooses the text of its
 * revert.
 */
const INSUFFICIENT_FUNDS =
  /^(err: |failed with \d+ gas: |rpc error: .*desc = )?(insufficient ?(sender ?)?(funds|balance)|(transaction )?up-?front cost .*exceeds|sender doesn't have enough|EVM error:? OutOfFunds?)/i

/** The node does not have the state for the simulation. */
const NO_STATE = /missing trie node|state .*(not|un)available|no state|world state/i

/**
 * Wordings for code that failed (`core/vm/errors.go` of geth). Anvil and Reth write "EVM error" and the name
 * of the halt.
 */
const HALTS = [
  /revert|EVM error|out of ?gas|opcode|FEOpcode/i,
  /stack ?(underflow|overflow|limit)|invalid jump|bad jump|return data out of bounds|write protection/i,
  /contract address collision|CreateCollision|code size|invalid code|starting with 0xef/i,
  /gas uint64 overflow|init ?code|nonce uint64 overflow|max call depth|insufficient balance for transfer/i,
]

/**
 * Sentences of zkSync, which uses the code of a revert for every error (`tx_sender/result.rs`
 * `SubmitTxError`; `backend_jsonrpsee/mod.rs` `map_err`). They are whole sentences, because other nodes use
 * this code for revert texts without a prefix.
 */
const UNDER_REVERT_CODE: readonly (readonly [RegExp, SimulationError])[] = [
  [/^insufficient funds for gas \+ value\. balance: \d+, fee: \d+, value: \d+$/, 'insufficient_funds'],
  [/^not enough balance to cover the fee\. error message: /, 'insufficient_funds'],
  [/^exceeds block gas limit$/, 'out_of_gas'],
  [/^server shutting down$/, 'unavailable'],
  [
    /^(max fee per gas less than block base fee|nonce too (low|high)\. allowed nonce range: .*)$/,
    'unavailable',
  ],
]

/**
 * Reads an error of a simulation. Reverts come first, because the author of a contract, or its caller,
 * chooses their text. The code of a revert alone proves none, so any other text with it stays `unclear`.
 */
export function readSimulationError(reply: Extract<RpcReply, { kind: 'error' }>): SimulationError {
  const message = wordsOf(reply)
  if (REVERTED.test(message) || revertBytes(reply.data) !== undefined) return 'reverted'
  const isHalt = HALTS.some((halt) => halt.test(message))
  if (reply.code === 3) {
    const known = UNDER_REVERT_CODE.find(([words]) => words.test(message))
    return known?.[1] ?? (isHalt ? 'reverted' : 'unclear')
  }
  if (OUT_OF_GAS.test(message)) return 'out_of_gas'
  if (INSUFFICIENT_FUNDS.test(message)) return 'insufficient_funds'
  if (!isDefinitive({ ...reply, message }) || NO_STATE.test(message)) return 'unavailable'
  return isHalt ? 'reverted' : 'unclear'
}
