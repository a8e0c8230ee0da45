import { createHash } from 'node:crypto'
import type { Chain } from '../chains/chain.ts'
import type { TypedData } from '../chains/evm/content.ts'
import type { UnsignedTransaction } from '../chains/request.ts'
import type { Schemas } from '../contract/operations.ts'
import { AppError } from '../errors.ts'
import type { HandlerMap } from '../http/handler.ts'
import { fingerprintOf } from '../lib/hash.ts'
import { omitUndefined } from '../lib/object.ts'
import type { Relayer } from '../relayers/relayer.ts'
import { type KeyCreation, listCreations } from '../signers/creation/creation-store.ts'
import { adviceOf } from '../signers/creation/makers.ts'
import { listSigners, type StoredSigner, shownSigner } from '../signers/store.ts'
import { withSignedPayment } from '../sponsoring/fee-payment.ts'
import { readAddress } from './codecs/address.ts'
import { CODECS } from './codecs/codecs.ts'
import { presentMessageSignature, toPage } from './present/shared.ts'
import type { CoreParts, RelayerParts, SigningParts } from './service.ts'
import { requireRelayer } from './transactions/transactions.ts'

/** The operations that sign without sending. */
export function signingHandlers({
  relayerOf,
  runtimeOf,
  signTransaction,
  signTypedData,
  signAuthorization,
  recordSignature,
  db,
  clock,
}: CoreParts & RelayerParts & SigningParts): Pick<
  HandlerMap,
  'signTypedData' | 'signTransaction' | 'signAuthorizationEntry'
> {
  return {
    signTypedData: async ({ path, body }, { actor, principal: { visibility } }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const signature = await signTypedData(relayer, readTypedData(body), { actor, visibility })
      const sha256 = fingerprintOf(body)
      await recordSignature({ relayerId: relayer.id, action: 'signTypedData', actor, sha256 })
      return { data: signature }
    },
    signTransaction: async ({ path, body }, { actor }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const { chain } = runtimeOf(relayer)
      const read = readUnsigned(body, relayer, chain)
      const unsigned = await withSignedPayment(db, { relayer, chain, now: clock.now() }, read)
      const signed = await signTransaction(relayer, unsigned, actor)
      const sha256 = createHash('sha256').update(signed.raw).digest('hex')
      await recordSignature({ relayerId: relayer.id, action: 'signTransaction', actor, sha256 })
      return { data: CODECS[relayer.networkType].presentSigned(signed) }
    },
    signAuthorizationEntry: async ({ path, body }, { actor }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const signature = await signAuthorization(relayer, body.preimage_xdr, actor)
      return { data: presentMessageSignature(signature) }
    },
  }
}

function readTypedData(body: Schemas['SignTypedDataRequest']): TypedData {
  if ('types' in body) return { kind: 'document', ...body }
  return {
    kind: 'hashes',
    domainSeparator: withPrefix(body.domain_separator),
    structHash: withPrefix(body.hash_struct_message),
  }
}

function withPrefix(hex: string): string {
  return hex.startsWith('0x') ? hex : `0x${hex}`
}

type Operations =
  | 'listSigners'
  | 'createSigner'
  | 'getSigner'
  | 'deleteSigner'
  | 'createKey'
  | 'listKeyCreations'
  | 'forgetKeyCreation'

/**
 * The time for a request that creates a key, in ms: the key service is called several times, and an account
 * with many keys may be searched.
 */
const CREATION_MS = 120_000

