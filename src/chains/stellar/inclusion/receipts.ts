import { TransactionMeta } from '@stellar/stellar-sdk/xdr'
import { omitUndefined } from '../../../lib/omit-undefined.ts'
import type { Freshness, Receipt, ReceiptAnswer } from '../../answer.ts'
import type { EndpointReply, PooledClient, RpcCall } from '../../rpc/rpc.ts'
import { ledgerHash } from '../read/head.ts'
import { fieldsOf, isBehind, readInteger } from '../read/replies.ts'
import { describeResult, readResult } from '../read/transaction-result.ts'
import { readFacts } from './hashes.ts'

/** What is asked, and of which network. */
export interface ReceiptQuestion extends Freshness {
  readonly hashes: readonly string[]
  readonly passphrase: string
}

/**
 * Receipts in the order of the hashes. A node can say yes from anywhere; no only when it has reached `asOf`, and remembers as
 * far back as `since`.
 */
export async function readReceipts(
  client: PooledClient,
  { hashes, ...terms }: ReceiptQuestion,
): Promise<ReceiptAnswer[]> {
  const endpointReplies = await client.sendAsOf(hashes.map(receiptCall), terms.asOf)
  return hashes.map((hash, index) => toReceiptAnswer(readLookup(hash, endpointReplies[index], terms)))
}

/**
 * What one endpoint says of a hash. `not_found` is worth something only when the endpoint has reached `asOf` (`reached`) and
 * remembers back to `since` (`remembers`). `silent`: it said nothing that can be read.
 */
export type LookupResult =
  | { readonly kind: 'included'; readonly receipt: Receipt }
  | { readonly kind: 'not_found'; readonly reached: boolean; readonly remembers: boolean }
  | { readonly kind: 'silent' }

/** What a reply is read with. */
export type Terms = Omit<ReceiptQuestion, 'hashes'>

function toReceiptAnswer(result: LookupResult): ReceiptAnswer {
  if (result.kind === 'included') return result
  return { kind: result.kind === 'not_found' && result.reached && result.remembers ? 'none' : 'unknown' }
}

/** Asks whether a ledger holds a transaction, by its hash or by that of what it wraps. */
export function receiptCall(hash: string): RpcCall {
  return { method: 'getTransaction', params: { hash } }
}

/** Reads a reply to `receiptCall`. */
export function readLookup(
  hash: string,
  endpointReply: EndpointReply | undefined,
  { asOf, since, passphrase }: Terms,
): LookupResult {
  const fields = fieldsOf(endpointReply?.reply)
  if (fields.kind !== 'ok') return { kind: 'silent' }
  const { value } = fields
  if (value.status === 'NOT_FOUND') {
    const reached = endpointReply?.behind === false && !isBehind(value, asOf)
    return { kind: 'not_found', reached, remembers: remembers(value, since) }
  }
  const receipt = readReceipt(hash, value, passphrase)
  return receipt === undefined ? { kind: 'silent' } : { kind: 'included', receipt }
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
function readReceipt(
  hash: string,
  fields: Readonly<Record<string, unknown>>,
  passphrase: string,
): Receipt | undefined {
  const { status, ledger, envelopeXdr, resultXdr, resultMetaXdr } = fields
  const number = readInteger(ledger)
  if (number === undefined || (status !== 'SUCCESS' && status !== 'FAILED')) return undefined
  const result = readResult(resultXdr)
  const facts = typeof envelopeXdr === 'string' ? readFacts(envelopeXdr, passphrase) : undefined
  return {
    hash,
    blockNumber: number,
    blockHash: ledgerHash(number),
    success: status === 'SUCCESS',
    final: true,
    ...(status === 'FAILED' && result !== undefined ? { failure: describeResult(result) } : {}),
    result: omitUndefined({
      feeCharged: result?.feeCharged,
      appliedHash: facts?.hash,
      feeAccount: facts?.feeAccount,
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
