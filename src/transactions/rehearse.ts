import type { ControlledTransaction } from 'kysely'
import { appendEntries } from '../audit/append-store.ts'
import { chainOf, SERVICE } from '../audit/entry.ts'
import type { Attempt, SignedDraft } from '../chains/attempt.ts'
import type { EvmDraft } from '../chains/evm/content.ts'
import { acquireLease, releaseLease } from '../database/lease.ts'
import type { Db, Schema } from '../database/schema.ts'
import { sendTogether } from '../database/statement-queue.ts'
import type { Logger } from '../log.ts'
import type { EvmRelayer } from '../relayers/relayer.ts'
import { findRelayer, saveRelayer } from '../relayers/store.ts'
import { findUnsettled } from '../spending/spending-store.ts'
import { findLateApprovals } from './approvals/approvals-store.ts'
import { auditedAction } from './model/audited-transaction.ts'
import type { Transaction } from './model/transaction.ts'
import { newTransactionId } from './model/transaction-id.ts'
import { lockForAdmission, storeAdmitted } from './store/admission-store.ts'
import { findAttempts, insertAttempts, saveOutcomes } from './store/attempts-store.ts'
import { findConfirmedNonces, findNextNonces, lockCounters, setNextNonce } from './store/nonce-store.ts'
import { findQueueHeads, findSubmittable } from './store/queue-store.ts'
import {
  createReservationBounds,
  type ReservationBounds,
  type TransactionWriter,
} from './store/reservation-bounds.ts'
import { saveTransactions } from './store/transactions-store.ts'
import {
  findDueInFlight,
  findDueRelayers,
  findWatched,
  hasDuePending,
  hasWatched,
  measureInFlight,
} from './store/work-store.ts'
import { listFilled } from './top-up/top-ups-store.ts'

type Writer = TransactionWriter<ControlledTransaction<Schema>>

type Sign = (draft: EvmDraft) => Promise<SignedDraft>

interface RehearsalParts {
  readonly db: Db
  /** Signs with some key, as a relayer on EVM would. */
  readonly sign: Sign
}

/** The address and the key of nobody. */
const ADDRESS = '0x000000000000000000000000000000000000dEaD'
const ID = 'rehearsal'

const DRAFT: EvmDraft = {
  type: 'evm',
  to: ADDRESS,
  value: 1n,
  data: '0x',
  gasLimit: 21_000n,
  fees: { kind: 'eip1559', maxFeePerGas: 2n, maxPriorityFeePerGas: 1n },
}

/**
 * The time in ms after which no further rehearsal begins. The first one takes about 100 ms and a later one 10; half of this time makes the first
 * requests take a third longer. More delays the start, which has to be quick after a crash. The rows that are rolled back take some 80 kB of the
 * database until the next vacuum.
 */
const REHEARSAL_MS = 400

/**
 * Takes a transaction through its life again and again, with the signature and the statements of its real steps, and rolls everything back. The
 * engine of the embedded database compiles each function and parses each statement when it uses them for the first time, and V8 makes quick
 * code of what runs often; both would be in the first requests. A rehearsal that fails is only missing.
 */
export async function rehearse({ log, ...parts }: RehearsalParts & { readonly log: Logger }): Promise<void> {
  try {
    // From the second one on, a bound is known, as for all but the first request of a relayer.
    const reservations = createReservationBounds()
    const end = performance.now() + REHEARSAL_MS
    while (performance.now() < end) await rehearseOnce(parts, reservations)
  } catch (error) {
    log.warn({ err: error }, 'rehearsal of a transaction failed; the first requests may take longer')
  }
}

async function rehearseOnce({ db, sign }: RehearsalParts, reservations: ReservationBounds): Promise<void> {
  const tx = await db.startTransaction().execute()
  try {
    await liveThrough({ tx, reservations }, sign)
  } finally {
    await tx.rollback().execute()
  }
}

async function liveThrough(writer: Writer, sign: Sign): Promise<void> {
  const { tx } = writer
  const relayer = newRelayer()
  await saveRelayer(tx, relayer)
  await findRelayer(tx, ID)
  const accepted = await accept(writer)
  const sent = await submit(writer, accepted, sign)
  await watch(writer, sent)
  await lookAround(tx, relayer)
}

