import type { StellarRequest } from '../../chains/stellar/content.ts'
import type {
  InvokeContractOperation,
  StellarMemo,
  StellarOperation,
} from '../../chains/stellar/model/operation.ts'
import type { Input, Schemas } from '../../contract/operations.ts'
import { AppError } from '../../errors.ts'
import { omitUndefined } from '../../lib/omit-undefined.ts'

/** Recognises a body of group C. */
export function isStellarRequest(
  body: Input<'sendTransaction'>['body'],
): body is Schemas['StellarTransactionRequest'] {
  return 'network' in body
}

/** Converts a body of group C to the domain's request. Null counts as absent. */
export function readStellarRequest(body: Schemas['StellarTransactionRequest']): StellarRequest {
  return omitUndefined({
    type: 'stellar' as const,
    network: body.network,
    operations: body.operations?.map((operation, index) => readOperation(operation, `operations[${index}]`)),
    sourceAccount: body.source_account ?? undefined,
    transactionXdr: body.transaction_xdr ?? undefined,
    feeBump: body.fee_bump ?? undefined,
    maxFee: body.max_fee ?? undefined,
    memo: body.memo ? readMemo(body.memo) : undefined,
    validFrom: body.valid_from ? new Date(body.valid_from) : undefined,
    validUntil: body.valid_until ? new Date(body.valid_until) : undefined,
  })
}

function readMemo(memo: Schemas['MemoSpec']): StellarMemo {
  return memo.type === 'id' ? { type: 'id', value: BigInt(memo.value) } : memo
}

/** Operations have the same form in the domain and in the contract. */
function readOperation(operation: Schemas['OperationSpec'], at: string): StellarOperation {
  if (operation.type !== 'invoke_contract') return withExactIntegers(operation, '') as StellarOperation
  const { named_args, args = [], ...others } = operation
  if (operation.args === undefined && named_args === undefined)
    throw new AppError('invalid_request', `${at}.args: is required, unless there are named_args.`)
  if (operation.args !== undefined && named_args !== undefined)
    throw new AppError('invalid_request', `${at}.named_args: expected either args or named_args, not both.`)
  return omitUndefined({
    ...others,
    args: withExactIntegers(args, '') as InvokeContractOperation['args'],
    // The contract, and not the name of a field, decides which of them are integers.
    named_args,
  })
}

/** The names of fields that hold 64-bit integers; no other field of operations and arguments has one of them. */
const INTEGERS: ReadonlySet<string> = new Set([
  ...['amount', 'starting_balance', 'limit', 'send_amount', 'send_max', 'dest_amount', 'dest_min', 'bump_to'],
  ...['before_absolute_time', 'before_relative_time'],
  ...['u64', 'i64', 'timepoint', 'duration', 'hi', 'lo', 'hi_hi', 'hi_lo', 'lo_hi', 'lo_lo'],
])

/** Copies a value with a bigint for each 64-bit integer of the contract, whether it is a number or digits. */
function withExactIntegers(value: unknown, name: string): unknown {
  if (INTEGERS.has(name) && (typeof value === 'string' || typeof value === 'number')) return BigInt(value)
  if (Array.isArray(value)) return value.map((item: unknown) => withExactIntegers(item, ''))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, withExactIntegers(field, key)]))
}
