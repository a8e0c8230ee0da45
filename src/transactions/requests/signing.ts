import { type Actor, seesNetwork, seesRelayerId, type Visibility } from '../../access/principal.ts'
import { appendSignatures } from '../../audit/signatures.ts'
import type { MessageSignature, Signature, SignedDraft } from '../../chains/attempt.ts'
import type { TypedData } from '../../chains/evm/content.ts'
import type { UnsignedTransaction } from '../../chains/request.ts'
import type { Db } from '../../database/db.ts'
import { AppError } from '../../errors.ts'
import { type Network, networkId } from '../../networks/network.ts'
import { relayersOfAddress } from '../../relayers/accounts/claims-store.ts'
import { poolIdOf } from '../../relayers/accounts/pool.ts'
import { inactive, receiverForbidden, shortOfFunds } from '../../relayers/policies/policy.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { findRelayers, raiseKnownNonce } from '../../relayers/store.ts'
import { chargeSignature } from '../budgets/charge.ts'
import { refuseOpaque } from '../budgets/spenders.ts'
import { NOTHING_SIGNED, requireAnswer } from '../model/require-answer.ts'
import { accountOf, type TransactionsContext } from '../model/runtime.ts'
import { reservedBy } from '../store/due-store.ts'

/** The sender of a request for a signature. */
interface Sender {
  readonly actor: Actor
  /** The relayers and networks that the API key of the sender sees. */
  readonly visibility: Visibility
}

/** Signs structured data (EIP-712) for the account of a relayer. */
export type TypedDataSigner = (relayer: Relayer, data: TypedData, sender: Sender) => Promise<Signature>

interface TypedDataDeps extends Pick<TransactionsContext, 'runtimeOf'> {
  readonly db: Db
  /** Every network that a relayer can be on. */
  readonly networks: { list(): readonly Network[] }
}

/**
 * Creates the signer of typed data. A signature can be valid on another chain than the relayer's, where the
 * same account can have another relayer, so it also needs what a signature of that relayer would need.
 * @throws AppError with the rule that the data breaks; `chain_id_mismatch` for a chain that neither the
 * relayer nor the key may sign for
 */
export function createTypedDataSigner({ runtimeOf, ...deps }: TypedDataDeps): TypedDataSigner {
  return async (relayer, data, sender) => {
    requireSigning(relayer, sender.actor)
    const { chain, network, account } = runtimeOf(relayer)
    const { typedData } = chain
    if (typedData === undefined || !('chainId' in network))
      throw new AppError(
        'not_supported',
        `Relayer ${relayer.id} is on a network of type ${relayer.networkType}, which has no typed data; that is for evm.`,
      )
    const chainId = requireAnswer(typedData.chainIdOf(data), NOTHING_SIGNED)
    const isHash = data.kind === 'hashes'
    if (chainId !== BigInt(network.chainId))
      await requireElsewhere(deps, { relayer, own: network.chainId, chainId, isHash }, sender)
    return requireAnswer(await typedData.sign(data, account.signer), NOTHING_SIGNED)
  }
}

/** @throws AppError for a relayer that signs nothing now, or whose rules refuse what cannot be read */
function requireSigning(relayer: Relayer, actor: Actor): void {
  const refusal = inactive(relayer)
  if (refusal) throw refusal
  refuseOpaque(relayer, actor)
}

/** A signature that is good on another chain than the relayer's. */
interface Elsewhere {
  readonly relayer: Relayer
  /** The chain id of the relayer's network. */
  readonly own: number
  /** Undefined if the signature may be good on every chain. */
  readonly chainId: bigint | undefined
  readonly isHash: boolean
}

/**
 * Data that names no chain is allowed if the account has only this relayer: there are no other limits that it
 * could bypass, and clients of OpenZeppelin Relayer send only hashes.
 */
async function requireElsewhere(
  { db, networks }: Omit<TypedDataDeps, 'runtimeOf'>,
  elsewhere: Elsewhere,
  sender: Sender,
): Promise<void> {
  const { relayer, chainId } = elsewhere
  const { actor, visibility } = sender
  if (visibility.networks !== undefined) requireSeenChain(networks, elsewhere, sender)
  const { policies } = relayer
  const allowed = ('typedDataChainIds' in policies && policies.typedDataChainIds) || []
  const isAllowed = allowed.includes('*') || (chainId !== undefined && allowed.includes(String(chainId)))
  if (chainId !== undefined && !isAllowed) throw mismatch(elsewhere)
  const others = await findOthers(db, relayer, chainId)
  if (others.length > 0 && !isAllowed) throw mismatch(elsewhere)
  // The refusal for a relayer that the key does not see has the same words in every state of that relayer.
  if (others.some((other) => !sees(visibility, other))) throw hidden(elsewhere, actor)
  for (const other of others) requireSigning(other, actor)
}

/** @throws AppError unless the chain is one of the networks to which the key is limited */
function requireSeenChain(
  networks: TypedDataDeps['networks'],
  elsewhere: Elsewhere,
  { actor: { keyId: id }, visibility }: Sender,
): void {
  const { chainId } = elsewhere
  const isSeen = networks
    .list()
    .some(
      (network) =>
        'chainId' in network &&
        BigInt(network.chainId) === chainId &&
        seesNetwork(visibility, networkId(network)),
    )
  if (isSeen) return
  const expected =
    chainId === undefined
      ? `API key ${id} is limited to networks, and a signature without a chain is valid on others; send the whole document with a chainId`
      : `API key ${id} is limited to networks, and none of them has the chain id ${chainId}`
  throw new AppError('chain_id_mismatch', `${fieldOf(elsewhere)}: ${expected}.`)
}

