import { isHex, size } from 'viem/utils'
import type { RpcReply } from '../../rpc/rpc.ts'
import { isDefinitive } from '../inclusion/everywhere.ts'

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

/** Reads an error of a simulation. Reverts come first, because the author of a contract, or its caller, chooses the words in them. */
export function readSimulationError(reply: Extract<RpcReply, { kind: 'error' }>): SimulationError {
  const { code, message, data } = reply
  if (code === 3 || REVERTED.test(message) || holdsBytes(data)) return 'reverted'
  if (OUT_OF_GAS.test(message)) return 'out_of_gas'
  if (INSUFFICIENT_FUNDS.test(message)) return 'insufficient_funds'
  if (!isDefinitive(reply) || NO_STATE.test(message)) return 'unavailable'
  return HALTS.some((halt) => halt.test(message)) ? 'reverted' : 'unclear'
}

/** Only code returns bytes. Besu and Nethermind return them with code -32015 and a message of their own. */
function holdsBytes(data: unknown): boolean {
  const text = typeof data === 'string' ? data.replace(/^Reverted /, '') : undefined
  return text !== undefined && isHex(text) && size(text) > 0
}
