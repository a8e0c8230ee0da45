import type { EndpointReport, Head, PriceComparison } from '../chains/answer.ts'
import type { Attempt } from '../chains/attempt.ts'
import type { Unit } from '../chains/chain.ts'
import { describeHead, type HeadState } from '../networks/head-age.ts'
import type { Network } from '../networks/network.ts'
import type { Relayer } from '../relayers/relayer.ts'
import { currentAttempt } from '../transactions/broadcast/broadcast.ts'
import { contentKind } from '../transactions/model/attempts.ts'
import { levelOf, speedUpAfterMs } from '../transactions/model/due.ts'
import { accountOf, type RelayerRuntime, type TransactionsContext } from '../transactions/model/runtime.ts'
import type {
  Transaction,
  TransactionStatus,
  TransactionWithAttempts,
} from '../transactions/model/transaction.ts'
import { isFinal } from '../transactions/model/transitions.ts'
import { measureInFlight, reservedBy } from '../transactions/store/due-store.ts'
import { findConfirmedNonces, findUsedNonces } from '../transactions/store/nonce-store.ts'
import { countAhead, findHeadSince } from '../transactions/store/queue-store.ts'
import { planRaise, type RaisePlan } from '../transactions/submit/raise-fee.ts'

/** The maximum number of missing nonces in a diagnosis. */
const MAX_MISSING = 64n

/** The inputs of a diagnosis. A value is undefined if no node returned it. */
export interface DiagnosisFacts {
  readonly transaction: Transaction
  readonly relayer: Relayer
  /** The attempt that the record shows. */
  readonly attempt: Attempt | undefined
  /** The kind of its content: that of a raised attempt is that of the one before. */
  readonly content: Attempt['kind'] | undefined
  readonly now: number
  readonly ahead: number
  readonly inFlight: number
  readonly inFlightLimit: number
  /** The sum that the other open transactions can still take, in the smallest unit. */
  readonly reserved: bigint
  readonly balance: bigint | undefined
  readonly chainNonce: bigint | undefined
  /** The highest nonce of a confirmed transaction of the account on the present chain. */
  readonly confirmedNonce: bigint | undefined
  /** The proof that the chain was reset, as a sentence; undefined without one. */
  readonly chainReset: string | undefined
  /** The nonce after the last transaction of the account that a node would include next. */
  readonly pendingNonce: bigint | undefined
  /** Nonces between the next one on the chain and its own that no transaction has. */
  readonly missing: readonly bigint[]
  readonly price: PriceComparison | undefined
  readonly head: Head | undefined
  /** The newest head that the endpoints reported, and for how long; undefined if none did recently. */
  readonly headState: HeadState | undefined
  readonly network: Network
  readonly requiredConfirmations: number
  /** True when signed bytes expire and are signed again, instead of a raise of the fee. */
  readonly expires: boolean
  readonly unit: Unit
  readonly endpoints: readonly EndpointReport[]
  /** The private endpoints; undefined if the network has none. */
  readonly privateEndpoints: readonly EndpointReport[] | undefined
  /** The sentence about a key whose service does not answer or refuses; undefined while it signs. */
  readonly signerProblem: string | undefined
  /**
   * The time when the fee of the current attempt is raised, in ms since the epoch; undefined if it is never
   * raised.
   */
  readonly raiseAt: number | undefined
  /**
   * The raise that the service would make now, regardless of the speed's delay, or its reason not to;
   * undefined if it makes none.
   */
  readonly raise: RaisePlan | undefined
}

/** Reads the facts from the database and the network. A final transaction needs no network. */
export async function gatherFacts(
  context: TransactionsContext,
  relayer: Relayer,
  item: TransactionWithAttempts,
): Promise<DiagnosisFacts> {
  const { transaction } = item
  const runtime = context.runtimeOf(relayer)
  const [account, network] = await Promise.all([
    accountFacts(context, transaction),
    isFinal(transaction.status) ? NO_NETWORK_FACTS : networkFacts(context, relayer, item),
  ])
  const missing = await missingNonces(context, transaction, network.chainNonce)
  return {
    transaction,
    relayer,
    attempt: currentAttempt(item),
    content: contentKind(item.attempts, transaction.currentAttempt),
    now: context.clock.now(),
    inFlightLimit: await limitOf(context, runtime),
    expires: runtime.chain.expiry !== undefined,
    unit: runtime.chain.unit,
    requiredConfirmations: runtime.network.requiredConfirmations,
    network: runtime.network,
    raiseAt: await raiseTime(context, relayer, item),
    raise: account.ahead === 0 ? await raisePlan(context, relayer, item) : undefined,
    missing,
    ...account,
    ...network,
  }
}

/** Sums the in-flight limits of all source accounts. */
async function limitOf(
  { maxInFlight }: TransactionsContext,
  { chain, sourceAccounts }: RelayerRuntime,
): Promise<number> {
  const maximum = chain.sequencing?.maxInFlight ?? maxInFlight
  const limits = await Promise.all(
    sourceAccounts.map(({ address }) => chain.sequencing?.inFlightLimit?.(address)),
  )
  return limits.reduce<number>((sum, limit) => sum + Math.min(maximum, limit ?? maximum), 0)
}

