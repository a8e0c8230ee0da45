import type { BroadcastResult } from '../chain.ts'
import type { RpcReply } from './client.ts'

type Meaning = Exclude<BroadcastResult['kind'], 'unknown'>

/**
 * What nodes say to `eth_sendRawTransaction`, and what it means to us. The first row that fits decides, so the narrow
 * phrases stand first. The wordings are those of geth, Erigon, Nethermind, Besu, Reth, Arbitrum Nitro, the OP stack,
 * zkSync and anvil.
 */
const PHRASES: readonly (readonly [RegExp, Meaning])[] = [
  // The node has these very bytes: success.
  [
    /already known|already imported|(?<!un)known transaction|already in (the )?mempool|AlreadyKnown/i,
    'accepted',
  ],
  // The chain, or the pool, is past this nonce.
  [
    /nonce (is )?too low|OldNonce|nonce has already been used|nonce.{0,20}lower than|invalid nonce; got/i,
    'nonce_used',
  ],
  // A pool entry with this nonce pays as much or more.
  [
    /replacement transaction underpriced|ReplacementNotAllowed|could not replace existing|replacement.*underpriced/i,
    'underpriced',
  ],
  // Cannot be taken now, may be later; the bytes stay as they are.
  [
    /nonce (is )?too high|NonceGap|nonce too far in the future|exceeds next nonce|tx-nonce-too-high/i,
    'later',
  ],
  [/insufficient funds|InsufficientFunds|upfront cost exceeds|sender doesn't have enough|overshot/i, 'later'],
  [/txpool is full|pool is full|pool limit|too many (pending|transactions)|account limit exceeded/i, 'later'],
  [
    /max fee per gas less than block base fee|fee ?cap.*(less|lower).*base ?fee|FeeTooLow|transaction underpriced/i,
    'later',
  ],
  [/rate limit|too many requests|limit exceeded|request timed out|timeout|internal error/i, 'later'],
  // Will never be taken like this.
  [
    /intrinsic gas|floor data gas|gas limit (reached|(is )?too high)|exceeds.*gas limit|GasLimitExceeded/i,
    'refused',
  ],
  [/oversized data|max initcode|init ?code size|invalid (sender|signature|chain ?id)/i, 'refused'],
  [/(tx|transaction) type (\S+ )?not supported/i, 'refused'],
  // "Decode" alone is also what a proxy says about the node behind it, which tells nothing of our bytes.
  [
    /max priority fee.*higher than max fee|tip above fee cap|\brlp\b|decode (signed |raw )?transaction/i,
    'refused',
  ],
]

/** Reads a reply to `eth_sendRawTransaction`. An error that nobody has seen before is `later`: never a reason to give up. */
export function readBroadcast(reply: RpcReply): BroadcastResult {
  if (reply.kind === 'result') return { kind: 'accepted' }
  if (reply.kind === 'unknown') return reply
  const row = PHRASES.find(([phrase]) => phrase.test(reply.message))
  if (row) return row[1] === 'accepted' ? { kind: 'accepted' } : { kind: row[1], detail: reply.message }
  return { kind: 'later', detail: reply.message }
}

/**
 * How nodes say that the code itself came to a bad end. Anvil and Reth write "EVM error" and the name of the halt; geth and
 * its kin name what went wrong. "gas required exceeds allowance" is not here: it is about the account's money.
 */
const HALTS = [
  /revert|EVM error|out of ?gas|opcode|FEOpcode/i,
  /stack ?(underflow|overflow|limit)|invalid jump|bad jump|return data out of bounds|write protection/i,
  /contract address collision|CreateCollision|max code size|code size limit|invalid code|starting with 0xef/i,
]

/** Whether an error of `eth_estimateGas` or `eth_call` is the contract's own refusal, not trouble at the node. */
export function isRevert(reply: RpcReply): boolean {
  if (reply.kind !== 'error') return false
  return reply.code === 3 || HALTS.some((halt) => halt.test(reply.message))
}

/** Whether an error of `eth_estimateGas` says that the account cannot pay. */
export function isInsufficientFunds(reply: RpcReply): boolean {
  return (
    reply.kind === 'error' &&
    /insufficient funds|InsufficientFunds|exceeds allowance|OutOfFund/i.test(reply.message)
  )
}
