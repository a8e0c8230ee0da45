import { decodeEventLog, type Hex, hexToBigInt, numberToHex, parseAbi } from 'viem'
import { isRecord, NodeError, type Rpc } from '../../shared/host.ts'
import type { Outcome } from '../scheme.ts'
import { type EvmPayment, isSame } from './payment.ts'

const EVENTS = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
])

/** `AuthorizationUsed(address,bytes32)` */
const AUTHORIZATION_USED = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5'

/** Blocks in which to look for a payment that someone else sent; nodes limit the range of a query. */
const SEARCHED_BLOCKS = 1000n

/** Reads from the receipt of a transaction if the payment was made in it. */
export async function evmOutcome(payment: EvmPayment, hash: string, rpc: Rpc): Promise<Outcome> {
  const receipt = await rpc<unknown>('eth_getTransactionReceipt', [hash])
  if (!isRecord(receipt)) return 'unknown'
  return receipt.status === '0x1' && hasTransfer(payment, receipt.logs) ? 'paid' : 'failed'
}

/**
 * Looks for a transaction of someone else that made the payment: an authorization can be sent by everyone who has seen it, and then
 * the relayer's own transaction reverts although the payee has the tokens. Returns its hash.
 */
export async function paidByOthers(payment: EvmPayment, rpc: Rpc): Promise<string | undefined> {
  if (payment.method !== 'eip3009') return undefined
  const newest = hexToBigInt(await rpc<Hex>('eth_blockNumber', []))
  const fromBlock = numberToHex(newest > SEARCHED_BLOCKS ? newest - SEARCHED_BLOCKS : 0n)
  const topics = [
    AUTHORIZATION_USED,
    numberToHex(BigInt(payment.payer), { size: 32 }),
    numberToHex(payment.nonce, { size: 32 }),
  ]
  const query = { address: payment.asset, topics, fromBlock, toBlock: 'latest' }
  const logs = await rpc<unknown>('eth_getLogs', [query]).catch((error: unknown) => {
    // A node without logs of so many blocks knows no such transaction.
    if (error instanceof NodeError) return []
    throw error
  })
  const used = Array.isArray(logs) ? logs.find(isRecord) : undefined
  const hash = used?.transactionHash
  if (typeof hash !== 'string') return undefined
  return (await evmOutcome(payment, hash, rpc)) === 'paid' ? hash : undefined
}

function hasTransfer({ asset, payer, payee, amount }: EvmPayment, logs: unknown): boolean {
  if (!Array.isArray(logs)) return false
  return logs.filter(isRecord).some(({ address, topics, data }) => {
    if (typeof address !== 'string' || !isSame(address, asset)) return false
    try {
      const { eventName, args } = decodeEventLog({
        abi: EVENTS,
        topics: topics as [Hex, ...Hex[]],
        data: data as Hex,
      })
      return (
        eventName === 'Transfer' &&
        isSame(args.from, payer) &&
        isSame(args.to, payee) &&
        args.value === amount
      )
    } catch {
      return false
    }
  })
}
