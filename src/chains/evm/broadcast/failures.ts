import type { BroadcastResult } from '../../answer.ts'
import type { RpcReply } from '../../rpc/rpc.ts'

type Meaning = Exclude<BroadcastResult['kind'], 'unknown'>

/**
 * Error messages of `eth_sendRawTransaction` and their meanings. The first row that matches decides, so narrow phrases stand first. The
 * wordings are those of geth, Erigon, Nethermind, Besu, Reth, Arbitrum Nitro, the OP stack, zkSync and anvil.
 */
const PHRASES: readonly (readonly [RegExp, Meaning])[] = [
  // The node has the same bytes already: success.
  [
    /already known|already imported|(?<!un)known transaction|already in (the )?mempool|AlreadyKnown/i,
    'accepted',
  ],
  [/existing tx with same hash|tx already exists/i, 'accepted'],
  // The chain, or the pool, is past this nonce.
  [/nonce (is )?too low|OldNonce|nonce has already been used|nonce.{0,20}lower than/i, 'nonce_used'],
  // A pool entry with this nonce pays as much or more.
  [
    /replacement transaction underpriced|ReplacementNotAllowed|could not replace existing|replacement.*underpriced/i,
    'underpriced',
  ],
  [/another transaction with (the )?same nonce/i, 'underpriced'],
  // A node may accept it at another price.
  [
    /(less|lower) than (the )?block base fee|fee ?cap.*(less|lower).*base ?fee|below (the )?current base fee|FeeTooLow/i,
    'too_cheap',
  ],
  [
    /transaction underpriced|minimal gas price|gas price (is )?(below|too low)|\binsufficient fee\b/i,
    'too_cheap',
  ],
  // geth's `--rpc.txfeecap` is a setting of one endpoint.
  [/exceeds the configured cap/i, 'too_dear'],
  // A node that has not reached a fork does not know its features (geth's `core/txpool/validation.go`).
  [/not yet in \w+/i, 'later'],
  // The node cannot accept the bytes now and may accept them later.
  [
    /nonce (is )?too high|NonceGap|nonce too far in the future|exceeds next nonce|tx-nonce-too-high/i,
    'later',
  ],
  [/insufficient funds|InsufficientFunds|upfront cost exceeds|sender doesn't have enough|overshot/i, 'later'],
  [/txpool is full|pool is full|pool limit|too many (pending|transactions)|account limit exceeded/i, 'later'],
  [/rate limit|too many requests|limit exceeded|request timed out|timeout|internal error/i, 'later'],
  [
    /nonce.{0,20}too (distant|far)|NonceTooFar|gapped-nonce|lower nonce exists|future transaction tries/i,
    'later',
  ],
  [/in-flight transaction limit|address already reserved|PendingTxsOfConflictingType|Syncing/i, 'later'],
  [/would cause overdraft/i, 'later'],
  // A node may accept it with another gas limit: the demand grows with the price of L1 data (Arbitrum), and caps change.
  [
    /intrinsic gas|floor data gas|gas limit (reached|(is )?too high)|exceeds.*gas limit|GasLimitExceeded|exceeds limit for gas/i,
    'gas_limit',
  ],
  // No node will ever accept these bytes.
  [/oversized data|max initcode|init ?code size|invalid (sender|signature|chain ?id)/i, 'refused'],
  [/(tx|transaction) type (\S+ )?not supported|NotSupportedTxType|only replay-protected/i, 'refused'],
  [/init ?code too large|MaxTxSizeExceeded|(rlp|transaction) too (long|large|big)/i, 'refused'],
  [/not an eoa|SenderIsContract|FailedToResolveSender|nonce has max value/i, 'refused'],
  [/uint64 overflow|Int256Overflow|higher than 2\^/i, 'refused'],
  // A proxy also says "decode" about the node behind it, which tells nothing about our bytes.
  [
    /max priority fee.*(higher than|exceeds) max fee|tip above fee cap|\brlp\b|decode (signed |raw )?transaction/i,
    'refused',
  ],
]

/** Reads a reply to `eth_sendRawTransaction`. An unknown error is `later`: it is no reason to give up. */
export function readBroadcast(reply: RpcReply): BroadcastResult {
  if (reply.kind === 'result') return { kind: 'accepted' }
  if (reply.kind === 'unknown') return reply
  // Some endpoints simulate first, and the author of a contract chooses the words of its revert.
  if (reply.code === 3 || /execution reverted/i.test(reply.message))
    return { kind: 'later', detail: reply.message }
  const side = sideOfNonce(reply.message)
  if (side !== undefined) return { kind: side, detail: reply.message }
  const row = PHRASES.find(([phrase]) => phrase.test(reply.message))
  if (row)
    return row[1] === 'accepted' ? { kind: 'accepted', known: true } : { kind: row[1], detail: reply.message }
  return { kind: 'later', detail: reply.message }
}

/**
 * Ethermint and zkSync say "incorrect account sequence" or "invalid nonce" for nonces that are too low and too high; only the numbers tell
 * which one it is. Returns undefined without numbers.
 */
function sideOfNonce(message: string): 'nonce_used' | 'later' | undefined {
  if (!/nonce|sequence/i.test(message)) return undefined
  const [, expectedFirst, gotLast] =
    /expected (?:nonce to be )?(\d+),? (?:but )?got (\d+)/i.exec(message) ?? []
  const [, gotFirst, expectedLast] = /got (\d+),? expected (\d+)/i.exec(message) ?? []
  const [expected, got] = [expectedFirst ?? expectedLast, gotLast ?? gotFirst]
  if (expected === undefined || got === undefined || got === expected) return undefined
  return BigInt(got) < BigInt(expected) ? 'nonce_used' : 'later'
}
