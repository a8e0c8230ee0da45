import { isHex, size } from 'viem'
import type { RpcReply } from '../../rpc/rpc.ts'
import { isDefinitive } from '../inclusion/everywhere.ts'

/**
 * What an error of `eth_estimateGas` or `eth_call` says. `reverted`: the code itself came to a bad end · `out_of_gas`: it takes more
 * gas than the node allows a call · `insufficient_funds`: the account cannot pay for it · `trouble`: the node cannot tell now ·
 * `unclear`: none of the wordings that are known.
 */
export type SimulationError = 'reverted' | 'out_of_gas' | 'insufficient_funds' | 'unavailable' | 'unclear'

/** EIP-1474 has no code for it; geth and its kin use 3, and their words begin with these. */
const REVERTED = /execution reverted|\breverted\b|^VM Exception while processing/i

/** geth's `gasestimator`: without a price in the call it is about the limit of a block or of the node, never about money. */
const OUT_OF_GAS = /gas required exceeds (the )?allowance|gas limit is too low|exceeds the gas cap/i

/** Only as the node's own sentence, from its beginning: a contract may say anything when it reverts. */
const INSUFFICIENT_FUNDS =
  /^(err: |failed with \d+ gas: |rpc error: .*desc = )?(insufficient ?(sender ?)?(funds|balance)|(transaction )?up-?front cost .*exceeds|sender doesn't have enough|EVM error:? OutOfFunds?)/i

/** The node lacks the state on which it would run. */
const NO_STATE = /missing trie node|state .*(not|un)available|no state|world state/i

/**
 * How nodes say that the code itself came to a bad end (`core/vm/errors.go` of geth). Anvil and Reth write "EVM error" and the name of
 * the halt.
 */
const HALTS = [
  /revert|EVM error|out of ?gas|opcode|FEOpcode/i,
  /stack ?(underflow|overflow|limit)|invalid jump|bad jump|return data out of bounds|write protection/i,
  /contract address collision|CreateCollision|code size|invalid code|starting with 0xef/i,
  /gas uint64 overflow|init ?code|nonce uint64 overflow|max call depth|insufficient balance for transfer/i,
]

/** Reads an error of a simulation. The contract's own words come first: in them stands whatever its author, or its caller, likes. */
export function readSimulationError(reply: Extract<RpcReply, { kind: 'error' }>): SimulationError {
  const { code, message, data } = reply
  if (code === 3 || REVERTED.test(message) || holdsBytes(data)) return 'reverted'
  if (OUT_OF_GAS.test(message)) return 'out_of_gas'
  if (INSUFFICIENT_FUNDS.test(message)) return 'insufficient_funds'
  if (!isDefinitive(reply) || NO_STATE.test(message)) return 'unavailable'
  return HALTS.some((halt) => halt.test(message)) ? 'reverted' : 'unclear'
}

/** Only code returns bytes. Besu and Nethermind give them with -32015 and words of their own. */
function holdsBytes(data: unknown): boolean {
  const text = typeof data === 'string' ? data.replace(/^Reverted /, '') : undefined
  return text !== undefined && isHex(text) && size(text) > 0
}
