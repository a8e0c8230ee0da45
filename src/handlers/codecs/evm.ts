import { setImmediate as endOfTurn } from 'node:timers/promises'
import type { EvmLog } from '../../chains/answer.ts'
import type { Attempt } from '../../chains/attempt.ts'
import type { Chain } from '../../chains/chain.ts'
import type { Authorization, EvmDraft, EvmRequest, FeeCondition } from '../../chains/evm/content.ts'
import type { Speed } from '../../chains/speed.ts'
import type { Schemas } from '../../contract/operations.ts'
import { AppError } from '../../errors.ts'
import { maskUrl } from '../../lib/http/mask-url.ts'
import { omitUndefined } from '../../lib/object.ts'
import type { EvmNetwork } from '../../networks/network.ts'
import { findEvents, type RegisteredEvents } from '../../relayers/interfaces/interfaces-store.ts'
import { withEnd } from '../../transactions/model/due.ts'
import type { Transaction } from '../../transactions/model/transaction.ts'
import { readAddress } from './address.ts'
import {
  type Codec,
  DEFAULT_SPEED,
  type EmittedParts,
  presentCommonAttempt,
  type RecordParts,
  type RequestBody,
  requireNonce,
} from './codec.ts'

/** The form of what belongs to EVM networks: group A of the contract. */
export const EVM_CODEC: Codec<'evm'> = {
  accepts: isEvmRequest,
  expected: 'value with to or data',
  readRequest: (body, chain) => readEvmRequest(body as Schemas['EvmTransactionRequest'], chain),
  unsignedFields: 'unsigned_transaction (0x and the RLP), or value with nonce, gas_limit and a price',
  presentSigned: ({ raw, hash, signature }) => ({
    signed_transaction: `0x${Buffer.from(raw).toString('hex')}`,
    hash,
    signature,
  }),
  presentRecord,
  withAttempts: (shown, attempts) => ({ ...shown, attempts: attempts.map(presentAttempt) }),
  isEmpty: (request, draft) =>
    draft.value === 0n &&
    draft.data === '0x' &&
    draft.authorizationList === undefined &&
    !isRequested(request, draft),
  presentEmitted,
  presentGas: ({ gasLimit, fees }) => ({ gas_limit: gasLimit, ...presentPrices(fees) }),
  presentNumber: ({ nextNonce }) => ({ nonce: nextNonce?.toString() }),
  presentNetwork,
}

/** Recognises a body of group A. */
export function isEvmRequest(body: RequestBody): body is Schemas['EvmTransactionRequest'] {
  return 'value' in body
}

/** Converts a body of group A to the domain's request. */
function readEvmRequest(body: Schemas['EvmTransactionRequest'], chain: Chain): EvmRequest {
  const request: EvmRequest = omitUndefined({
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
    when: readCondition(body),
  })
  return body.valid_until === undefined ? request : withEnd(request, new Date(body.valid_until))
}

/** @throws AppError `invalid_request` for a price besides */
function readCondition({ when, ...body }: Schemas['EvmTransactionRequest']): FeeCondition | undefined {
  if (when === undefined) return undefined
  const { fee_at_most: feeAtMost, at_end: atEnd = 'expire' } = when
  if (!isPriced(body)) return { feeAtMost, atEnd }
  throw new AppError(
    'invalid_request',
    'when: expected without gas_price, max_fee_per_gas and max_priority_fee_per_gas, because a price of yours waits for the market by itself.',
  )
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
  return isPriced(body) ? undefined : DEFAULT_SPEED
}

function isPriced(body: Omit<Schemas['EvmTransactionRequest'], 'when'>): boolean {
  return (body.gas_price ?? body.max_fee_per_gas ?? body.max_priority_fee_per_gas) !== undefined
}

/**
 * Writes a record with the content of the shown attempt, or with the request while nothing is signed.
 */
