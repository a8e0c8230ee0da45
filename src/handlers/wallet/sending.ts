import type { Logger } from 'pino'
import type { Db } from '../../database/schema.ts'
import { keccak256Hex } from '../../lib/keccak256.ts'
import type { Acceptor } from '../../transactions/accept/accept.ts'
import { isNoop } from '../../transactions/model/attempts.ts'
import type { TransactionWithAttempts } from '../../transactions/model/transaction.ts'
import { isFinal } from '../../transactions/model/transitions.ts'
import { readRequest } from '../read/request.ts'
import type { AdmitCall } from './admit-call.ts'
import { findByHash, includedAttempt } from './attempts-by-hash.ts'
import { readBytes, readFields } from './parameters.ts'
import { invalidParams, RPC_CODES, RpcError } from './rpc-error.ts'
import { readTransaction } from './transaction-request.ts'
import { type WaitDeps, waitUntilSigned } from './wait-until-signed.ts'
import { requireScope, type WalletMethod } from './wallet-call.ts'

/** The parts of the service that sending needs. */
export interface SendingDeps extends WaitDeps {
  readonly db: Db
  readonly accept: Acceptor
  readonly admitCall: AdmitCall
  readonly log: Logger
}

/** Makes `eth_sendTransaction`: it accepts a transaction as `sendTransaction` does, and answers with the first hash that is signed. */
export function createSendTransaction(deps: SendingDeps): WalletMethod {
  return async (request, [transaction]) => {
    const { relayer, runtime, context } = request
    const sent = readTransaction(request, readFields(transaction, 'transaction'))
    const path = { relayer_id: relayer.id }
    const { body } = deps.admitCall('sendTransaction', context.principal, { path, body: sent })
    const accepted = await deps.accept(relayer, readRequest(body, relayer, runtime.chain), context.actor)
    // Whatever goes wrong from here on, the caller has to learn of the transaction, or sends it again.
    const seen = await waitUntilSigned(deps, request, accepted).catch(
      (error: unknown): TransactionWithAttempts => {
        deps.log.error({ err: error, requestId: context.requestId }, 'wait for a signature failed')
        return accepted
      },
    )
    return firstHash(seen)
  }
}

/** Makes `eth_sendRawTransaction`. The service broadcasts what it has signed for a stored transaction itself, and nothing else. */
export function createSendRawTransaction({ db }: Pick<SendingDeps, 'db'>): WalletMethod {
  return async (request, [passed]) => {
    requireScope(request, 'transactions:write')
    const raw = readBytes(passed, 'data')
    if (raw === undefined) throw invalidParams('data: the bytes of a signed transaction are expected')
    const hash = keccak256Hex(Buffer.from(raw.slice(2), 'hex'))
    const known = (await findByHash(db, request.relayer, [hash])).get(hash)
    if (known === undefined)
      throw new RpcError(
        RPC_CODES.transactionRejected,
        `data: expected bytes that relayer ${request.relayer.id} has signed for one of its transactions; send others to a node yourself.`,
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
    `Transaction ${transactionId} is accepted and ${state}.${reason} Do not send it again; look for it by its id.`,
    data,
  )
}
