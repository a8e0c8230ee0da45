import { setImmediate as endOfTurn } from 'node:timers/promises'
import type { EmittedIn, EvmLog, StellarEvent } from '../../chains/answer.ts'
import type { Attempt } from '../../chains/attempt.ts'
import type { Chain } from '../../chains/chain.ts'
import { FAMILIES } from '../../chains/families.ts'
import type { Schemas } from '../../contract/operations.ts'
import type { Db } from '../../database/db.ts'
import { omitUndefined } from '../../lib/object.ts'
import { findEvents, type RegisteredEvents } from '../../relayers/interfaces/interfaces-store.ts'
import type { Transaction } from '../../transactions/model/transaction.ts'

/**
 * The block that includes the attempt of an EVM transaction, and the price of it; undefined while no block
 * does, or no node reported it.
 */
export function presentEvmReceipt(
  { block }: Transaction,
  shown: Attempt | undefined,
): Schemas['EvmReceipt'] | undefined {
  const { gasUsed, gasPrice, feeCharged, l1Fee, operatorFee } = shown?.result ?? {}
  if (block === undefined || shown === undefined || gasUsed === undefined) return undefined
  return omitUndefined({
    transaction_hash: shown.signed.hash,
    block_number: block.number,
    block_hash: block.hash,
    block_time: block.time?.toISOString(),
    gas_used: gasUsed,
    effective_gas_price: gasPrice?.toString(),
    fee: feeCharged?.toString(),
    l1_fee: l1Fee?.toString(),
    operator_fee: operatorFee?.toString(),
  })
}

/** The same on Stellar. */
export function presentStellarReceipt(
  { block }: Transaction,
  shown: Attempt | undefined,
): Schemas['StellarReceipt'] | undefined {
  if (block === undefined || shown === undefined) return undefined
  const { appliedHash, feeCharged, feeAccount } = shown.result ?? {}
  return omitUndefined({
    transaction_hash: appliedHash ?? shown.signed.hash,
    ledger: block.number,
    ledger_time: block.time?.toISOString(),
    fee_charged: feeCharged,
    fee_account: feeAccount,
  })
}

/** The same on Solana. */
export function presentSolanaReceipt(
  { block }: Transaction,
  shown: Attempt | undefined,
): Schemas['SolanaReceipt'] | undefined {
  if (block === undefined || shown?.draft.type !== 'solana') return undefined
  return omitUndefined({
    transaction_signature: shown.signed.hash,
    // Nodes write slots as JSON numbers, and the service reads no rounded ones.
    slot: Number(block.number),
    block_time: block.time?.toISOString(),
    compute_units: shown.result?.computeUnits,
    fee: FAMILIES.solana.content.paidFee(shown, shown.sourceAccount),
  })
}

interface ReceiptParts {
  readonly db: Db
  readonly chain: Pick<Chain, 'contractCalls' | 'canonicalAddress'>
  /** The transaction as the contract shows it, which has a receipt. */
  readonly transaction: Schemas['Transaction']
  readonly told: EmittedIn
}

/**
 * The receipt of a record with what its transaction emitted. Undefined for a transaction without a receipt.
 */
export async function presentEmitted({
  db,
  chain,
  transaction,
  told: { emitted, success, truncated },
}: ReceiptParts): Promise<Schemas['TransactionReceipt'] | undefined> {
  const common = { transaction_id: transaction.id, succeeded: success, truncated }
  if (transaction.network_type === 'evm' && emitted.type === 'evm' && transaction.receipt) {
    const logs = await presentLogs({ db, chain, relayerId: transaction.relayer_id }, emitted.logs)
    return {
      ...common,
      network_type: 'evm',
      receipt: transaction.receipt,
      logs: logs.shown,
      truncated: truncated || logs.shown.length < emitted.logs.length,
    }
  }
  if (transaction.network_type === 'stellar' && emitted.type === 'stellar' && transaction.receipt) {
    const events = emitted.events.map(presentStellarEvent)
    const shown = { ...common, network_type: 'stellar' as const, receipt: transaction.receipt, events }
    return emitted.returnValue === undefined ? shown : { ...shown, return_value: emitted.returnValue }
  }
  if (transaction.network_type === 'solana' && emitted.type === 'solana' && transaction.receipt) {
    const shown = { ...common, network_type: 'solana' as const, receipt: transaction.receipt }
    return emitted.logs === undefined ? shown : { ...shown, logs: [...emitted.logs] }
  }
  return undefined
}

function presentStellarEvent({ type, contractId, topics, data }: StellarEvent) {
  return omitUndefined({ type, contract_id: contractId, topics: [...topics], data })
}

interface Decoding {
  readonly db: Db
  readonly chain: ReceiptParts['chain']
  readonly relayerId: string
}

/**
 * The most characters of JSON of the logs in one answer, as the contract says: the names of an ABI can be
 * much longer than the logs.
 */
const MAX_CHARACTERS = 262_144

/** The characters of a log besides its content. */
const OF_LOG = 50

/**
 * Decoding goes on for so long before other work has its turn, and in all, in ms. One log takes up to five.
 */
const TURN_MS = 10
const DECODING_MS = 250

/**
 * Decodes the logs by what is registered now. The logs behind the one that is too long, or takes too long,
 * are left out.
 */
async function presentLogs(
  { db, chain, relayerId }: Decoding,
  logs: readonly EvmLog[],
): Promise<{ readonly shown: Schemas['EvmLog'][] }> {
  const addresses = logs.map(({ address }) => chain.canonicalAddress(address))
  const registered = await findEvents(db, relayerId, [...new Set(addresses)])
  const shown: Schemas['EvmLog'][] = []
  let charactersLeft = MAX_CHARACTERS
  let msLeft = DECODING_MS
  let turnBegan = performance.now()
  for (const [index, log] of logs.entries()) {
    const address = addresses[index] ?? log.address
    const { logIndex, topics, data } = log
    const decoded_event = decode(chain, log, registered.get(address))
    const entry = omitUndefined({ log_index: logIndex, address, topics: [...topics], data, decoded_event })
    charactersLeft -= OF_LOG + data.length + JSON.stringify({ address, topics, decoded_event }).length
    const took = performance.now() - turnBegan
    if (charactersLeft < 0 || took > msLeft) break
    shown.push(entry)
    if (took < TURN_MS) continue
    msLeft -= took
    await endOfTurn()
    turnBegan = performance.now()
  }
  return { shown }
}

function decode(
  { contractCalls }: ReceiptParts['chain'],
  log: EvmLog,
  registered: RegisteredEvents | undefined,
): Schemas['DecodedEvent'] | undefined {
  const decoded = contractCalls?.decodeEvent(log, registered?.events)
  if (decoded === undefined) return undefined
  const { event, source, args } = decoded
  const shownArgs = args.map(({ name, type, value }) => ({ name, type, value }))
  return { event, contract_name: registered?.contractName ?? null, source, args: shownArgs }
}
