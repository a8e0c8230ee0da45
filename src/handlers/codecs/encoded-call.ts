import type { Chain } from '../../chains/chain.ts'
import type { RegisteredFunctions } from '../../chains/evm/content.ts'
import type { IdlCall } from '../../chains/solana/content.ts'
import type { Input, Schemas } from '../../contract/operations.ts'
import type { Db } from '../../database/db.ts'
import { AppError } from '../../errors.ts'
import { fingerprintOf } from '../../lib/hash.ts'
import { omitUndefined } from '../../lib/object.ts'
import { findFunctions } from '../../relayers/interfaces/interfaces-store.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { errorAtItem, type SendItem } from '../../transactions/accept/accept.ts'
import { readAddress } from './address.ts'
import type { RequestBody } from './codec.ts'
import { readRequest } from './codecs.ts'
import { isEvmRequest } from './evm.ts'
import { presentInstruction, readAccountMeta } from './solana.ts'

/** The relayer that sends the bodies. */
interface CallContext {
  readonly db: Db
  readonly relayerId: string
  readonly chain: Chain
}

/** A body, and its path in errors: `body`. */
interface LocatedBody {
  readonly body: RequestBody
  readonly path: string
}

/**
 * Puts the encoded data in the place of a call by name, on EVM and Solana. What follows, such as the
 * fingerprint and the rules, then knows only the data, so both spellings are the same request. A body without
 * a call stays as it is.
 *
 * @throws AppError `invalid_request` with the field that does not fit
 */
export async function withEncodedCall(context: CallContext, body: RequestBody): Promise<RequestBody> {
  const [encoded = body] = await withEncodedCalls(context, [{ body, path: 'body' }])
  return encoded
}

/** Does the same for many bodies, and reads the registered ABIs of all of them in one query. */
async function withEncodedCalls(
  context: CallContext,
  bodies: readonly LocatedBody[],
): Promise<RequestBody[]> {
  const { db, relayerId, chain } = context
  const addresses = bodies.flatMap((located) => contractOf(located, chain) ?? [])
  const functions = await findFunctions(db, relayerId, [...new Set(addresses)])
  return bodies.map(({ body, path }) => {
    const contract = contractOf({ body, path }, chain)
    const registered = contract === undefined ? undefined : registrationOf(relayerId, contract, functions)
    return encodeBody({ body, path }, chain, registered)
  })
}

/** The contract whose registered ABI can have the function; undefined for a body that has no need of it. */
function contractOf({ body, path }: LocatedBody, chain: Chain): string | undefined {
  if (!isEvmRequest(body) || chain.contractCalls === undefined) return undefined
  return body.call !== undefined && body.call.abi === undefined && body.to
    ? readAddress(chain, body.to, `${path}.to`)
    : undefined
}

function registrationOf(
  relayerId: string,
  contract: string,
  functions: ReadonlyMap<string, readonly object[]>,
): RegisteredFunctions {
  const path = `/api/v1/relayers/${relayerId}/abis/${contract}`
  return { contract, path, functions: functions.get(contract) }
}

function encodeBody(
  { body, path }: LocatedBody,
  chain: Chain,
  registered: RegisteredFunctions | undefined,
): RequestBody {
  if ('instructions' in body) return withEncodedInstructions(body, chain, path)
  const { contractCalls } = chain
  // A relayer on another kind of network refuses the body with or without the call.
  if (!isEvmRequest(body) || body.call === undefined || contractCalls === undefined) return body
  const { call, ...others } = body
  if (others.data !== undefined)
    throw new AppError('invalid_request', `${path}.call: expected either data or call, not both.`)
  if (!others.to)
    throw new AppError('invalid_request', `${path}.to: expected the address of the called contract.`)
  const encoded = contractCalls.encode(call, registered)
  if (encoded.kind === 'refused')
    throw new AppError(encoded.refusal.code, `${path}.${encoded.refusal.detail}`)
  return { ...others, data: encoded.value }
}

type InstructionsBody = Schemas['SolanaInstructionsRequest']

/**
 * Puts the accounts and the data in the place of each call of an instruction by name.
 *
 * @param place the path of the body in errors: `body`
 * @throws AppError `invalid_request` with the field that does not fit
 */
function withEncodedInstructions(
  body: InstructionsBody,
  { encodeInstruction }: Chain,
  path: string,
): InstructionsBody {
  // A relayer on another kind of network refuses the body with or without the call.
  if (encodeInstruction === undefined) return body
  const instructions = body.instructions.map((instruction, index) => {
    if (!('call' in instruction)) return instruction
    const { program_id, call } = instruction
    const encoded = encodeInstruction(readCall(call), program_id)
    if (encoded.kind === 'ok') return presentInstruction({ programId: program_id, ...encoded.value })
    throw new AppError(encoded.refusal.code, `${path}.instructions[${index}].${encoded.refusal.detail}`)
  })
  return { ...body, instructions }
}

function readCall({ remaining_accounts, ...call }: Schemas['SolanaIdlCall']): IdlCall {
  return omitUndefined({ ...call, remainingAccounts: remaining_accounts?.map(readAccountMeta) })
}

type BatchBody = Input<'sendTransactionBatch'>['body']

/**
 * Reads the items of a batch as requests of the relayer's network type. The fingerprint leaves the key out,
 * so an item is the same request as a single one with its key in the header. The keys belong to `maker`, the
 * id of an API key.
 * @throws AppError 400 with the item: `wrong_network_type`, or `invalid_request` for a key that an earlier
 * item has
 */
export async function readBatch(
  context: CallContext & { readonly maker: string },
  { transactions }: BatchBody,
  relayer: Relayer,
): Promise<SendItem[]> {
  const { maker } = context
  const places = new Map<string, number>()
  const located = transactions.map((body, index) => ({ body, path: `body.transactions[${index}]` }))
  const encoded = await withEncodedCalls(context, located)
  return encoded.map(({ idempotency_key: key, ...body }, index) => {
    try {
      const request = readRequest(body, relayer, context.chain)
      const { reference, description } = body
      const item = { request, reference, description, idempotencyKey: undefined }
      if (body.lane !== undefined) throw laneOfItem()
      if (key === undefined) return item
      requireNew(key, places)
      places.set(key, index)
      const idempotencyKey = { key, maker, fingerprint: fingerprintOf(body), field: 'idempotency_key' }
      return { ...item, idempotencyKey }
    } catch (error) {
      throw errorAtItem(index, error)
    }
  })
}

function laneOfItem(): AppError {
  return new AppError('invalid_request', 'lane: expected to be absent; body.lane is that of the whole batch.')
}

function requireNew(key: string, places: ReadonlyMap<string, number>): void {
  const earlier = places.get(key)
  if (earlier === undefined) return
  throw new AppError(
    'invalid_request',
    `idempotency_key: expected a key that no other item has; transactions[${earlier}] has the same one.`,
  )
}
