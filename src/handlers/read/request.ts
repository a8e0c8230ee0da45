import type { Chain } from '../../chains/chain.ts'
import type { Authorization, EvmRequest } from '../../chains/evm/content.ts'
import type { ChainRequest } from '../../chains/request.ts'
import type { SolanaAccountMeta, SolanaInstruction, SolanaRequest } from '../../chains/solana/content.ts'
import type { Speed } from '../../chains/speed.ts'
import type { StellarRequest } from '../../chains/stellar/content.ts'
import type { StellarMemo, StellarOperation } from '../../chains/stellar/model/operation.ts'
import type { Input, Schemas } from '../../contract/operations.ts'
import { AppError } from '../../errors.ts'
import { omitUndefined } from '../../lib/object.ts'
import { NETWORK_TYPES, type NetworkType } from '../../networks/network.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { readAddress } from './address.ts'

/** The body of a request to send or replace, and an item of a batch. */
export type RequestBody = Input<'sendTransaction'>['body']

/**
 * Reads the body as the request of the relayer's network type.
 * @throws AppError 400 `wrong_network_type` for a body of another group
 */
export function readRequest(body: RequestBody, relayer: Relayer, chain: Chain): ChainRequest {
  const request = READERS[relayer.networkType](body, chain)
  if (request === undefined) throw wrongGroup(body, relayer)
  return request
}

type RequestOf<T extends NetworkType> = Extract<ChainRequest, { readonly type: T }>

/** The readers return undefined for a body of another group. */
const READERS: {
  readonly [T in NetworkType]: (body: RequestBody, chain: Chain) => RequestOf<T> | undefined
} = {
  evm: (body, chain) => (isEvmRequest(body) ? readEvmRequest(body, chain) : undefined),
  solana: (body) => (isSolanaRequest(body) ? readSolanaRequest(body) : undefined),
  stellar: (body) => (isStellarRequest(body) ? readStellarRequest(body) : undefined),
}

function wrongGroup(body: RequestBody, { id, networkType }: Relayer): AppError {
  return new AppError(
    'wrong_network_type',
    `The body is a request for a relayer of type ${groupOf(body)}; relayer ${id} is on a network of type ${networkType}, so ${EXPECTED[networkType]} is expected.`,
  )
}

const IS_OF_GROUP: Readonly<Record<NetworkType, (body: RequestBody) => boolean>> = {
  evm: isEvmRequest,
  solana: isSolanaRequest,
  stellar: isStellarRequest,
}

/** The contract admits no body outside these groups. */
function groupOf(body: RequestBody): NetworkType {
  const group = NETWORK_TYPES.find((type) => IS_OF_GROUP[type](body))
  if (group === undefined) throw new Error('a body that fits the contract belongs to a group')
  return group
}

const EXPECTED: Readonly<Record<NetworkType, string>> = {
  evm: 'value with to or data',
  solana: 'transaction or instructions',
  stellar: 'network with operations or transaction_xdr',
}

/** The speed of a request that names neither a speed nor a price. */
const DEFAULT_SPEED: Speed = 'fast'

/** Recognises a body of group A. */
export function isEvmRequest(
  body: Input<'sendTransaction'>['body'],
): body is Schemas['EvmTransactionRequest'] {
  return 'value' in body
}

/** Converts a body of group A to the domain's request. */
function readEvmRequest(body: Schemas['EvmTransactionRequest'], chain: Chain): EvmRequest {
  return omitUndefined({
    type: 'evm' as const,
    to: body.to ? readAddress(chain, body.to, 'to') : undefined,
    value: body.value,
    data: body.data,
    accessList: body.access_list?.map(({ address, storage_keys }, index) => ({
      address: readAddress(chain, address, `access_list[${index}].address`),
      storageKeys: storage_keys,
    })),
    authorizationList: body.authorization_list?.map((authorization, index) =>
      readAuthorization(authorization, chain, `authorization_list[${index}]`),
    ),
    gasLimit: body.gas_limit ?? undefined,
    gasPrice: body.gas_price,
    maxFeePerGas: body.max_fee_per_gas,
    maxPriorityFeePerGas: body.max_priority_fee_per_gas,
    speed: body.speed ?? defaultSpeed(body),
    validFrom: body.valid_from === undefined ? undefined : new Date(body.valid_from),
    validUntil: body.valid_until === undefined ? undefined : new Date(body.valid_until),
  })
}

function readAuthorization(
  { chain_id, address, y_parity, nonce, r, s }: Schemas['EvmAuthorizationList'][number],
  chain: Chain,
  path: string,
): Authorization {
  const yParity = y_parity === 0 ? 0 : 1
  return { chainId: chain_id, address: readAddress(chain, address, `${path}.address`), nonce, yParity, r, s }
}

function defaultSpeed(body: Schemas['EvmTransactionRequest']): Speed | undefined {
  const priced = body.gas_price ?? body.max_fee_per_gas ?? body.max_priority_fee_per_gas
  return priced === undefined ? DEFAULT_SPEED : undefined
}

type SolanaBody = Schemas['SolanaTransactionRequest'] | Schemas['SolanaInstructionsRequest']

/** Recognises a body of group B. */
export function isSolanaRequest(body: Input<'sendTransaction'>['body']): body is SolanaBody {
  return 'transaction' in body || 'instructions' in body
}

/** Converts a body of group B to the domain's request. Null counts as absent. */
export function readSolanaRequest(body: SolanaBody): SolanaRequest {
  return omitUndefined({
    type: 'solana' as const,
    transaction: 'transaction' in body ? body.transaction : undefined,
    instructions: 'instructions' in body ? body.instructions.map(readInstruction) : undefined,
    speed: body.speed ?? DEFAULT_SPEED,
    validFrom: body.valid_from ? new Date(body.valid_from) : undefined,
    validUntil: body.valid_until ? new Date(body.valid_until) : undefined,
  })
}

function readInstruction(instruction: Schemas['SolanaInstructionSpec']): SolanaInstruction {
  if ('call' in instruction) throw new Error('a call by name must be encoded before it is read')
  const { program_id, accounts, data } = instruction
  return { programId: program_id, accounts: accounts.map(readAccountMeta), data }
}

/** Converts an account of an instruction to that of the domain. */
export function readAccountMeta({
  pubkey,
  is_signer,
  is_writable,
}: Schemas['SolanaAccountMeta']): SolanaAccountMeta {
  return { pubkey, isSigner: is_signer, isWritable: is_writable }
}

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
    signedAuthEntry: body.signed_auth_entry ?? undefined,
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
  if (operation.type !== 'invoke_contract') return operation
  const { named_args, args = [], ...others } = operation
  if (operation.args === undefined && named_args === undefined)
    throw new AppError('invalid_request', `${at}.args: is required, unless there are named_args.`)
  if (operation.args !== undefined && named_args !== undefined)
    throw new AppError('invalid_request', `${at}.named_args: expected either args or named_args, not both.`)
  return omitUndefined({
    ...others,
    args,
    // The contract, and not the name of a field, decides which of them are integers.
    named_args,
  })
}
