import type { Head } from '../../answer.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import type { SolanaDraft } from '../content.ts'
import { readNonce } from '../read/nonce-account.ts'
import { openTransaction } from '../wire/transaction.ts'

/**
 * A blockhash has its end by the finalized height. A durable nonce ends when it is advanced, finally and not later than the
 * head, so that whoever has come so far also knows by what.
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
