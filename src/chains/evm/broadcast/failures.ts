import type { BroadcastResult } from '../../answer.ts'
import type { RpcReply } from '../../rpc/rpc.ts'

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
  [/existing tx with same hash|tx already exists/i, 'accepted'],
  // The chain, or the pool, is past this nonce.
  [/nonce (is )?too low|OldNonce|nonce has already been used|nonce.{0,20}lower than/i, 'nonce_used'],
  // A pool entry with this nonce pays as much or more.
  [
    /replacement transaction underpriced|ReplacementNotAllowed|could not replace existing|replacement.*underpriced/i,
    'underpriced',
  ],
  [/another transaction with (the )?same nonce/i, 'underpriced'],
  // At another price it may be taken.
  [
    /(less|lower) than (the )?block base fee|fee ?cap.*(less|lower).*base ?fee|below (the )?current base fee|FeeTooLow/i,
    'too_cheap',
  ],
  [
    /transaction underpriced|minimal gas price|gas price (is )?(below|too low)|\binsufficient fee\b/i,
    'too_cheap',
  ],
  // geth's `--rpc.txfeecap`, a setting of one endpoint.
  [/exceeds the configured cap/i, 'too_dear'],
  // A node that stands before a fork knows nothing of what came with it (geth's `core/txpool/validation.go`).
  [/not yet in \w+/i, 'later'],
  // Cannot be taken now, may be later; the bytes stay as they are.
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
  // With another gas limit it may be taken: what is demanded grows with the price of L1 data (Arbitrum), and caps move.
  [
    /intrinsic gas|floor data gas|gas limit (reached|(is )?too high)|exceeds.*gas limit|GasLimitExceeded|exceeds limit for gas/i,
    'gas_limit',
  ],
  // Will never be taken like this.
  [/oversized data|max initcode|init ?code size|invalid (sender|signature|chain ?id)/i, 'refused'],
  [/(tx|transaction) type (\S+ )?not supported|NotSupportedTxType|only replay-protected/i, 'refused'],
  [/init ?code too large|MaxTxSizeExceeded|(rlp|transaction) too (long|large|big)/i, 'refused'],
  [/not an eoa|SenderIsContract|FailedToResolveSender|nonce has max value/i, 'refused'],
  [/uint64 overflow|Int256Overflow|higher than 2\^/i, 'refused'],
  // "Decode" alone is also what a proxy says about the node behind it, which tells nothing of our bytes.
  [
    /max priority fee.*(higher than|exceeds) max fee|tip above fee cap|\brlp\b|decode (signed |raw )?transaction/i,
    'refused',
  ],
]

/** Reads a reply to `eth_sendRawTransaction`. An error that nobody has seen before is `later`: never a reason to give up. */
export function readBroadcast(reply: RpcReply): BroadcastResult {
  if (reply.kind === 'result') return { kind: 'accepted' }
  if (reply.kind === 'unknown') return reply
  // Endpoints that simulate first: in the words of a contract stands whatever its author likes.
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
 * Ethermint and zkSync say "incorrect account sequence" or "invalid nonce" for both sides; only the numbers tell whether
 * the nonce is used or has to wait. Undefined when there are none.
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
