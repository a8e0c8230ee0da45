import { BoundedMap } from '../../../lib/bounded-map.ts'
import { createBatcher } from '../../../lib/concurrency/batcher.ts'
import type { Clock } from '../../../lib/time.ts'
import type { Freshness, InclusionProof } from '../../answer.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import type { Slot } from '../content.ts'
import { type Finalized, readFinalized } from '../read/head.ts'
import type { EndpointStatuses, ReceiptReader } from '../read/receipts.ts'
import type { SolanaAttempt } from '../types.ts'
import { proveAbsence } from './absence.ts'
import {
  groupByWindow,
  type InclusionWindow,
  inclusionWindowOf,
  joinWindows,
  mayStillExecute,
  type UnprovenTransaction,
} from './inclusion-window.ts'

interface ProverOptions {
  readonly client: PooledClient
  readonly receipts: ReceiptReader
  readonly clock: Clock
}

/**
 * The result "unprovable" is kept for this time before the ledgers are read again, in ms. Signatures are read
 * every time, and a new endpoint creates a new instance of the chain.
 */
const HOPELESS_MS = 30_000

/** The memory holds the result of at most this many transactions and forgets the oldest first. */
const MAX_HOPELESS = 10_000

type Attempts = readonly SolanaAttempt[]

/** The attempts of one transaction, and the slot that the endpoints must have reached. */
interface AttemptsAsOf {
  readonly attempts: Attempts
  readonly asOf: bigint | undefined
}

/** The finalized head of one round of questions. */
interface Look {
  readonly asOf: Slot
  readonly head: Finalized
}

/**
 * Creates a prover of inclusion and absence.
 *
 * An endpoint that knows a signature proves inclusion. A node that does not know it proves nothing alone: it may have pruned the block, or
 * never had it. Absence is therefore proved with an endpoint that
 *
 * 1. does not know the signatures, as no other endpoint does, and
 * 2. has every block that could include the transaction, in its own ledger. `inclusion-window.ts` computes the range of blocks: a transaction lives for
 *   150 blocks from its blockhash, or until its durable nonce is advanced. `ledgers.ts` compares the number of blocks with the difference
 *   of their heights, which shows every hole.
 *
 * Its signatures are read before and after its ledger. Every other endpoint must do the same, or can never have these blocks: a silent one
 * could know the transaction. `absence.ts` works in rounds, because the number of slots without a block is not known in advance. Queries of
 * the same turn of the event loop share their calls.
 */
