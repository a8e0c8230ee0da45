import type { RpcReply } from '../../rpc/rpc.ts'
import { isDefinitive } from '../inclusion/everywhere.ts'
import { revertBytes, wordsOf } from './revert.ts'

/**
 * The meaning of an error of `eth_estimateGas` or `eth_call`. `reverted`: the code itself failed · `out_of_gas`: it needs more gas than the
 * node allows a call · `insufficient_funds`: the account cannot pay for it · `unavailable`: the node cannot tell now · `unclear`: none of
 * the known wordings.
 */
export type SimulationError = 'reverted' | 'out_of_gas' | 'insufficient_funds' | 'unavailable' | 'unclear'

/** EIP-1474 has no code for a revert; geth and its relatives use 3, and their messages begin like this. */
const REVERTED = /execution reverted|\breverted\b|^VM Exception while processing/i

/** geth's `gasestimator`: without a price in the call the message is about the gas limit of a block or of the node, never about money. */
const OUT_OF_GAS = /gas required exceeds (the )?allowance|gas limit is too low|exceeds the gas cap/i

/** The phrases match only at the beginning, where the node's own sentence stands: a contract chooses the words of its revert. */
const INSUFFICIENT_FUNDS =
  /^(err: |failed with \d+ gas: |rpc error: .*desc = )?(insufficient ?(sender ?)?(funds|balance)|(transaction )?up-?front cost .*exceeds|sender doesn't have enough|EVM error:? OutOfFunds?)/i

/** The node lacks the state for the simulation. */
const NO_STATE = /missing trie node|state .*(not|un)available|no state|world state/i

/** Wordings for code that failed (`core/vm/errors.go` of geth). Anvil and Reth write "EVM error" and the name of the halt. */
const HALTS = [
  /revert|EVM error|out of ?gas|opcode|FEOpcode/i,
  /stack ?(underflow|overflow|limit)|invalid jump|bad jump|return data out of bounds|write protection/i,
  /contract address collision|CreateCollision|code size|invalid code|starting with 0xef/i,
  /gas uint64 overflow|init ?code|nonce uint64 overflow|max call depth|insufficient balance for transfer/i,
]

/**
 * Sentences of zkSync, which uses the code of a revert for every error (`tx_sender/result.rs` `SubmitTxError`; `backend_jsonrpsee/mod.rs`
 * `map_err`). They are whole sentences, because the words of a revert can come under this code without any prefix from other nodes.
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
 * Reads an error of a simulation. Reverts come first, because the author of a contract, or its caller, chooses the words in them. The code
 * of a revert alone proves none, so other words under it leave it `unclear`.
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
