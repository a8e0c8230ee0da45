import { concatHex, decodeEventLog, type Hex, hexToBigInt, numberToHex, parseAbi, size, slice } from 'viem'
import { isRecord, NodeError, type Rpc, Unavailable } from '../../shared/host.ts'
import type { Elsewhere, Outcome, OwnTransaction } from '../scheme.ts'
import { type EvmPayment, isNonceUsed, isSame, nonceCall } from './payment.ts'
import { withoutPermit } from './permit2.ts'

const EVENTS = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
])

/** `AuthorizationUsed(address,bytes32)` */
const AUTHORIZATION_USED = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5'

/** `AuthorizationCanceled(address,bytes32)` */
const AUTHORIZATION_CANCELED = '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81'

/** `Transfer(address,address,uint256)` */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

interface Receipt {
  readonly status: unknown
  readonly blockNumber: Hex
  readonly logs: unknown
}

/** Reads the receipt of a transaction; undefined if no block has it. */
export async function receiptOf(hash: string, rpc: Rpc): Promise<Receipt | undefined> {
  const receipt = await rpc<unknown>('eth_getTransactionReceipt', [hash])
  if (!isRecord(receipt) || typeof receipt.blockNumber !== 'string') return undefined
  return { status: receipt.status, blockNumber: receipt.blockNumber as Hex, logs: receipt.logs }
}

/**
 * Reads from the receipt of the relayer's own transaction, which makes this payment alone, if the payment was
 * made in it.
 */
export async function evmOutcome(payment: EvmPayment, hash: string, rpc: Rpc): Promise<Outcome> {
  const receipt = await receiptOf(hash, rpc)
  if (receipt === undefined || !(receipt.status === '0x1' || receipt.status === '0x0')) return 'unknown'
  return receipt.status === '0x1' && eventsOf(payment, receipt.logs).some(isTransferOf(payment))
    ? 'paid'
    : 'failed'
}

/**
 * Finds out if somebody else made the payment: an authorization can be sent by everyone who has seen it, and
 * then the relayer's own transaction reverts although the payee has the tokens. The chain's state decides
 * first, because a node may know no logs of so many blocks; what it does not answer is unknown.
 */
export async function evmElsewhere(payment: EvmPayment, own: OwnTransaction, rpc: Rpc): Promise<Elsewhere> {
  try {
    const receipt = own.hash === undefined ? undefined : await receiptOf(own.hash, rpc)
    const state = await readState(nonceCall(payment), rpc)
    if (state === undefined) return { kind: 'unknown' }
    const used = isNonceUsed(payment, state.word)
    if (used === false) {
      const least = receipt === undefined ? own.since / 1000 : await timeOf(receipt.blockNumber, rpc)
      // A node that is behind does not know yet what happened in that block.
      return { kind: state.seconds >= least ? 'unpaid' : 'unknown' }
    }
    const last = receipt?.blockNumber ?? (await rpc<Hex>('eth_blockNumber', []))
    const logs = await searchLogs(payment, { last: hexToBigInt(last), since: own.since / 1000 }, rpc)
    return await judgeLogs(payment, { logs, own: own.hash, isCertain: used === undefined }, rpc)
  } catch (error) {
    if (error instanceof NodeError || error instanceof Unavailable) return { kind: 'unknown' }
    throw error
  }
}

/**
 * Reads a word of a contract together with the time of the block that it is as of: a node executes the
 * creation of a contract that asks, and returns the two in place of its code. Block numbers would not do,
 * because some rollups tell those of the chain below.
 */
async function readState({ to, data }: { readonly to: Hex; readonly data: Hex }, rpc: Rpc) {
  const length = numberToHex(size(data), { size: 1 })
  // CODECOPY of the call behind this code; STATICCALL; stores TIMESTAMP, success, the word, RETURNDATASIZE;
  // RETURN.
  const code = concatHex([
    concatHex(['0x60', length, '0x6036600039', '0x602060a060', length, '0x600073', to]),
    '0x5afa6080523d60c0524260605260806060f3',
    data,
  ])
  const answer = await rpc<Hex>('eth_call', [{ data: code }, 'latest'])
  if (size(answer) !== 128) return undefined
  const [seconds, ok, word, bytes] = [0, 32, 64, 96].map((at) => hexToBigInt(slice(answer, at, at + 32)))
  return { seconds: Number(seconds), word: ok === 1n && bytes === 32n ? word : undefined }
}