export function createInclusionProver({ client, receipts, clock }: ProverOptions) {
  const hopeless = new BoundedMap<string, { readonly proof: InclusionProof; readonly until: number }>(
    MAX_HOPELESS,
  )

  async function proveAll(items: readonly Attempts[], asOf: bigint | undefined): Promise<InclusionProof[]> {
    const signatures = items.flatMap((attempts) => attempts.map(({ signed }) => signed.hash))
    const endpoints = await receipts.askEach(signatures, asOf)
    const proofs = new Map<Attempts, InclusionProof>()
    const open: UnprovenTransaction<Attempts>[] = []
    let from = 0
    for (const attempts of items) {
      const statuses = endpoints.map((one) => ({
        ...one,
        statuses: one.statuses.slice(from, from + attempts.length),
      }))
      from += attempts.length
      const found = evaluateStatuses(attempts, statuses) ?? remembered(attempts)
      if (found) proofs.set(attempts, found)
      else open.push({ of: attempts, life: lifeOfAll(attempts), endpoints: statuses })
    }
    if (open.length > 0) await proveOpen(open, { asOf, proofs })
    return items.map((attempts) => proofs.get(attempts) ?? NO_ANSWER)
  }

  async function proveOpen(
    open: readonly UnprovenTransaction<Attempts>[],
    { asOf, proofs }: { asOf: bigint | undefined; proofs: Map<Attempts, InclusionProof> },
  ): Promise<void> {
    const head = await readFinalized(client, asOf)
    if (head.kind !== 'ok') return
    const look: Look = { asOf: (asOf ?? head.value.slot) as Slot, head: head.value }
    for (const group of groupByWindow(open)) await proveGroup(group, look, proofs)
  }

  /**
   * Proves all together where that succeeds; otherwise in halves, until the transactions without a proof are
   * found.
   */
  async function proveGroup(
    group: readonly UnprovenTransaction<Attempts>[],
    look: Look,
    proofs: Map<Attempts, InclusionProof>,
  ): Promise<void> {
    const life = joinWindows(group.map((one) => one.life))
    const read = await proveAbsence(client, { ...look, life, endpoints: mergeStatuses(group) })
    const proof = read.kind !== 'absent' || (await isUnchanged(group, look)) ? read : CHANGED
    if (proof.kind === 'absent' || group.length === 1) {
      for (const { of } of group) note(of, proof, proofs)
      return
    }
    const middle = group.length >> 1
    await proveGroup(group.slice(0, middle), look, proofs)
    await proveGroup(group.slice(middle), look, proofs)
  }

  /**
   * The signatures are read again after the ledgers: behind one url there may be several nodes, or one that
   * got its blocks back, so the ledger that was read need not be that of the node which did not know them.
   */
  async function isUnchanged(
    group: readonly UnprovenTransaction<Attempts>[],
    { asOf }: Look,
  ): Promise<boolean> {
    const signatures = group.flatMap(({ of }) => of.map(({ signed }) => signed.hash))
    const again = await receipts.askEach(signatures, asOf)
    const kindsOf = (endpoints: readonly EndpointStatuses[]) =>
      endpoints
        .map(({ url, statuses }) => [url, ...statuses.map(({ kind }) => kind)].join(' '))
        .sort()
        .join('\n')
    return kindsOf(again) === kindsOf(mergeStatuses(group))
  }

  function note(attempts: Attempts, proof: InclusionProof, proofs: Map<Attempts, InclusionProof>): void {
    proofs.set(attempts, proof)
    if (proof.kind !== 'unknown' || !proof.unprovable) return
    hopeless.set(keyOf(attempts), { proof, until: clock.monotonic() + HOPELESS_MS })
  }

  function remembered(attempts: Attempts): InclusionProof | undefined {
    const known = hopeless.get(keyOf(attempts))
    return known !== undefined && clock.monotonic() < known.until ? known.proof : undefined
  }

  const prove = createBatcher<AttemptsAsOf, InclusionProof, bigint | undefined>({
    keyOf: ({ asOf }) => asOf,
    collectsTurn: true,
    overlaps: true,
    run: (items, asOf) =>
      proveAll(
        items.map(({ attempts }) => attempts),
        asOf,
      ),
  })
  return (attempts: Attempts, { asOf }: Freshness = {}) => prove({ attempts, asOf })
}

const NO_ANSWER: InclusionProof = {
  kind: 'unknown',
  detail: 'No endpoint has reached the newest known finalized slot.',
}

const CHANGED: InclusionProof = {
  kind: 'unknown',
  detail: 'The reply of an endpoint about its signatures changed after its ledger was read.',
}

function keyOf(attempts: Attempts): string {
  return attempts.map(({ signed }) => signed.hash).join(' ')
}

const NOT_EXECUTED: InclusionProof = {
  kind: 'unknown',
  detail:
    'A block contains it without having executed it, and its durable nonce was advanced later. Nodes report only one inclusion per signature, so nothing shows whether a later block executed it. Look up its signatures and decide the outcome.',
  unprovable: true,
}

/** Decides by the signatures alone; undefined if the ledgers must be read. */
function evaluateStatuses(
  attempts: Attempts,
  endpoints: readonly EndpointStatuses[],
): InclusionProof | undefined {
  let isOpen = false
  for (const { statuses } of endpoints) {
    for (const [index, one] of statuses.entries()) {
      const attempt = attempts[index]
      if (one.kind !== 'included' || attempt === undefined) continue
      if (!mayStillExecute(attempt.draft, one.receipt))
        return { kind: 'included', number: attempt.number, receipt: one.receipt }
      isOpen = true
    }
  }
  return isOpen ? NOT_EXECUTED : undefined
}

/** Expired attempts were proved to be absent if they expired. */
function lifeOfAll(attempts: Attempts): InclusionWindow {
  const open = attempts.filter(({ outcome }) => outcome !== 'expired')
  return joinWindows((open.length > 0 ? open : attempts).map(({ draft }) => inclusionWindowOf(draft)))
}

/**
 * Joins the answers of each endpoint about all transactions; all transactions were queried at the same
 * endpoints.
 */
function mergeStatuses(group: readonly UnprovenTransaction<Attempts>[]): EndpointStatuses[] {
  const [first] = group
  return (first?.endpoints ?? []).map(({ url }, index) => ({
    url,
    statuses: group.flatMap(({ endpoints }) => endpoints[index]?.statuses ?? []),
  }))
}
