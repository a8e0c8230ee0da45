import type { Schemas } from '../../contract/operations.ts'
import { diagnose } from '../../diagnosis/diagnose.ts'
import type { DiagnosisFacts } from '../../diagnosis/facts.ts'
import { omitUndefined } from '../../lib/object.ts'
import { bidCapOf } from '../../relayers/policies/policies.ts'
import { presentHead } from './shared.ts'

/**
 * Converts a diagnosis to the form of the contract. `call` is that of the shown attempt, where it is known.
 */
export function presentDiagnosis(
  facts: DiagnosisFacts,
  call: Schemas['DecodedCall'] | undefined,
): Schemas['Diagnosis'] {
  const { transaction, ahead, inFlight, inFlightLimit, endpoints } = facts
  const { findings, nextAction } = diagnose(facts)
  return omitUndefined({
    transaction_id: transaction.id,
    status: transaction.status,
    summary: findings[0].message,
    decoded_call: call,
    findings,
    queue: { position: ahead, in_flight: inFlight, in_flight_limit: inFlightLimit },
    nonce: presentNonce(facts),
    fees: presentFees(facts),
    funds: omitUndefined({
      balance: facts.balance?.toString(),
      reserved: String(facts.reserved),
      needed: String(transaction.cost),
    }),
    confirmations: presentConfirmations(facts),
    head: presentDiagnosedHead(facts),
    endpoints: endpoints.map(({ host, healthy, head, keepsHistory, lastError }) =>
      omitUndefined({ host, healthy, head, keeps_history: keepsHistory, error: lastError }),
    ),
    next_action: omitUndefined({ ...nextAction, at: nextAction.at?.toISOString() }),
  })
}

function presentDiagnosedHead({ head, headState }: DiagnosisFacts) {
  return headState && omitUndefined({ ...presentHead(headState), timestamp: head?.time?.toISOString() })
}

function presentNonce({ transaction, chainNonce, missing }: DiagnosisFacts) {
  const { nonce } = transaction
  return nonce === undefined ? undefined : omitUndefined({ own: nonce, next_on_chain: chainNonce, missing })
}

function presentFees({ price, relayer }: DiagnosisFacts) {
  if (price === undefined) return undefined
  return omitUndefined({
    offered: String(price.bid),
    market: String(price.market),
    base_fee: price.baseFee?.toString(),
    limit: price.limit?.toString(),
    cap: bidCapOf(relayer)?.toString(),
  })
}

function presentConfirmations({ transaction, head, requiredConfirmations }: DiagnosisFacts) {
  const { block } = transaction
  return block && omitUndefined({ block: block.number, head: head?.number, required: requiredConfirmations })
}