function presentRecord(parts: RecordParts<'evm'>): Schemas['EvmTransaction'] {
  const { common, transaction, request, shown, chain } = parts
  const content = shown?.draft.type === 'evm' ? presentDraft(shown.draft) : presentRequest(request)
  const { nonce, isPrivate, madePublicAt } = transaction
  return omitUndefined({
    ...common,
    network_type: 'evm' as const,
    nonce,
    private: isPrivate === true ? (true as const) : undefined,
    made_public_at: madePublicAt?.toISOString(),
    ...content,
    speed: presentSpeed(request, chain),
    when: presentCondition(request),
    requested: presentRequested(parts),
    receipt: presentReceipt(transaction, shown),
  })
}

function presentCondition({ when, validUntil }: EvmRequest): Schemas['EvmTransaction']['when'] {
  if (when === undefined) return undefined
  const end = when.until ?? validUntil
  return omitUndefined({ fee_at_most: String(when.feeAtMost), at_end: when.atEnd, until: end?.toISOString() })
}

/**
 * Writes the content of the newest request, if the shown attempt has another: a no-op, or an earlier version.
 */
function presentRequested({ request, requestedTransfers, shown }: RecordParts<'evm'>) {
  if (shown?.draft.type !== 'evm' || isRequested(request, shown.draft)) return undefined
  const { to, value, data } = request
  return omitUndefined({ to, value: String(value), data, ...requestedTransfers() })
}

/** Tells whether a draft has the content of the newest request, if that is a caller's. */
function isRequested({ to, value, data = '0x', isNoop: isOfService }: EvmRequest, draft: EvmDraft): boolean {
  if (isOfService) return true
  return draft.to?.toLowerCase() === to?.toLowerCase() && draft.value === value && draft.data === data
}

/** An attempt on an EVM network as the contract shows it. */
function presentAttempt(attempt: Attempt<EvmDraft>): Schemas['EvmAttempt'] {
  const nonce = requireNonce(attempt)
  return omitUndefined({ ...presentCommonAttempt(attempt), nonce, ...presentDraft(attempt.draft) })
}

function presentRequest(request: EvmRequest) {
  return {
    to: request.to,
    value: String(request.value),
    data: request.data,
    ...presentLists(request),
    gas_limit: request.gasLimit,
    gas_price: request.gasPrice?.toString(),
    max_fee_per_gas: request.maxFeePerGas?.toString(),
    max_priority_fee_per_gas: request.maxPriorityFeePerGas?.toString(),
  }
}

function presentDraft({ to, value, data, gasLimit, fees, ...lists }: EvmDraft) {
  const content = { to, value: String(value), data, ...presentLists(lists) }
  return { ...content, gas_limit: gasLimit, ...presentPrices(fees) }
}

function presentPrices(fees: EvmDraft['fees']) {
  return fees.kind === 'legacy'
    ? { gas_price: String(fees.gasPrice) }
    : {
        max_fee_per_gas: String(fees.maxFeePerGas),
        max_priority_fee_per_gas: String(fees.maxPriorityFeePerGas),
      }
}

function presentLists({ accessList, authorizationList }: Pick<EvmDraft, 'accessList' | 'authorizationList'>) {
  return {
    access_list: accessList?.map(({ address, storageKeys }) => ({ address, storage_keys: storageKeys })),
    authorization_list: authorizationList?.map(({ chainId, yParity, ...signed }) => ({
      ...signed,
      chain_id: chainId,
      y_parity: yParity,
    })),
  }
}

function presentSpeed({ speed: level }: EvmRequest, chain: RecordParts<'evm'>['chain']) {
  if (level === undefined || chain === undefined) return undefined
  const { priceMultiplier, raiseAfterSeconds } = chain.speed(level)
  return { level, price_multiplier: priceMultiplier, raise_after_seconds: raiseAfterSeconds }
}

/**
 * The block that includes the attempt of an EVM transaction, and the price of it; undefined while no block
 * does, or no node reported it.
 */
