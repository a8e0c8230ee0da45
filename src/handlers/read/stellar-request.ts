import type { StellarRequest } from '../../chains/stellar/content.ts'
import type { StellarMemo, StellarOperation } from '../../chains/stellar/model/operation.ts'
import type { Input, Schemas } from '../../contract/operations.ts'
import { omitUndefined } from '../../lib/omit-undefined.ts'

/** Whether the body is of group C. */
export function isStellarRequest(
  body: Input<'sendTransaction'>['body'],
): body is Schemas['StellarTransactionRequest'] {
  return 'network' in body
}

/** A body of group C as the domain sees it. Null means the same as absent. */
export function readStellarRequest(body: Schemas['StellarTransactionRequest']): StellarRequest {
  return omitUndefined({
    type: 'stellar' as const,
    network: body.network,
    operations: body.operations?.map(readOperation),
    sourceAccount: body.source_account ?? undefined,
    transactionXdr: body.transaction_xdr ?? undefined,
    feeBump: body.fee_bump ?? undefined,
    maxFee: body.max_fee ?? undefined,
    memo: body.memo ? readMemo(body.memo) : undefined,
    validUntil: body.valid_until ? new Date(body.valid_until) : undefined,
  })
}

function readMemo(memo: Schemas['MemoSpec']): StellarMemo {
  return memo.type === 'id' ? { type: 'id', value: BigInt(memo.value) } : memo
}

/** The domain writes operations as the contract does. */
function readOperation(operation: Schemas['OperationSpec']): StellarOperation {
  return withExactIntegers(operation, '') as Schemas['OperationSpec']
}

/** The fields of operations and arguments that hold 64-bit integers: no other field has one of these names. */
const INTEGERS: ReadonlySet<string> = new Set([
  ...['amount', 'starting_balance', 'limit', 'send_amount', 'send_max', 'dest_amount', 'dest_min', 'bump_to'],
  ...['before_absolute_time', 'before_relative_time'],
  ...['u64', 'i64', 'timepoint', 'duration', 'hi', 'lo', 'hi_hi', 'hi_lo', 'lo_hi', 'lo_lo'],
])

/** The same value, with a bigint wherever the contract has a 64-bit integer, whether it was written as a number or as digits. */
function withExactIntegers(value: unknown, name: string): unknown {
  if (INTEGERS.has(name) && (typeof value === 'string' || typeof value === 'number')) return BigInt(value)
  if (Array.isArray(value)) return value.map((item: unknown) => withExactIntegers(item, ''))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, withExactIntegers(field, key)]))
}
