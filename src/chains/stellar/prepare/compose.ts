import { Preconditions, Transaction, TransactionExt } from '@stellar/stellar-sdk/xdr'
import { larger, smaller } from '../../../lib/bigint.ts'
import type { StellarRequest } from '../content.ts'
import { encodeMemo } from '../encode/memo.ts'
import { encodeOperation } from '../encode/operation.ts'
import { maxTimeOf, openEnvelope, withFields, withMaxTime } from '../model/envelope.ts'
import { isAccountId, toMuxedAccount } from '../model/strkey.ts'
import type { StellarAccount } from '../types.ts'

/** A signed version waits this long for its ledger by default, in seconds: about twenty ledgers. */
const DEFAULT_TIMEOUT_SECONDS = 120

/**
 * Builds the transaction of a request that the service signs: the relayer is its source, fee and sequence number are 0, and it always
 * expires. `closeTime` belongs to the newest ledger, in Unix seconds.
 */
export function composeTransaction(
  request: StellarRequest,
  account: StellarAccount,
  closeTime: bigint,
): Transaction {
  const bare =
    request.transactionXdr === undefined ? fromOperations(request, account) : fromXdr(request.transactionXdr)
  return withFields(bare, { cond: withMaxTime(bare.cond, endOf(request, bare, account, closeTime)) })
}

function fromOperations(
  { operations = [], sourceAccount, memo }: StellarRequest,
  { address }: StellarAccount,
) {
  // The operations contain the muxed number of the relayer's account, because the transaction's source may become a channel.
  const muxed = sourceAccount !== undefined && !isAccountId(sourceAccount)
  const source = muxed ? toMuxedAccount(sourceAccount) : undefined
  return new Transaction({
    sourceAccount: toMuxedAccount(address),
    fee: 0,
    seqNum: 0n,
    cond: Preconditions.precondNone(),
    memo: encodeMemo(memo),
    operations: operations.map((operation) => encodeOperation(operation, source)),
    ext: TransactionExt.v0(),
  })
}

function fromXdr(xdr: string): Transaction {
  return withFields(openEnvelope(xdr).tx, { fee: 0, seqNum: 0n })
}

/** Returns the earliest end that the caller demands; the end of the relayer's policy when the caller demands none. In Unix seconds. */
function endOf(
  { validUntil }: StellarRequest,
  tx: Transaction,
  { policies }: StellarAccount,
  closeTime: bigint,
): bigint {
  const until = validUntil === undefined ? undefined : secondsOf(validUntil)
  const own = maxTimeOf(tx)
  if (until !== undefined && own !== undefined) return smaller(until, own)
  const timeout = policies.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS
  return until ?? own ?? closeTime + BigInt(timeout)
}

/** Returns whole seconds, rounded down. The result is never 0, which would mean no end at all. */
function secondsOf(time: Date): bigint {
  return larger(1n, BigInt(Math.floor(time.getTime() / 1_000)))
}
