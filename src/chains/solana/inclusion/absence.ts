import { larger, smaller } from '../../../lib/bigint.ts'
import type { InclusionProof } from '../../answer.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import type { Finalized } from '../read/head.ts'
import type { EndpointStatuses } from '../read/receipts.ts'
import { coverageOf, type Span } from './coverage.ts'
import { describeDoubt, type EndpointFinding } from './doubt.ts'
import { readLedgers } from './ledgers.ts'
import type { Life } from './life.ts'

/** How often blocks are asked for from another slot on: how many slots had none is not known before. */
const MAX_ROUNDS = 6

/** Most slots that a proof looks at: about nine days. What is older an operator has to look up. */
const MAX_SLOTS = 2_000_000n

/** One slot in so many is expected to have no block; where more have none, another round finds that out. */
const SKIPPED_ONE_IN = 4n

/** Slots before those that are expected to matter, so that a few without a block do not cost another round. */
const SLACK_SLOTS = 64n

/** A question for absence. */
export interface AbsenceQuestion {
  /** Where in the chain the transaction could be. */
  readonly life: Life
  /** The finalized slot up to which it has to be absent. */
  readonly asOf: bigint
  /** A finalized slot and its height, not before `asOf`. */
  readonly head: Finalized
  /** What each endpoint said of the signatures: none of them knows one. */
  readonly endpoints: readonly EndpointStatuses[]
}

/**
 * Looks for one endpoint whose ledger holds every block that could hold the transaction, among those that do not know its signatures.
 * They were asked for those before, so what a ledger loses meanwhile is missed here.
 */
export async function proveAbsence(client: PooledClient, question: AbsenceQuestion): Promise<InclusionProof> {
  const { life, asOf, head, endpoints } = question
  const span: Span = { life, asOf, height: head.height }
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
    if ([...findings.values()].some(({ kind }) => kind === 'complete')) return { kind: 'absent' }
    const next = nextSlot([...findings.values()], { from, to })
    if (next === undefined) break
    from = next
  }
  return describeDoubt(findings, { from, to })
}

/** Whether more questions to this endpoint cannot change it. */
function isSettled({ kind }: EndpointFinding): boolean {
  return kind !== 'unasked' && kind !== 'edge' && kind !== 'late'
}

function findingOf(statuses: EndpointStatuses['statuses']): EndpointFinding {
  if (statuses.some(({ kind }) => kind === 'unknown')) return { kind: 'unknown' }
  if (statuses.some(({ kind }) => kind === 'no_history')) return { kind: 'no_history' }
  return statuses.every(({ kind }) => kind === 'none') ? { kind: 'unasked' } : { kind: 'behind' }
}

/** Heights grow by one at most from slot to slot, so the block of the last height is not behind this slot. */
function lastSlot({ life: { toHeight }, asOf, head }: AbsenceQuestion): bigint {
  if (toHeight === undefined || toHeight >= head.height) return asOf
  return larger(0n, smaller(asOf, head.slot - (head.height - toHeight)))
}

/** Where the life is expected to begin. */
function firstSlot({ life: { fromHeight, fromSlot }, head }: AbsenceQuestion): bigint {
  const blocks = fromHeight === undefined ? 0n : head.height - fromHeight
  const byHeight = fromHeight === undefined ? head.slot : head.slot - blocks - blocks / SKIPPED_ONE_IN
  return larger(0n, smaller(byHeight, fromSlot ?? byHeight) - SLACK_SLOTS)
}

/** From where to ask next: from further back where that helps anybody, else from where the own ledger of one begins. */
function nextSlot(
  findings: readonly EndpointFinding[],
  { from, to }: { readonly from: bigint; readonly to: bigint },
): bigint | undefined {
  if (findings.some(({ kind }) => kind === 'late') && from > 0n)
    return larger(0n, from - larger(to - from, SLACK_SLOTS))
  const edges = findings.flatMap((finding) => (finding.kind === 'edge' ? finding.from : []))
  const next = edges.filter((edge) => edge <= to)
  return next.length === 0 ? undefined : next.reduce(smaller)
}
