import type { EvmAttempt } from '../../src/chains/evm/types.ts'
import type { Transaction, TransactionWithAttempts } from '../../src/transactions/model/transaction.ts'
import { attemptOf, eip1559, FROM, requestOf } from '../chains/evm/build.ts'

/** A submitted transaction with nonce 5 that shows its newest attempt. */
export function itemOf(
  attempts: readonly Partial<EvmAttempt>[] = [{}],
  change: Partial<Transaction> = {},
): TransactionWithAttempts {
  const transaction: Transaction = {
    id: 'tx',
    relayerId: 'relayer',
    network: 'testnet',
    from: FROM,
    status: 'submitted',
    createdAt: new Date(0),
    request: requestOf({ speed: 'fast' }),
    purpose: 'request',
    sourceAccount: FROM,
    nonce: 5n,
    version: 3,
    currentAttempt: attempts.length,
    cost: 2_100_001n,
    nextRunAt: new Date(0),
    ...change,
  }
  const list = attempts.map((attempt, index) =>
    attemptOf(eip1559(100n, 10n), { number: index + 1, ...attempt }),
  )
  return { transaction, attempts: list }
}
