import { TransactionMeta } from '@stellar/stellar-sdk/xdr'
import { defined } from '../../defined.ts'
import type { Freshness, Receipt, ReceiptAnswer } from '../answer.ts'
import type { PlacedReply, PooledClient, RpcCall } from '../rpc/rpc.ts'
import { ledgerHash } from './head.ts'
import { readInteger } from './integer.ts'
import { fieldsOf, isBehind } from './replies.ts'
import { describeResult, readResult } from './result-words.ts'

/**
 * Receipts in the order of the hashes. A node can say yes from anywhere; no only when it has reached `asOf`, and remembers as
 * far back as `since`.
 */
export async function readReceipts(
  client: PooledClient,
  hashes: readonly string[],
  freshness: Freshness = {},
): Promise<ReceiptAnswer[]> {
  const placed = await client.sendAsOf(hashes.map(receiptCall), freshness.asOf)
  return hashes.map((hash, index) => toReceipt(hash, placed[index], freshness))
}

/**
 * Receipts as all endpoints together know them: `included` when any has one, `none` when at least one can say so and none of
 * those that may know more keeps silent.
 */
export async function readReceiptsEverywhere(
  client: PooledClient,
  hashes: readonly string[],
  freshness: Freshness = {},
): Promise<ReceiptAnswer[]> {
  if (hashes.length === 0) return []
  const answers = await client.sendEverywhere(hashes.map(receiptCall), freshness.asOf)
  return hashes.map((hash, index) => {
    const said = answers.flatMap((placed) => placed[index] ?? [])
    const receipts = said.map((placed) => toReceipt(hash, placed, freshness))
    const found = receipts.find(({ kind }) => kind === 'included')
    if (found) return found
    // Who is behind, or remembers too little, has no say; who did not answer might have said yes.
    const counting = receipts.filter(({ kind }, at) => kind === 'none' || said[at]?.reply.kind !== 'result')
    const agreed = counting.length > 0 && counting.every(({ kind }) => kind === 'none')
    return agreed ? { kind: 'none' } : { kind: 'unknown' }
  })
}

function receiptCall(hash: string): RpcCall {
  return { method: 'getTransaction', params: { hash } }
}

function toReceipt(hash: string, placed: PlacedReply | undefined, { asOf, since }: Freshness): ReceiptAnswer {
  const fields = fieldsOf(placed?.reply)
  if (fields.kind !== 'ok') return { kind: 'unknown' }
  const { value } = fields
  if (value.status === 'NOT_FOUND') {
    const knows = placed?.behind === false && !isBehind(value, asOf) && remembers(value, since)
    return { kind: knows ? 'none' : 'unknown' }
  }
  const receipt = readReceipt(hash, value)
  return receipt === undefined ? { kind: 'unknown' } : { kind: 'included', receipt }
}

/** A node keeps ledgers for some time only (a day, a week); what is older it does not find, whatever happened. */
function remembers(
  { oldestLedgerCloseTime }: Readonly<Record<string, unknown>>,
  since: Date | undefined,
): boolean {
  if (since === undefined) return true
  const oldest = readInteger(oldestLedgerCloseTime)
  return oldest !== undefined && Number(oldest) * 1_000 <= since.getTime()
}

/** What a ledger holds is final: nothing comes after it that could undo it (SCP). */
function readReceipt(hash: string, fields: Readonly<Record<string, unknown>>): Receipt | undefined {
  const { status, ledger, resultXdr, resultMetaXdr } = fields
  const number = readInteger(ledger)
  if (number === undefined || (status !== 'SUCCESS' && status !== 'FAILED')) return undefined
  const result = readResult(resultXdr)
  return {
    hash,
    blockNumber: number,
    blockHash: ledgerHash(number),
    success: status === 'SUCCESS',
    final: true,
    ...(status === 'FAILED' && result !== undefined ? { failure: describeResult(result) } : {}),
    result: defined({
      feeCharged: result?.feeCharged,
      resultXdr: typeof resultXdr === 'string' ? resultXdr : undefined,
      returnValueXdr: returnValueOf(resultMetaXdr),
    }),
  }
}

/** What a smart contract returned: protocol 20 to 22 tell it in version 3 of the meta data, later ones in version 4. */
function returnValueOf(base64: unknown): string | undefined {
  if (typeof base64 !== 'string') return undefined
  try {
    const meta = TransactionMeta.fromXdr(base64, 'base64')
    const soroban = meta.type === 'v3' ? meta.v3.sorobanMeta : meta.type === 'v4' ? meta.v4.sorobanMeta : null
    return soroban?.returnValue?.toXdr('base64')
  } catch {
    return undefined // Meta data of a later protocol than the SDK knows: the inclusion counts all the same.
  }
}