function newRelayer(): EvmRelayer {
  return {
    id: ID,
    name: ID,
    network: ID,
    networkType: 'evm',
    address: ADDRESS,
    signerId: ID,
    paused: true,
    systemDisabled: false,
    policies: {},
  }
}

async function accept({ tx, reservations }: Writer): Promise<Transaction> {
  const now = new Date()
  const locked = await sendTogether(tx, (queue) => lockForAdmission({ tx: queue, reservations }, ID, now))
  const { fees: _, ...request } = DRAFT
  const transaction: Transaction = {
    id: newTransactionId(),
    relayerId: ID,
    network: ID,
    from: ADDRESS,
    status: 'pending',
    createdAt: now,
    request,
    purpose: 'request',
    version: 1,
    requestedBy: SERVICE.keyId,
    cost: 1n,
    nextRunAt: now,
  }
  const action = { actor: SERVICE, action: 'sendTransaction' } as const
  const changes = [auditedAction(transaction.id, action, { after: transaction })]
  const admitted = { relayerId: ID, transactions: [transaction], changes, head: locked?.head }
  const isAudited = await sendTogether(tx, (queue) => storeAdmitted({ tx: queue, reservations }, admitted))
  if (!isAudited) await appendEntries(tx, chainOf(ID), changes)
  return transaction
}

async function submit(writer: Writer, accepted: Transaction, sign: Sign): Promise<Transaction> {
  const { tx } = writer
  const now = new Date()
  await findDueRelayers(tx, now)
  const lease = await acquireLease(tx, { name: `account:${ID}`, owner: ID, ttlMs: 1_000 })
  if (lease === undefined) throw new Error('the lease of the rehearsal is taken')
  await findDueInFlight(tx, ID, now)
  await findSubmittable(tx, ID, { now, limits: { pending: 1, overtaken: 1 } })
  await measureInFlight(tx, ID)
  await findNextNonces(tx, ID)
  await lockCounters(tx, { relayerId: ID, lease })
  await setNextNonce(tx, { relayerId: ID, address: ADDRESS, nonce: 1n })
  const numbered = {
    ...accepted,
    status: 'sent',
    sourceAccount: ADDRESS,
    nonce: 0n,
    currentAttempt: 1,
  } as const
  const [sent = numbered] = await saveTransactions(writer, [numbered], { keepsRequest: true })
  const attempt = newAttempt(await sign(DRAFT), now)
  await insertAttempts(tx, [{ transactionId: sent.id, attempt }])
  const submitted = { ...sent, status: 'submitted', sentAt: now } as const
  const [saved = submitted] = await saveTransactions(writer, [submitted], { keepsRequest: true })
  await saveOutcomes(tx, [{ transactionId: sent.id, number: 1, outcome: 'broadcast', broadcastAt: now }], {
    openOnly: true,
  })
  await hasDuePending(tx, ID, now)
  await releaseLease(tx, lease)
  return saved
}

function newAttempt(signed: SignedDraft, signedAt: Date): Attempt {
  return {
    number: 1,
    kind: 'send',
    sourceAccount: ADDRESS,
    nonce: 0n,
    draft: DRAFT,
    signed,
    signedAt,
    outcome: 'signed',
  }
}

async function watch(writer: Writer, submitted: Transaction): Promise<void> {
  const { tx } = writer
  await hasWatched(tx, [ID])
  await findWatched(tx, [ID])
  await findAttempts(tx, [submitted])
  const block = { number: 1n, hash: ID }
  const mined = { ...submitted, status: 'mined', block } as const
  const [saved = mined] = await saveTransactions(writer, [mined], { keepsRequest: true })
  await saveTransactions(writer, [{ ...saved, status: 'confirmed', confirmedAt: new Date() }], {
    keepsRequest: true,
  })
}

/** Asks the questions with which the workers begin. */
async function lookAround(tx: Writer['tx'], relayer: EvmRelayer): Promise<void> {
  const now = new Date()
  await findQueueHeads(tx, now)
  await findLateApprovals(tx, now, 1)
  await findUnsettled(tx, 1)
  await listFilled(tx)
  await findConfirmedNonces(tx, relayer, [ADDRESS])
}