async function accountFacts({ db, clock }: TransactionsContext, transaction: Transaction) {
  const now = new Date(clock.now())
  const [ahead, inFlight, reserved] = await Promise.all([
    countAhead(db, transaction, now),
    measureInFlight(db, transaction.relayerId),
    reservedBy(db, transaction.relayerId, { now, except: transaction.id }),
  ])
  return { ahead, inFlight: [...inFlight.counts.values()].reduce((sum, count) => sum + count, 0), reserved }
}

type NetworkFacts = Pick<
  DiagnosisFacts,
  | 'balance'
  | 'chainNonce'
  | 'confirmedNonce'
  | 'chainReset'
  | 'pendingNonce'
  | 'price'
  | 'head'
  | 'headState'
  | 'endpoints'
  | 'privateEndpoints'
  | 'signerProblem'
>

const NO_NETWORK_FACTS: NetworkFacts = {
  balance: undefined,
  chainNonce: undefined,
  confirmedNonce: undefined,
  chainReset: undefined,
  pendingNonce: undefined,
  price: undefined,
  head: undefined,
  headState: undefined,
  endpoints: [],
  privateEndpoints: undefined,
  signerProblem: undefined,
}

async function networkFacts(
  context: TransactionsContext,
  relayer: Relayer,
  item: TransactionWithAttempts,
): Promise<NetworkFacts> {
  const runtime = context.runtimeOf(relayer)
  const { chain } = runtime
  // A pending transaction was priced before, where nodes refused its attempts.
  const attempt = currentAttempt(item) ?? item.attempts.at(-1)
  const sourceAccount = item.transaction.sourceAccount ?? relayer.address
  const [confirmed, chainReset, balance, [nonce], pendingNonce, head, price, signer] = await Promise.all([
    findConfirmedNonces(context.db, relayer, [sourceAccount]),
    context.findChainReset(runtime),
    chain.balance(relayer.address),
    chain.sequencing?.nonces([sourceAccount]) ?? [],
    chain.sequencing?.pendingNonce?.(sourceAccount),
    chain.head(),
    attempt === undefined
      ? undefined
      : chain.comparePrice(attempt.draft, levelOf(item.transaction), accountOf(relayer)),
    runtime.account.signer?.check?.(),
  ])
  return {
    balance: balance.kind === 'ok' ? balance.value : undefined,
    chainNonce: nonce?.kind === 'ok' ? nonce.value : undefined,
    confirmedNonce: confirmed.get(sourceAccount),
    chainReset,
    pendingNonce,
    head: head.kind === 'ok' ? head.value : undefined,
    headState: describeHead(runtime.network, chain.seenHead(), context.clock.monotonic()),
    price: price?.kind === 'ok' ? price.value : undefined,
    endpoints: chain.endpoints(),
    privateEndpoints: chain.privateBroadcast?.endpoints(),
    signerProblem: signer === undefined || signer.kind === 'ok' ? undefined : signer.detail,
  }
}

async function missingNonces(
  { db }: TransactionsContext,
  transaction: Transaction,
  chainNonce: bigint | undefined,
): Promise<bigint[]> {
  const { nonce } = transaction
  if (nonce === undefined || chainNonce === undefined || chainNonce >= nonce) return []
  const to = nonce - chainNonce > MAX_MISSING ? chainNonce + MAX_MISSING : nonce
  const used = await findUsedNonces(db, transaction, { from: chainNonce, to })
  const candidates = Array.from({ length: Number(to - chainNonce) }, (_, index) => chainNonce + BigInt(index))
  return candidates.filter((candidate) => !used.has(candidate))
}

/**
 * Only the head of a queue is raised, and only where signed bytes do not expire and the caller named no
 * price.
 */
async function raisePlan(
  context: TransactionsContext,
  relayer: Relayer,
  item: TransactionWithAttempts,
): Promise<RaisePlan | undefined> {
  const { transaction } = item
  const runtime = context.runtimeOf(relayer)
  const isRaised = isUnmined(transaction.status) && speedUpAfterMs(runtime.chain, transaction) !== undefined
  return isRaised ? planRaise(context, { relayer, runtime }, item) : undefined
}

async function raiseTime(
  context: TransactionsContext,
  relayer: Relayer,
  { transaction, attempts }: TransactionWithAttempts,
): Promise<number | undefined> {
  const speedUpDelay = speedUpAfterMs(context.runtimeOf(relayer).chain, transaction)
  const newest = attempts.findLast((attempt) => attempt.broadcastAt !== undefined)
  if (speedUpDelay === undefined || newest?.broadcastAt === undefined) return undefined
  const headSince = await findHeadSince(context.db, transaction)
  return Math.max(newest.broadcastAt.getTime(), headSince?.getTime() ?? 0) + speedUpDelay
}

/** Returns true if a node has the transaction and no block includes it. */
export function isUnmined(status: TransactionStatus): boolean {
  return status === 'sent' || status === 'submitted'
}
