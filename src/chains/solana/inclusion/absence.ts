import { larger, smaller } from '../../../lib/bigint.ts'
import type { InclusionProof } from '../../answer.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import type { Slot } from '../content.ts'
import type { Finalized } from '../read/head.ts'
import type { EndpointStatuses } from '../read/receipts.ts'
import type { InclusionWindow } from './inclusion-window.ts'
import { type Coverage, coverageOf, readLedgers, type Span } from './ledgers.ts'

/**
 * The proof continues from another slot at most this often, because the number of slots without a block is
 * not known in advance.
 */
const MAX_ROUNDS = 6

/** A proof reads at most this many slots, about nine days. An operator must look up older transactions. */
const MAX_SLOTS = 2_000_000n

/** One slot in this many is expected to have no block; where more have none, another round follows. */
const SKIPPED_ONE_IN = 4n

/** The range begins this many slots early, so that a few slots without a block do not cost another round. */
const SLACK_SLOTS = 64n

/** The question whether a transaction is absent from the chain. */
interface AbsenceQuestion {
  /** The range of blocks that could include the transaction. */
  readonly life: InclusionWindow
  /** The transaction must be absent up to this finalized slot. */
  readonly asOf: Slot
  /** A finalized slot and its height, not before `asOf`. */
  readonly head: Finalized
  /** The replies of each endpoint about the signatures: none of them knows one. */
  readonly endpoints: readonly EndpointStatuses[]
}

/**
 * Proves that the chain does not include the signatures: an endpoint whose ledger contains every block that
 * could include them does not know them, and neither does any other endpoint that could. An endpoint without
 * these blocks could not know; one that is silent or behind could, so it prevents the proof (I6). The
 * signatures are read before the ledgers, so a block that a node deletes in the meantime is missing from the
 * ledger, and the proof fails safely.
 */
export async function proveAbsence(client: PooledClient, question: AbsenceQuestion): Promise<InclusionProof> {
  const { life, asOf, head, endpoints } = question
  const span: Span = { life, asOf }
  const to = lastSlot(question)
  let from = firstSlot(question)
  const heights = new Map([[head.slot, head.height]])
  const findings = new Map(endpoints.map(({ url, statuses }) => [url, findingOf(statuses)]))
  for (let round = 0; round < MAX_ROUNDS && to - from <= MAX_SLOTS; round += 1) {
    const readings = await readLedgers(client, { from, to, asOf, life, head, heights })
    for (const [url, finding] of findings) {
      if (isSettled(finding)) continue
      const reading = readings.get(url)
      findings.set(
        url,
        typeof reading === 'object' ? coverageOf(reading, span, heights) : { kind: reading ?? 'unknown' },
      )
    }
    const next = nextSlot([...findings.values()], { from, to })
    if (next === undefined) break
    from = next
  }
  return isAbsent([...findings.values()]) ? { kind: 'absent' } : explainMissingProof(findings, { from, to })
}

function isAbsent(findings: readonly EndpointFinding[]): boolean {
  return (
    findings.some(({ kind }) => kind === 'complete') &&
    findings.every((finding) => finding.kind === 'complete' || isForGood(finding))
  )
}

/** Returns true if more questions to this endpoint cannot change the finding. */
function isSettled({ kind }: EndpointFinding): boolean {
  return kind !== 'unasked' && kind !== 'edge' && kind !== 'late'
}

function findingOf(statuses: EndpointStatuses['statuses']): EndpointFinding {
  if (statuses.some(({ kind }) => kind === 'unknown')) return { kind: 'unknown' }
  if (statuses.some(({ kind }) => kind === 'no_history')) return { kind: 'no_history' }
  return statuses.every(({ kind }) => kind === 'none') ? { kind: 'unasked' } : { kind: 'behind' }
}

/** Heights grow by at most one from slot to slot, so the block of the last height is not after this slot. */
function lastSlot({ life: { toHeight }, asOf, head }: AbsenceQuestion): Slot {
  if (toHeight === undefined || toHeight >= head.height) return asOf
  return larger(0n, smaller<bigint>(asOf, head.slot - (head.height - toHeight))) as Slot
}

