import type { Attempt } from '../../chains/attempt.ts'
import type { Db } from '../../database/db.ts'
import { fingerprintOf, keccak256Hex } from '../../lib/hash.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { isNoop } from '../../transactions/model/attempts.ts'
import type { TransactionWithAttempts } from '../../transactions/model/transaction.ts'
import { isFinal } from '../../transactions/model/transitions.ts'
import { findHashOwners } from '../../transactions/store/attempts-store.ts'
import { findTransactions, requireTransaction } from '../../transactions/store/lookups-store.ts'
import { readRequest } from '../codecs/codecs.ts'
import type { CoreParts, EventParts, Service } from '../service.ts'
import { checkNonce, nonceKey } from './nonce.ts'
import { invalidParams, RPC_CODES, RpcError } from './rpc-error.ts'
import { readTransaction } from './transaction-request.ts'
import { readBytes, readFields, requireScope, type WalletMethod, type WalletRequest } from './wallet-call.ts'

/**
 * Makes `eth_sendTransaction`: it accepts a transaction as `sendTransaction` does, and answers with the first
 * hash that is signed.
 */
export function createSendTransaction(service: Service): WalletMethod {
  return async (request, [transaction]) => {
    const { relayer, runtime, context } = request
    const { content, nonce } = readTransaction(request, readFields(transaction, 'transaction'))
    const path = { relayer_id: relayer.id }
    const { body } = service.admitCall('sendTransaction', context.principal, { path, body: content })
    const key = nonce === undefined ? undefined : nonceKey(nonce, fingerprintOf(body))
    if (nonce !== undefined && key !== undefined) await checkNonce(service, request, { nonce, key })
    // The wallet is the relayer's own account, whichever others it has.
    const accepted = await service.transactions.send(
      { ...relayer, accounts: undefined },
      {
        request: readRequest(body, relayer, runtime.chain),
        actor: context.actor,
        idempotencyKey: key,
      },
    )
    // From here on, even if something fails, the caller must learn of the transaction, or will send it again.
    const seen = await waitUntilSigned(service, request, accepted).catch(
      (error: unknown): TransactionWithAttempts => {
        service.log.error({ err: error, requestId: context.requestId }, 'wait for a signature failed')
        return accepted
      },
    )
    return firstHash(seen)
  }
}

/**
 * Makes `eth_sendRawTransaction`. The service broadcasts what it has signed for a stored transaction itself,
 * and nothing else.
 */
export function createSendRawTransaction({ db }: Pick<Service, 'db'>): WalletMethod {
  return async (request, [passed]) => {
    requireScope(request, 'transactions:write')
    const raw = readBytes(passed, 'data')
    if (raw === undefined) throw invalidParams('data: the bytes of a signed transaction are expected')
    const hash = keccak256Hex(Buffer.from(raw.slice(2), 'hex'))
    const known = (await findByHash(db, request.relayer, [hash])).get(hash)
    if (known === undefined)
      throw new RpcError(
        RPC_CODES.transactionRejected,
        `data: expected bytes that relayer ${request.relayer.id} has signed for one of its transactions; send other bytes to a node yourself.`,
      )
    const { id: transactionId, status } = known.transaction
    if (isFinal(status) && includedAttempt(known)?.signed.hash !== hash)
      throw new RpcError(
        RPC_CODES.transactionRejected,
        `data: these bytes belong to transaction ${transactionId}, which has ended as ${status} without them.`,
        { transactionId, status },
      )
    return hash
  }
}

/** @throws RpcError with the id of the transaction when nothing of the request is signed */
function firstHash({ transaction, attempts }: TransactionWithAttempts): string {
  const first = attempts.find(({ kind }) => !isNoop(kind))
  if (first !== undefined) return first.signed.hash
  const { id: transactionId, status, statusReason, awaitsApproval } = transaction
  const data = { transactionId, status }
  const reason = statusReason === undefined ? '' : ` ${statusReason}`
  if (status === 'canceled' || attempts.length > 0)
    throw new RpcError(RPC_CODES.userRejected, `Transaction ${transactionId} is canceled.${reason}`, data)
  if (isFinal(status))
    throw new RpcError(
      RPC_CODES.transactionRejected,
      `Transaction ${transactionId} has ended as ${status}.${reason}`,
      data,
    )
  const state = awaitsApproval === true ? 'waits for an approval' : 'is not signed yet'
  throw new RpcError(
    RPC_CODES.resourceUnavailable,
    `Transaction ${transactionId} is accepted and ${state}.${reason} Do not send it again; look it up by its id.`,
    data,
  )
}

/**
 * Waits until a transaction is signed, has ended, or needs an approval, or until the deadline, and returns it
 * as it is then.
 */
async function waitUntilSigned(
  { db, clock, waits }: CoreParts & EventParts,
  { relayer, deadline, context: { signal } }: WalletRequest,
  item: TransactionWithAttempts,
): Promise<TransactionWithAttempts> {
  if (isDecided(item)) return item
  await waits.until(item.transaction.id, {
    isDone: ({ status, awaitsApproval }) => status !== 'pending' || awaitsApproval === true,
    ms: deadline - clock.monotonic(),
    signal,
  })
  return requireTransaction(db, relayer, item.transaction.id)
}

function isDecided({ transaction, attempts }: TransactionWithAttempts): boolean {
  return attempts.length > 0 || transaction.awaitsApproval === true || isFinal(transaction.status)
}

/**
 * Finds the transactions of this relayer that have an attempt with one of the hashes, by the hash in lower
 * case.
 */
export async function findByHash(
  db: Db,
  { id }: Relayer,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, TransactionWithAttempts>> {
  if (hashes.length === 0) return new Map()
  const owners = await findHashOwners(
    db,
    hashes.map((hash) => hash.toLowerCase()),
  )
  const found = await findTransactions(db, id, [...new Set(owners.values())])
  const byId = new Map(found.map((item) => [item.transaction.id, item]))
  return new Map(
    [...owners].flatMap(([hash, owner]) => {
      const item = byId.get(owner)
      return item === undefined ? [] : [[hash, item] as const]
    }),
  )
}

/** The attempt that the chain includes; undefined while it includes none. */
export function includedAttempt({ attempts }: TransactionWithAttempts): Attempt | undefined {
  return attempts.find(({ outcome }) => outcome === 'mined' || outcome === 'reverted')
}