function presentReceipt(
  { block }: Transaction,
  shown: Attempt | undefined,
): Schemas['EvmReceipt'] | undefined {
  const { gasUsed, gasPrice, feeCharged, l1Fee, operatorFee } = shown?.result ?? {}
  if (block === undefined || shown === undefined || gasUsed === undefined) return undefined
  return omitUndefined({
    transaction_hash: shown.signed.hash,
    block_number: block.number,
    block_hash: block.hash,
    block_time: block.time?.toISOString(),
    gas_used: gasUsed,
    effective_gas_price: gasPrice?.toString(),
    fee: feeCharged?.toString(),
    l1_fee: l1Fee?.toString(),
    operator_fee: operatorFee?.toString(),
  })
}

async function presentEmitted(
  { relayer_id: relayerId, receipt }: Schemas['EvmTransaction'],
  { db, chain, told: { emitted }, common }: EmittedParts,
): Promise<Schemas['EvmTransactionReceipt'] | undefined> {
  if (receipt === undefined || emitted.type !== 'evm') return undefined
  const { shown: logs } = await presentLogs({ db, chain, relayerId }, emitted.logs)
  const truncated = common.truncated || logs.length < emitted.logs.length
  return { ...common, network_type: 'evm', receipt, logs, truncated }
}

interface Decoding extends Pick<EmittedParts, 'db' | 'chain'> {
  readonly relayerId: string
}

/**
 * The most characters of JSON of the logs in one answer, as the contract says: the names of an ABI can be
 * much longer than the logs.
 */
const MAX_CHARACTERS = 262_144

/** The characters of a log besides its content. */
const OF_LOG = 50

/**
 * Decoding goes on for so long before other work has its turn, and in all, in ms. One log takes up to five.
 */
const TURN_MS = 10
const DECODING_MS = 250

/**
 * Decodes the logs by what is registered now. The logs behind the one that is too long, or takes too long,
 * are left out.
 */
async function presentLogs(
  { db, chain, relayerId }: Decoding,
  logs: readonly EvmLog[],
): Promise<{ readonly shown: Schemas['EvmLog'][] }> {
  const addresses = logs.map(({ address }) => chain.canonicalAddress(address))
  const registered = await findEvents(db, relayerId, [...new Set(addresses)])
  const shown: Schemas['EvmLog'][] = []
  let charactersLeft = MAX_CHARACTERS
  let msLeft = DECODING_MS
  let turnBegan = performance.now()
  for (const [index, log] of logs.entries()) {
    const address = addresses[index] ?? log.address
    const { logIndex, topics, data } = log
    const decoded_event = decode(chain, log, registered.get(address))
    const entry = omitUndefined({ log_index: logIndex, address, topics: [...topics], data, decoded_event })
    charactersLeft -= OF_LOG + data.length + JSON.stringify({ address, topics, decoded_event }).length
    const took = performance.now() - turnBegan
    if (charactersLeft < 0 || took > msLeft) break
    shown.push(entry)
    if (took < TURN_MS) continue
    msLeft -= took
    await endOfTurn()
    turnBegan = performance.now()
  }
  return { shown }
}

function decode(
  { contractCalls }: EmittedParts['chain'],
  log: EvmLog,
  registered: RegisteredEvents | undefined,
): Schemas['DecodedEvent'] | undefined {
  const decoded = contractCalls?.decodeEvent(log, registered?.events)
  if (decoded === undefined) return undefined
  const { event, source, args } = decoded
  const shownArgs = args.map(({ name, type, value }) => ({ name, type, value }))
  return { event, contract_name: registered?.contractName ?? null, source, args: shownArgs }
}

function presentNetwork(network: EvmNetwork) {
  return {
    private_rpc_urls: network.privateRpcUrls?.map(({ url, method }) => ({ url: maskUrl(url), method })),
    chain_id: network.chainId,
    required_confirmations: network.requiredConfirmations,
    finality: network.finality,
    max_gas_per_transaction:
      network.maxGasPerTransaction === undefined ? undefined : Number(network.maxGasPerTransaction),
    tx_fee_cap: String(network.txFeeCap),
    min_priority_fee: network.minPriorityFee === undefined ? undefined : String(network.minPriorityFee),
    features: network.features,
    symbol: network.symbol,
  }
}
