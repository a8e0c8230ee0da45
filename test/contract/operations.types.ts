import type {
  Bare,
  Data,
  Input,
  OpenOperationId,
  OperationId,
  Result,
  Schemas,
  ScopeOf,
  Streamed,
  Success,
  UnscopedOperationId,
} from '../../src/contract/operations.ts'
import type { ErrorCode } from '../../src/errors.ts'
import type { HandlerMap } from '../../src/http/handler.ts'

/** `tsc` compiles this file and nothing runs it: it proves which values the types of the contract allow. */

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** The service throws exactly the codes that the contract lists, neither fewer nor more. */
export const codesOfServiceAreCodesOfContract: Equal<ErrorCode, Schemas['ErrorCode']> = true

/** The declared response of an operation decides the form of its result. */
export const streamIsStreamed: Equal<Result<'streamEvents'>, Streamed> = true
export const replyOfRpcIsBare: Equal<Result<'callRpc'>, Bare<'callRpc'>> = true
export const listHasEnvelope: Equal<Result<'listRelayers'>, Success<'listRelayers'>> = true

export const wideIntegersAreBigInt: Equal<
  Extract<Input<'sendTransaction'>['body'], { value: unknown }>['value'],
  bigint
> = true
type EvmTransaction = Extract<Data<'getTransactionById'>, { network_type: 'evm' }>
export const nonceIsBigInt: Equal<EvmTransaction['nonce'], bigint | undefined> = true
export const oneKindForEach: Equal<Data<'getTransactionById'>['network_type'], 'evm' | 'stellar' | 'solana'> =
  true

export function narrowed(transaction: Data<'getTransactionById'>): string | undefined {
  // @ts-expect-error only a Stellar transaction has an envelope
  if (transaction.network_type === 'evm') return transaction.transaction_xdr
  return transaction.network_type === 'stellar' ? transaction.transaction_xdr : transaction.transaction
}

type ListedEvmRelayer = Extract<Data<'listRelayers'>[number], { network_type: 'evm' }>
export const capIsBigInt: Equal<ListedEvmRelayer['policies']['gas_price_cap'], bigint | undefined> = true
export const pageIsNumber: Equal<Input<'listRelayers'>['query']['page'], number | undefined> = true
export const scopeOfEach: Equal<ScopeOf<'sendTransaction'>, 'transactions:write'> = true
export const noBody: Equal<Input<'listRelayers'>['body'], undefined> = true
export const plainText: Equal<Bare<'getHealth'>['body'], 'OK'> = true

/** An operation that has no scope and needs a credential is missing here, and then the file does not compile. */
export const everyOperationHasAScope: {
  readonly [Id in Exclude<OperationId, OpenOperationId | UnscopedOperationId>]?: ScopeOf<Id>
} = {}

// @ts-expect-error a list has pagination
export const withoutPagination: Success<'listRelayers'> = { data: [] }

// @ts-expect-error an answer about a single transaction has its attempts
export const withoutAttempts: Data<'sendTransaction'> = {
  id: '',
  relayer_id: '',
  network_type: 'evm',
  status: 'pending',
  created_at: '',
  from: '',
  value: '',
}

// @ts-expect-error a status that the contract does not know
export const unknownStatus: Input<'listTransactions'>['query'] = { status: 'done' }

declare const handlers: HandlerMap
const { signMessage, ...others } = handlers
export const signAlone = { signMessage }

// @ts-expect-error an operation without a handler
export const incomplete: HandlerMap = others