/** The operations of the tag Signers. */
export function signerHandlers({
  db,
  clock,
  signers,
  keyCreator,
}: CoreParts & RelayerParts): Pick<HandlerMap, Operations> {
  const present = (creation: KeyCreation) => presentCreation(creation, clock.now())
  return {
    listSigners: async ({ query }) => {
      const page = toPage(query)
      const { items, total } = await listSigners(db, page)
      return { data: items.map(presentSigner), pagination: page.describe(total) }
    },
    createSigner: async ({ body }, { actor }) => ({
      data: presentSigner(await signers.create(body, actor)),
    }),
    getSigner: async ({ path }) => ({ data: presentSigner(await signers.get(path.signer_id)) }),
    deleteSigner: async ({ path }, { actor }) => {
      await signers.delete(path.signer_id, actor)
      return { data: 'Signer deleted successfully' }
    },
    createKey: async ({ body }, context) => {
      context.allow(CREATION_MS)
      const { signer_id: signerId, ...request } = body
      const creation = await keyCreator.create({ signerId, ...request }, context.actor, context.signal)
      return { data: present(creation), logs: creation.state === 'usable' ? [adviceOf(request.type)] : [] }
    },
    listKeyCreations: async ({ query }) => {
      const page = toPage(query)
      const { items, total } = await listCreations(db, page)
      return { data: items.map(present), pagination: page.describe(total) }
    },
    forgetKeyCreation: async ({ path }, { actor }) => {
      await keyCreator.forget(path.signer_id, actor)
      return { data: 'Key creation forgotten; its key stays in the key service' }
    },
  }
}

/** Converts a signer to the form of the contract. */
function presentSigner(signer: StoredSigner): Schemas['Signer'] {
  return shownSigner(signer) as Schemas['Signer']
}

/** Converts a creation to the form of the contract. `now` is in ms. */
function presentCreation(creation: KeyCreation, now: number): Schemas['KeyCreation'] {
  const { signerId, type, curve, state, config, keyName, keyFields, addresses, createdAt } = creation
  const isThere = state !== 'requested'
  return omitUndefined({
    signer_id: signerId,
    type: type as Schemas['KeyCreation']['type'],
    curve,
    state,
    config: { ...config },
    // While no one knows the name, no one can give it to another key.
    key_name: isThere ? keyName : undefined,
    key: isThere && keyFields ? { ...keyFields } : undefined,
    addresses,
    detail: detailOf(creation, now),
    created_at: createdAt.toISOString(),
  })
}

/** Says what happened to a key that is not usable, and what to do. */
function detailOf({ state, problem, callUntil }: KeyCreation, now: number): string | undefined {
  if (state === 'usable') return undefined
  if (problem !== undefined) return problem
  if (callUntil !== undefined && callUntil.getTime() > now)
    return 'The key service is being called, or its answer was lost. Send the same request again: the key is looked for before one is created.'
  return 'The creation was interrupted. Send the same request again: the key is looked for before one is created.'
}

/**
 * Converts the body to the transaction that the relayer signs.
 * @throws AppError 400 `wrong_network_type` for the body of another network type
 */
function readUnsigned(
  body: Schemas['SignTransactionRequest'],
  { id, networkType }: Relayer,
  chain: Chain,
): UnsignedTransaction {
  const unsigned = read(body, chain)
  if (unsigned.type === networkType) return unsigned
  const [sent] = Object.keys(body)
  throw new AppError(
    'wrong_network_type',
    `The field ${sent} is for networks of type ${unsigned.type}. Relayer ${id} is on a network of type ${networkType}: send ${CODECS[networkType].unsignedFields}.`,
  )
}

function read(body: Schemas['SignTransactionRequest'], chain: Chain): UnsignedTransaction {
  if ('unsigned_xdr' in body) return { type: 'stellar', envelope: body.unsigned_xdr }
  if ('transaction' in body) return { type: 'solana', transaction: body.transaction }
  if ('unsigned_transaction' in body) return { type: 'evm', encoded: body.unsigned_transaction }
  const request = omitUndefined({
    type: 'evm' as const,
    to: body.to ? readAddress(chain, body.to, 'body.to') : undefined,
    value: body.value,
    data: body.data,
    gasLimit: body.gas_limit,
    gasPrice: body.gas_price,
    maxFeePerGas: body.max_fee_per_gas,
    maxPriorityFeePerGas: body.max_priority_fee_per_gas,
  })
  return { type: 'evm', request, nonce: body.nonce }
}