async function timeOf(block: Hex, rpc: Rpc): Promise<number> {
  const found = await rpc<unknown>('eth_getBlockByNumber', [block, false])
  if (!isRecord(found) || typeof found.timestamp !== 'string')
    throw new Unavailable('The node has no such block.')
  return Number(found.timestamp)
}

/** Blocks of one query. Nodes limit the range, some to ten blocks: then the next number is tried. */
const RANGES = [1000n, 100n, 10n, 1n]

/** Queries of one search. What lies further back is unknown. */
const MAX_QUERIES = 40

/** Seconds by which the clocks of this machine and of the chain may differ. */
const CLOCK_SECONDS = 120

interface Searched {
  /** The logs that name the payment, and whether all blocks since its acceptance were searched. */
  readonly hashes: readonly Hex[]
  readonly isComplete: boolean
}

/**
 * Searches blocks from `last` back to the time of the acceptance; ends with the first ones that have
 * something.
 */
async function searchLogs(
  payment: EvmPayment,
  { last, since }: { readonly last: bigint; readonly since: number },
  rpc: Rpc,
): Promise<Searched> {
  const { asset, payer, payee, nonce } = payment
  const word = (value: Hex) => numberToHex(BigInt(value), { size: 32 })
  const topics =
    payment.method === 'eip3009'
      ? [[AUTHORIZATION_USED, AUTHORIZATION_CANCELED], word(payer), numberToHex(nonce, { size: 32 })]
      : [TRANSFER, word(payer), word(payee)]
  let [end, range] = [last, 0]
  for (let queries = 0; queries < MAX_QUERIES; queries += 1) {
    const blocks = RANGES[range]
    if (blocks === undefined) break
    const first = end >= blocks ? end - blocks + 1n : 0n
    const query = { address: asset, topics, fromBlock: numberToHex(first), toBlock: numberToHex(end) }
    const logs = await rpc<unknown>('eth_getLogs', [query]).catch((error: unknown) => {
      if (error instanceof NodeError) return undefined
      throw error
    })
    if (!Array.isArray(logs)) {
      range += 1
      continue
    }
    const hashes = logs.filter(isRecord).map(({ transactionHash }) => transactionHash as Hex)
    if (hashes.length > 0) return { hashes: [...new Set(hashes)], isComplete: true }
    if (first === 0n || (await timeOf(numberToHex(first), rpc)) < since - CLOCK_SECONDS)
      return { hashes: [], isComplete: true }
    end = first - 1n
  }
  return { hashes: [], isComplete: false }
}

async function judgeLogs(
  payment: EvmPayment,
  {
    logs,
    own,
    isCertain,
  }: { readonly logs: Searched; readonly own: string | undefined; readonly isCertain: boolean },
  rpc: Rpc,
): Promise<Elsewhere> {
  for (const hash of logs.hashes) {
    const verdict =
      payment.method === 'eip3009'
        ? await authorizedIn(payment, hash, rpc)
        : await permittedIn(payment, hash, rpc)
    if (verdict === 'paid') return { kind: 'paid', hash }
    // The relayer's own transaction did not pay, so if it is the one that used the nonce, no other did.
    if (verdict === 'failed' || hash === own) return { kind: 'unpaid' }
  }
  // No log in any block, and no state that says otherwise.
  return { kind: logs.isComplete && isCertain && logs.hashes.length === 0 ? 'unpaid' : 'unknown' }
}

/**
 * Decides what an authorization moved in a transaction that may contain more: a payer can sign the same nonce
 * for somebody else, and put that and another payment to this payee into one transaction. Tokens tell the
 * transfer right after the use; where one does not, no other may be in it.
 */
async function authorizedIn(payment: EvmPayment, hash: Hex, rpc: Rpc): Promise<Outcome> {
  const receipt = await receiptOf(hash, rpc)
  if (receipt?.status !== '0x1') return 'unknown'
  const events = eventsOf(payment, receipt.logs)
  if (events.some(isOf(payment, 'AuthorizationCanceled'))) return 'failed'
  const at = events.findIndex(isOf(payment, 'AuthorizationUsed'))
  if (at < 0) return 'unknown'
  const ofPayer = events.filter((event) =>
    isSame(event.eventName === 'Transfer' ? event.args.from : event.args.authorizer, payment.payer),
  )
  const next = events[at + 1]
  const isAlone = ofPayer.length === 2 && ofPayer.some(isTransferOf(payment))
  if (isAlone || (next?.eventName === 'Transfer' && isTransferOf(payment)(next))) return 'paid'
  return next?.eventName === 'Transfer' && isSame(next.args.from, payment.payer) ? 'failed' : 'unknown'
}

