import type { ExternalNonce } from '../../chains/capabilities.ts'
import type { Tx } from '../../database/schema.ts'
import { AppError } from '../../errors.ts'
import { isExternallySigned, type RelayerRuntime } from '../model/runtime.ts'
import { findUsedExternalNonces } from '../store/nonce-store.ts'
import { findWaitingSuccessors } from '../store/queue-store.ts'

/** The nonces of a relayer to look for. */
export interface NonceQuestion {
  readonly relayerId: string
  readonly nonces: readonly ExternalNonce[]
  /** This transaction is left out. */
  readonly except?: string
}

/** The key of a nonce in the sets of this file. */
export function keyOf({ address, nonce }: ExternalNonce): string {
  return `${address} ${nonce}`
}

/**
 * Finds the nonces of third parties that a transaction of the relayer has, or gets when its earlier version has expired. The caller holds a
 * lock on the relayer.
 */
export async function usedExternalNonces(
  tx: Tx,
  { chain }: RelayerRuntime,
  { relayerId, nonces, except }: NonceQuestion,
): Promise<Set<string>> {
  if (nonces.length === 0) return new Set()
  // In this order: the watcher, which takes no lock, moves a nonce from a waiting request to its record, and never back.
  const successors = await findWaitingSuccessors(tx, relayerId)
  const used = await findUsedExternalNonces(tx, relayerId, nonces)
  for (const { id, request } of successors) {
    const waiting = id === except ? undefined : chain.externalSigning?.nonceOf(request)
    if (waiting !== undefined) used.add(keyOf(waiting))
  }
  return used
}

/** Gives the reason why content with this nonce cannot be accepted; undefined when it can. */
export function externalNonceProblem(
  runtime: RelayerRuntime,
  externalNonce: ExternalNonce,
  used: ReadonlySet<string> = new Set(),
): AppError | undefined {
  const { address, nonce } = externalNonce
  if (!isExternallySigned(runtime, { sourceAccount: address })) {
    return new AppError(
      'not_supported',
      `transaction_xdr: the sequence numbers of ${address} are given by the service. Send the operations, or the transaction unsigned.`,
    )
  }
  if (!used.has(keyOf(externalNonce))) return undefined
  return new AppError(
    'already_accepted',
    `transaction_xdr: sequence number ${nonce} of ${address} was accepted before; list the transactions to find it.`,
  )
}