/** Estimates the slot at which the life begins. */
function firstSlot({ life: { fromHeight, fromSlot }, head }: AbsenceQuestion): Slot {
  const blocks = fromHeight === undefined ? 0n : head.height - fromHeight
  const byHeight = fromHeight === undefined ? head.slot : head.slot - blocks - blocks / SKIPPED_ONE_IN
  return larger(0n, smaller<bigint>(byHeight, fromSlot ?? byHeight) - SLACK_SLOTS) as Slot
}

/**
 * Chooses the slot for the next round: further back when that helps an endpoint, otherwise the slot at which
 * an endpoint's own ledger begins.
 */
function nextSlot(
  findings: readonly EndpointFinding[],
  { from, to }: { readonly from: Slot; readonly to: Slot },
): Slot | undefined {
  if (findings.some(({ kind }) => kind === 'late') && from > 0n)
    return larger(0n, from - larger(to - from, SLACK_SLOTS)) as Slot
  const edges = findings.flatMap((finding) => (finding.kind === 'edge' ? finding.from : []))
  const next = edges.filter((edge) => edge <= to)
  return next.length === 0 ? undefined : next.reduce(smaller)
}

/**
 * The contribution of one endpoint to a proof of absence. `unasked`: it does not know the signatures, and its
 * ledger was not read yet · `behind`: it has not reached the necessary slot · `no_history`: it was started
 * without transaction history · `unsupported`: it does not offer the methods.
 */
type EndpointFinding =
  | Coverage
  | { readonly kind: 'unasked' }
  | { readonly kind: 'behind' }
  | { readonly kind: 'no_history' }
  | { readonly kind: 'unsupported' }

interface Circumstances {
  /** The first and the last slot of the range. */
  readonly from: Slot
  readonly to: Slot
}

/**
 * Explains to an operator why nothing is proved; `unprovable` if no endpoint can ever supply the data that
 * the proof needs.
 */
function explainMissingProof(
  findings: ReadonlyMap<string, EndpointFinding>,
  { from, to }: Circumstances,
): InclusionProof {
  const descriptions = [...findings].map(
    ([url, finding]) => `${new URL(url).host} ${describeFinding(finding)}`,
  )
  const detail = `whether a block between slots ${from} and ${to} holds it: ${descriptions.join('; ')}`
  const lost = findings.size > 0 && [...findings.values()].every(isForGood)
  if (!lost) return { kind: 'unknown', detail: `The endpoints do not prove yet ${detail}.` }
  return {
    kind: 'unknown',
    detail: `No endpoint can prove any more ${detail}. Attach an endpoint that has all blocks of these slots with their transactions, or look up the signatures elsewhere and decide the outcome.`,
    unprovable: true,
  }
}

/**
 * Returns true for an endpoint that cannot know the transaction, now or later: a node never gets blocks that
 * it does not have. Pure.
 */
function isForGood({ kind }: EndpointFinding): boolean {
  return FOR_GOOD[kind]
}

const FOR_GOOD: Readonly<Record<EndpointFinding['kind'], boolean>> = {
  complete: false,
  unasked: true,
  unknown: false,
  behind: false,
  edge: true,
  late: true,
  pruned: true,
  hole: true,
  no_history: true,
  unsupported: true,
}

function describeFinding(finding: EndpointFinding): string {
  switch (finding.kind) {
    case 'pruned':
      return `has blocks only from slot ${finding.begin} on`
    case 'hole':
      return `lacks ${finding.missing ?? 'some'} of these blocks (ledger jump to a newer snapshot)`
    case 'no_history':
      return 'keeps no transaction history (--enable-rpc-transaction-history)'
    case 'unsupported':
      return 'does not offer getBlocks and minimumLedgerSlot'
    case 'behind':
      return 'is behind'
    case 'unasked':
    case 'late':
    case 'edge':
      return 'would need more slots than a proof reads'
    case 'complete':
      return 'has all of these blocks, and none contains it'
    case 'unknown':
      return 'did not answer'
  }
}