/** A permit leaves no log of its nonce, so only the very call counts, with or without an approval. */
async function permittedIn({ move }: EvmPayment, hash: Hex, rpc: Rpc): Promise<Outcome> {
  const transaction = await rpc<unknown>('eth_getTransactionByHash', [hash])
  if (!isRecord(transaction)) return 'unknown'
  const [to, input] = [String(transaction.to), String(transaction.input)]
  const isCall = isSame(to, move.to) && isSame(withoutPermit(to, input), move.data)
  return isCall && (await receiptOf(hash, rpc))?.status === '0x1' ? 'paid' : 'unknown'
}

/**
 * Reads from the receipt of a transaction of the relayer that asks an account to pay, if that account paid.
 * Code of the account may settle an authorization by EIP-3009 in there instead, which is another payment, so
 * the transfers that belong to authorizations do not count.
 */
export async function transferOutcome(payment: Transfer, hash: string, rpc: Rpc): Promise<Outcome> {
  const receipt = await receiptOf(hash, rpc)
  if (receipt === undefined || !(receipt.status === '0x1' || receipt.status === '0x0')) return 'unknown'
  if (receipt.status === '0x0') return 'failed'
  const events = eventsOf(payment, receipt.logs)
  const isPayment = isTransferOf(payment)
  const isOfPayer = ({ eventName, args }: TokenEvent) =>
    isSame(eventName === 'Transfer' ? args.from : args.authorizer, payment.payer)
  const payments = events.filter(isPayment).length
  const authorized = events.filter((event, at) => {
    if (event.eventName !== 'AuthorizationUsed' || !isOfPayer(event)) return false
    const next = events[at + 1]
    // Tokens tell the transfer right after the use. Where one does not, it may be any.
    return next?.eventName !== 'Transfer' || !isOfPayer(next) || isPayment(next)
  }).length
  return payments > authorized ? 'paid' : 'failed'
}

/** Reads likewise if the payee got as much from anyone, for whoever does not know the payer any more. */
export async function receiptShows(
  {
    asset,
    payees,
    amount,
  }: { readonly asset: Hex; readonly payees: readonly string[]; readonly amount: bigint },
  hash: string,
  rpc: Rpc,
): Promise<Outcome> {
  const receipt = await receiptOf(hash, rpc)
  if (receipt === undefined || !(receipt.status === '0x1' || receipt.status === '0x0')) return 'unknown'
  const isPaid = transfersIn(asset, receipt.logs).some(
    ({ to, value }) => value === amount && payees.some((payee) => isSame(payee, to)),
  )
  return receipt.status === '0x1' && isPaid ? 'paid' : 'failed'
}

/** What a transfer is told by. */
export type Transfer = Pick<EvmPayment, 'asset' | 'payer' | 'payee' | 'amount'>

type TokenEvent = NonNullable<ReturnType<typeof eventIn>>

/** Reads the transfers of a token from the logs of a receipt, in their order. */
export function transfersIn(asset: Hex, logs: unknown) {
  return eventsOf({ asset }, logs).flatMap((event) => (event.eventName === 'Transfer' ? [event.args] : []))
}

/** The events of the token, in their order. */
function eventsOf({ asset }: Pick<EvmPayment, 'asset'>, logs: unknown): readonly TokenEvent[] {
  if (!Array.isArray(logs)) return []
  return logs.filter(isRecord).flatMap(({ address, topics, data }) => {
    if (typeof address !== 'string' || !isSame(address, asset)) return []
    return eventIn(topics, data) ?? []
  })
}

function eventIn(topics: unknown, data: unknown) {
  try {
    return decodeEventLog({ abi: EVENTS, topics: topics as [Hex, ...Hex[]], data: data as Hex })
  } catch {
    return undefined
  }
}

/** Returns a test for what became of the authorization of a payment: a nonce is used or canceled once. */
function isOf({ payer, nonce }: EvmPayment, name: 'AuthorizationUsed' | 'AuthorizationCanceled') {
  return ({ eventName, args }: TokenEvent): boolean =>
    eventName === name && isSame(args.authorizer, payer) && hexToBigInt(args.nonce) === nonce
}

function isTransferOf({ payer, payee, amount }: Transfer) {
  return ({ eventName, args }: TokenEvent): boolean =>
    eventName === 'Transfer' && isSame(args.from, payer) && isSame(args.to, payee) && args.value === amount
}
