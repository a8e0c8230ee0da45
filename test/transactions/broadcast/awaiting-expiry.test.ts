import { expect, test } from 'vitest'
import type { AttemptKind, AttemptOutcome } from '../../../src/chains/attempt.ts'
import { isAwaitingExpiry } from '../../../src/transactions/broadcast/broadcast.ts'
import type { RelayerRuntime } from '../../../src/transactions/model/runtime.ts'
import type { Purpose, Transaction } from '../../../src/transactions/model/transaction.ts'
import { attemptOf, legacy, requestOf } from '../../chains/evm/build.ts'

const EXPIRING = { chain: { expiry: {} } } as unknown as RelayerRuntime
const LASTING = { chain: {} } as unknown as RelayerRuntime

/** A transaction whose first attempt is the current one, as after a reorganisation that dropped its block. */
function canceled(purpose: Purpose, ...others: readonly [AttemptKind, AttemptOutcome][]) {
  const transaction: Transaction = {
    id: 'canceled',
    relayerId: 'main',
    network: 'local',
    from: 'account',
    status: 'submitted',
    createdAt: new Date(0),
    request: requestOf(),
    purpose,
    version: 4,
    currentAttempt: 1,
    cost: 0n,
    nextRunAt: new Date(0),
  }
  const later = others.map(([kind, outcome], index) =>
    attemptOf(legacy(1n), { number: index + 2, kind, outcome }),
  )
  return { transaction, attempts: [attemptOf(legacy(1n)), ...later] }
}

test.each<[string, ReturnType<typeof canceled>, boolean]>([
  ['are wanted', canceled('request'), false],
  ['only have to expire, because nothing is signed for the cancellation', canceled('cancel'), true],
  ['only have to expire, because they get a successor', canceled('successor'), true],
  ['exclude the signed cancellation', canceled('cancel', ['cancel', 'broadcast']), false],
  ['outlive a cancellation that was refused', canceled('cancel', ['cancel', 'refused']), true],
  ['outlive a cancellation that has expired', canceled('cancel', ['cancel', 'expired']), true],
  ['were raised, and only have to expire', canceled('expire', ['speed_up', 'broadcast']), true],
])('bytes that %s are broadcast again, or not', (_name, item, isAwaiting) => {
  expect(isAwaitingExpiry(EXPIRING, item)).toBe(isAwaiting)
  expect(isAwaitingExpiry(LASTING, item)).toBe(false)
})
