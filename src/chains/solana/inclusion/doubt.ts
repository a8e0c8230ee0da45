import type { InclusionProof } from '../../answer.ts'
import type { Coverage } from './coverage.ts'

/**
 * What one endpoint contributes to a proof of absence. `unasked`: it does not know the signatures, its ledger was not looked at ·
 * `behind`: it has not come far enough to say so · `no_history`: it was not started to tell of old transactions · `unsupported`: it
 * does not offer the questions.
 */
export type EndpointFinding =
  | Coverage
  | { readonly kind: 'unasked' }
  | { readonly kind: 'behind' }
  | { readonly kind: 'no_history' }
  | { readonly kind: 'unsupported' }

interface Circumstances {
  /** The first and the last slot that were asked for. */
  readonly from: bigint
  readonly to: bigint
}

/** Why nothing is proved, for an operator; `unprovable` when every endpoint is known to lack what the proof needs, for good. */
export function describeDoubt(
  findings: ReadonlyMap<string, EndpointFinding>,
  { from, to }: Circumstances,
): InclusionProof {
  const descriptions = [...findings].map(
    ([url, finding]) => `${new URL(url).host} ${describeFinding(finding)}`,
  )
  const detail = `whether a block between slots ${from} and ${to} holds it: ${descriptions.join('; ')}`
  const lost = findings.size > 0 && [...findings.values()].every(isForGood)
  if (!lost) return { kind: 'unknown', detail: `No endpoint could prove yet ${detail}.` }
  return {
    kind: 'unknown',
    detail: `No endpoint can prove any more ${detail}. Attach an endpoint that has all blocks of these slots with their transactions, or look the signatures up elsewhere and decide what became of it.`,
    unprovable: true,
  }
}

/** Blocks that a node does not have it does not get any more. */
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
      return `has blocks of its own only from slot ${finding.begin} on`
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
      return 'would have to be asked for more slots than a proof looks at'
    case 'complete':
    case 'unknown':
      return 'did not answer'
  }
}
