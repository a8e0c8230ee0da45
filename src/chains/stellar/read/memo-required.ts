import {
  LedgerEntryData,
  LedgerKey,
  LedgerKeyData,
  type MuxedAccount,
  type Operation,
  type OperationBody,
  type Transaction,
} from '@stellar/stellar-sdk/xdr'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import type { Clock } from '../../../lib/time.ts'
import type { Answer } from '../../answer.ts'
import { askStatements } from '../../rpc/agreement.ts'
import type { PooledClient, RpcCall } from '../../rpc/rpc.ts'
import { accountIdOf, toPublicKey, underlying } from '../model/strkey.ts'
import { fieldsOf } from './replies.ts'

/** The data entry with which an account requires a memo, and its value (SEP-29). */
const NAME = 'config.memo_required'
const VALUE = Buffer.from('1')

/**
 * Receivers change this once in years, and a transaction is prepared several times within a minute. In ms.
 */
const FRESH_FOR_MS = 60_000

/** The receivers that are remembered. Each takes about 100 bytes. */
const MAX_KNOWN = 10_000

/** Finds receivers that require a memo. */
export interface MemoRequirements {
  /**
   * Returns the first receiver of a transaction without a memo that accepts payments only with one (SEP-29);
   * undefined if there is none. Exchanges do so: what arrives without a memo belongs to no one there.
   */
  receiverWithout(tx: Transaction): Promise<Answer<string | undefined>>
}

/** Creates a reader that caches recent results. */
export function createMemoRequirements(client: PooledClient, clock: Clock): MemoRequirements {
  const known = new BoundedMap<string, { readonly at: number; readonly asks: boolean }>(MAX_KNOWN)

  async function read(addresses: readonly string[]): Promise<Answer<undefined>> {
    const told = await askStatements(client, {
      calls: [entriesCall(addresses)],
      read: ([endpointReply]) => {
        const fields = fieldsOf(endpointReply?.reply)
        if (fields.kind !== 'ok') return fields
        const asking = readAsking(fields.value.entries)
        return asking === undefined
          ? { kind: 'unknown', detail: 'the endpoint did not answer with ledger entries' }
          : { kind: 'ok', value: asking }
      },
      isSame: (one, other) => addresses.every((address) => one.has(address) === other.has(address)),
    })
    if (told.kind !== 'ok') return told
    // One of several alone neither refuses a payment, nor lets one go that two others know to need a memo.
    const least = Math.min(2, told.value.length)
    const votes = (address: string) => told.value.filter(({ value }) => value.has(address)).length
    const asking = new Set(addresses.filter((address) => votes(address) >= least))
    const at = clock.monotonic()
    for (const address of addresses) known.set(address, { at, asks: asking.has(address) })
    return { kind: 'ok', value: undefined }
  }

  return {
    async receiverWithout(tx) {
      const receivers = tx.memo.type === 'memoNone' ? receiversOf(tx.operations) : []
      const oldest = clock.monotonic() - FRESH_FOR_MS
      const open = receivers.filter(
        (address) => (known.get(address)?.at ?? Number.NEGATIVE_INFINITY) < oldest,
      )
      const answer = open.length === 0 ? undefined : await read(open)
      if (answer !== undefined && answer.kind !== 'ok') return answer
      return { kind: 'ok', value: receivers.find((address) => known.get(address)?.asks) }
    },
  }
}

/** The accounts (`G…`) that operations pay. A muxed address (`M…`) has its own id and needs no memo. */
function receiversOf(operations: readonly Operation[]): string[] {
  const accounts = operations.flatMap(({ body }) => receiverOf(body) ?? [])
  return [...new Set(accounts.filter(({ type }) => type === 'keyTypeEd25519').map(underlying))]
}

function receiverOf(body: OperationBody): MuxedAccount | undefined {
  switch (body.type) {
    case 'payment':
      return body.paymentOp.destination
    case 'pathPaymentStrictSend':
      return body.pathPaymentStrictSendOp.destination
    case 'pathPaymentStrictReceive':
      return body.pathPaymentStrictReceiveOp.destination
    case 'accountMerge':
      return body.destination
    default:
      return undefined
  }
}

function entriesCall(addresses: readonly string[]): RpcCall {
  const keys = addresses.map((address) =>
    LedgerKey.data(new LedgerKeyData({ accountId: toPublicKey(address), dataName: NAME })).toXdr('base64'),
  )
  return { method: 'getLedgerEntries', params: { keys } }
}

/**
 * Returns the accounts whose entry has the value; undefined for an unreadable answer (I6). Go writes an empty
 * list as null.
 */
function readAsking(entries: unknown): ReadonlySet<string> | undefined {
  if (entries === null || entries === undefined) return new Set()
  if (!Array.isArray(entries)) return undefined
  try {
    const data = (entries as { xdr?: unknown }[]).map(({ xdr }) =>
      LedgerEntryData.fromXdr(String(xdr), 'base64'),
    )
    const asking = data.flatMap((entry) =>
      entry.type === 'data' && VALUE.equals(entry.data.dataValue.toBytes()) ? [entry.data.accountId] : [],
    )
    return new Set(asking.map((account) => accountIdOf(account.ed25519.toBytes())))
  } catch {
    return undefined // The SDK throws: not XDR, or not of this kind.
  }
}