/** Finds the other relayers of the account, on this chain or on every one. */
async function findOthers(
  db: Db,
  { id, address }: Relayer,
  chainId: bigint | undefined,
): Promise<readonly Relayer[]> {
  const ids = await relayersOfAddress(db, { address, chainId })
  return findRelayers(
    db,
    ids.filter((other) => other !== id),
  )
}

function sees(visibility: Visibility, { id, networkType, network }: Relayer): boolean {
  return (
    seesRelayerId(visibility, poolIdOf(id)) &&
    seesNetwork(visibility, networkId({ type: networkType, name: network }))
  )
}

function fieldOf({ chainId, isHash }: Pick<Elsewhere, 'chainId' | 'isHash'>): string {
  if (isHash) return 'body.domain_separator'
  return chainId === undefined ? 'body.domain' : 'body.domain.chainId'
}

function mismatch(elsewhere: Elsewhere): AppError {
  const { relayer, own, chainId } = elsewhere
  const problem =
    chainId === undefined
      ? `relayer ${relayer.id} is on chain ${own}, and the account has relayers on other chains, for which this signature is also valid; send the whole document with the chainId ${own}, or set the policy typed_data_chain_ids of the relayer to ["*"]`
      : `relayer ${relayer.id} is on chain ${own}, not ${chainId}; to sign for it nevertheless, add "${chainId}" or "*" to the policy typed_data_chain_ids of the relayer`
  return new AppError('chain_id_mismatch', `${fieldOf(elsewhere)}: ${problem}.`)
}

function hidden(elsewhere: Elsewhere, { keyId: id }: Actor): AppError {
  const where = elsewhere.chainId === undefined ? 'on other chains' : `on chain ${elsewhere.chainId}`
  return new AppError(
    'chain_id_mismatch',
    `${fieldOf(elsewhere)}: API key ${id} may not sign for the account's ${where}.`,
  )
}

/** Signs a transaction of the relayer's network type without storing or broadcasting it. */
export type TransactionSigner = (
  relayer: Relayer,
  unsigned: UnsignedTransaction,
  actor: Actor,
) => Promise<SignedDraft>

/**
 * Signs a transaction that the caller broadcasts itself, under the rules of sending. Nothing is stored, and
 * no nonce is assigned. The service never sees the transaction again, so it refuses what it cannot check now.
 * @throws AppError with the rule that the transaction breaks, or `network_unavailable` when no node answers
 */
export function createTransactionSigner(context: TransactionsContext): TransactionSigner {
  return async (relayer, unsigned, actor) => {
    const { chain, account, sourceAccounts } = context.runtimeOf(relayer)
    const refusal = inactive(relayer)
    if (refusal) throw refusal
    const answer = await chain.review(unsigned, accountOf(relayer))
    const { request, effects, cost, nextNonce, sign } = requireAnswer(answer, NOTHING_SIGNED)
    const forbidden = request && receiverForbidden(relayer, request)
    if (forbidden) throw forbidden
    if (cost > 0n) await checkFunds(context, relayer, cost)
    const signing = { relayer, actor, action: 'sign_transaction', request } as const
    await chargeSignature(context, signing, { effects, cost })
    if (sourceAccounts.some(({ address }) => address === nextNonce?.address) && nextNonce)
      await raiseKnownNonce(context.db, { relayerId: relayer.id, ...nextNonce, within: MAX_AHEAD })
    return sign(account.signer)
  }
}

/**
 * A nonce of content that only its caller sends explains what the chain uses only as far as this beyond the
 * others: one that is far ahead cannot be used soon, and would hide unexplained nonces.
 */
const MAX_AHEAD = 1_000n

async function checkFunds(context: TransactionsContext, relayer: Relayer, cost: bigint): Promise<void> {
  const { chain } = context.runtimeOf(relayer)
  const [balance, reserved] = await Promise.all([
    chain.balance(relayer.address),
    reservedBy(context.db, relayer.id, { now: new Date(context.clock.now()) }),
  ])
  const short = shortOfFunds(relayer, {
    unit: chain.unit,
    balance: requireAnswer(balance, NOTHING_SIGNED),
    reserved,
    cost,
  })
  if (short) throw short
}

/** Signs the preimage of an authorization entry, XDR in base64, for the account of a relayer. */
export type AuthorizationSigner = (
  relayer: Relayer,
  preimage: string,
  actor: Actor,
) => Promise<MessageSignature>

/** A third party pays the fee of the transaction, and what the calls move is in their effects. */
const NO_COST = 0n

/**
 * Signs an authorization of smart contract calls, under the rules for the same calls in a transaction. Its
 * entry of the audit log is in the commit of the charge, before the signing: nothing is signed without one,
 * and when the signer fails, there is one without a signature.
 * @throws AppError with the rule that the authorization breaks, or `network_unavailable` if no node returns
 * the newest ledger
 */
export function createAuthorizationSigner(context: TransactionsContext): AuthorizationSigner {
  return async (relayer, preimage, actor) => {
    const { chain, account } = context.runtimeOf(relayer)
    const refusal = inactive(relayer)
    if (refusal) throw refusal
    const answer = await chain.authorizationEntries?.review(preimage, relayer.address)
    if (answer === undefined)
      throw new AppError(
        'not_supported',
        `Relayer ${relayer.id} is on a network of type ${relayer.networkType}, which has no authorization entries; they are for stellar.`,
      )
    const { effects, sha256, sign } = requireAnswer(answer, NOTHING_SIGNED)
    const signature = { relayerId: relayer.id, action: 'signAuthorizationEntry', actor, sha256 } as const
    await chargeSignature(
      context,
      {
        relayer,
        actor,
        action: 'sign_authorization',
        record: (tx) => appendSignatures(tx, relayer.id, [signature]),
      },
      { effects, cost: NO_COST },
    )
    return sign(account.signer)
  }
}
