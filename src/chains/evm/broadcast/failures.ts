import type { BroadcastResult } from '../../answer.ts'
import type { RpcReply } from '../../rpc/rpc.ts'
import { wordsOf } from '../prepare/revert.ts'

type Meaning = Exclude<BroadcastResult['kind'], 'unknown'>

/**
 * Error messages of `eth_sendRawTransaction` and their meanings. The first row that matches decides, so
 * narrow phrases come first. Only what is about the nonce, about funds, or about room in the pool may wait as
 * `later`: everything else that may pass is `unclear`, so that a comparison with a no-op ends what the words
 * only call temporary. The wordings are those of geth and its relatives, Erigon, Nethermind, Besu with the
 * plugins of Linea, Reth and revm, Arbitrum Nitro, the OP stack, Avalanche, zkSync, and anvil;
 * `test/chains/evm/node-texts.ts` has each with its source.
 */
const PHRASES: readonly (readonly [RegExp, Meaning])[] = [
  // The node has the same bytes already: success.
  [
    /already ?known|already ?imported|(?<!un)known transaction|already in (the )?mempool|existing txn? with same hash|tx already exists/i,
    'accepted',
  ],
  // These are about the nonces of authorizations (EIP-7702), or about a transaction that is just arriving,
  // and not about this nonce.
  [/authority nonce/i, 'refused'],
  [/insertion of another transaction/i, 'unclear'],
  [/authority already reserved|delegation (nonce gap|authority)/i, 'later'],
  // BSC keeps it in the pool for what does not fit into the first one.
  [/either in pool2 or pool3/i, 'later'],
  // The chain, or the pool, is past this nonce.
  [
    /nonce (\d+ )?(is )?too low|OldNonce|nonce has already been used|nonce.{0,20}lower than|nonce \d+ below|already finalized|^mined$|Pool\(Stale\)/i,
    'nonce_used',
  ],
  // A pool entry with this nonce pays as much or more.
  [
    /replacement transaction underpriced|ReplacementNotAllowed|could not replace existing|replacement.*underpriced|OwnNonceAlreadyUsed/i,
    'underpriced',
  ],
  [
    /another (transaction|tx) (with|which has) (the )?same nonce|replaced by transaction with higher tip|TooLowPriority/i,
    'underpriced',
  ],
  // A node may accept it at another price.
  [
    /(less|lower) than (the )?((block|current) )?base ?fee|fee ?cap.*(less|lower).*base ?fee|below (the )?current base ?fee/i,
    'too_cheap',
  ],
  [/fee ?too ?low|minimum required priority fee|unacceptable gas price|\binsufficient fee\b/i, 'too_cheap'],
  [
    /transaction underpriced|^underpriced$|minimal gas price|gas ?price .{0,40}(below|too low)|less than gas price minimum/i,
    'too_cheap',
  ],
  // geth's `--rpc.txfeecap`, and its relatives, are settings of one endpoint.
  [/exceeds the configured cap|transaction fee cap exceeded/i, 'too_dear'],
  // A node that has not reached a fork does not know its features (geth's `core/txpool/validation.go`).
  [/not yet in \w+|not activated yet/i, 'unclear'],
  // Limits on the content: no node of the network will ever accept it.
  [/(length|size) limit exceeded/i, 'refused'],
  // The node cannot accept the bytes now and may accept them later.
  [
    /nonce (\d+ )?(is )?too high|NonceGap|nonce too far in (the )?future|exceeds next nonce|tx-nonce-too-high|nonce.{0,20}higher than/i,
    'later',
  ],
  [
    /nonce \d+ does not match|nonce.{0,20}too (distant|far)|NonceTooFar|gapped-nonce|lower nonce exists/i,
    'later',
  ],
  [
    /insufficient ?funds|insufficient balance for|INSUFFICIENT_PAYER_BALANCE|lack of funds|not enough (funds|balance)|would cause overdraft/i,
    'later',
  ],
  [/up-?front cost .*exceeds|sender doesn't have enough|overshot|InvalidTransaction::Payment/i, 'later'],
  [
    /(pool|queue) (is )?full|pool limit|too many (pending|transactions)|account limit exceeded|ImmediatelyDropped|^spammer$/i,
    'later',
  ],
  [/future transaction tries|in-flight transaction limit|address already reserved/i, 'later'],
  [/PendingTxsOfConflictingType|transaction type conflict/i, 'later'],
  // The endpoint cannot take anything now, or says so.
  [
    /rate limit|too many requests|(?<!gas )limit exceeded|shutting down|sync is still in progress|Syncing/i,
    'unclear',
  ],
  // A node may accept it with another gas limit: the demand grows with the price of L1 data (Arbitrum), and
  // caps change.
  [
    /intrinsic ?gas|floor data gas|gas floor|gas limit (reached|exceeded|(is )?too (high|big))|exceeds.*gas limit|GasLimitExceeded|exceeds limit for gas/i,
    'gas_limit',
  ],
  [
    /gas ?limit ?cap ?exceeded|gas limit must be at most|gas limit .*(greater|higher) than|insufficient gas limit|not enough gas (to|for)/i,
    'gas_limit',
  ],
  // No node will ever accept these bytes.
  [
    /oversized data|max initcode|init ?code size|invalid (sender|(transaction )?signature|chain ?id)/i,
    'refused',
  ],
  [/(tx|transaction) type (\S+ )?not supported|NotSupportedTxType|unsupported transaction type/i, 'refused'],
  [/transaction type .* is (invalid|not supported)|only replay-protected|list not supported/i, 'refused'],
  [/init ?code too large|MaxTxSizeExceeded|(rlp|transaction) ?too ?(long|large|big)/i, 'refused'],
  [
    /not an eoa|SenderIsContract|deployed code|FailedToResolveSender|recover sender|nonce has max value/i,
    'refused',
  ],
  [/uint ?(64 )?overflow|Int256Overflow|cost overflow|higher than 2\^/i, 'refused'],
  [
    /calldata of transaction is greater than|line count for module .* is above the limit|^recipient \S+ is blocked|^contract deployer address \S+ is not/i,
    'refused',
  ],
  [/counters to continue the execution/i, 'refused'],
  // A proxy also says "decode" about the node behind it, which says nothing about our bytes.
  [
    /priority fee.*(higher than|exceeds|greater than) max fee|MaxPriorityFeePerGas: Cannot|tip above fee cap|\brlp\b|decode (signed |raw )?transaction/i,
    'refused',
  ],
]

/**
 * Reads a reply to `eth_sendRawTransaction`. The text counts, not the code: zkSync returns the code of a
 * revert for every error. An unknown error is `unclear`: it is no reason to give up. So is a revert, as some
 * endpoints simulate first: the author of a contract chooses its text, and it may succeed in the next block.
 */
export function readBroadcast(reply: RpcReply): BroadcastResult {
  if (reply.kind === 'result') return { kind: 'accepted' }
  if (reply.kind === 'unknown') return reply
  const detail = wordsOf(reply)
  if (/execution reverted/i.test(detail)) return { kind: 'unclear', detail }
  const kind = sideOfNonce(detail) ?? PHRASES.find(([phrase]) => phrase.test(detail))?.[1] ?? 'unclear'
  return kind === 'accepted' ? { kind, known: true } : { kind, detail }
}

/**
 * Returns the text of a refusal that no row of the table knows; undefined for every other reply, and for a
 * revert.
 */
export function unknownTextOf(reply: RpcReply): string | undefined {
  if (reply.kind !== 'error') return undefined
  const detail = wordsOf(reply)
  const isKnown = /execution reverted/i.test(detail) || PHRASES.some(([phrase]) => phrase.test(detail))
  return isKnown || sideOfNonce(detail) !== undefined ? undefined : detail
}

/**
 * Ethermint and zkSync say "incorrect account sequence" or "invalid nonce" for nonces that are too low and
 * too high; only the numbers show which one it is. Returns undefined without numbers.
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
