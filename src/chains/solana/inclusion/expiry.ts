import type { Head, Receipt } from '../../answer.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import type { SolanaDraft } from '../content.ts'
import { readNonce } from '../read/nonce-account.ts'
import { openTransaction } from '../wire/transaction.ts'

/**
 * Returns true when the draft has expired. A blockhash expires at a finalized height. A durable nonce expires when it is advanced; that
 * must be finalized and not later than the head, so that an endpoint that has reached the head also knows which transaction advanced it.
 */
export async function hasExpired(
  client: PooledClient,
  { expiresAt, nonceAccount, transaction }: SolanaDraft,
  { number, expiredUpTo }: Head,
): Promise<boolean> {
  if (expiresAt !== undefined) return expiredUpTo !== undefined && expiresAt <= expiredUpTo
  if (nonceAccount === undefined) return false
  const nonce = await readNonce(client, nonceAccount, 'finalized')
  if (nonce.kind !== 'ok' || nonce.value.slot > number) return false
  return nonce.value.state?.value !== openTransaction(transaction).message.lifetimeToken
}

/**
 * Returns true when a block contains the draft without having executed it and another may still execute it: that did not advance the durable
 * nonce, and the network forgets such a transaction (SIMD-0297). A blockhash has no second time: the network remembers its transactions as
 * long as it is valid, executed or not (SIMD-0290).
 */
export function mayStillExecute({ nonceAccount }: SolanaDraft, { executed }: Receipt): boolean {
  return nonceAccount !== undefined && executed !== undefined
}
