import type { InclusionProof } from '../../answer.ts'
import type { Coverage } from './coverage.ts'

/**
 * The contribution of one endpoint to a proof of absence. `unasked`: it does not know the signatures, and its ledger was not read yet ·
 * `behind`: it has not reached the necessary slot · `no_history`: it was started without transaction history · `unsupported`: it does not
 * offer the methods.
 */
export type EndpointFinding =
  | Coverage
  | { readonly kind: 'unasked' }
  | { readonly kind: 'behind' }
  | { readonly kind: 'no_history' }
  | { readonly kind: 'unsupported' }

interface Circumstances {
  /** The first and the last slot of the range. */
  readonly from: bigint
  readonly to: bigint
}

/** Explains to an operator why nothing is proved; `unprovable` when every endpoint lacks for good what the proof needs. */
export function describeDoubt(
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

/** Returns true for an endpoint that cannot know the transaction, now or later: a node never gets blocks that it does not have. Pure. */
export function isForGood({ kind }: EndpointFinding): boolean {
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
      return 'needs questions about more slots than a proof reads'
    case 'complete':
      return 'has all of these blocks, and none holds it'
    case 'unknown':
      return 'did not answer'
  }
}
