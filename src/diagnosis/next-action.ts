import { isFinal } from '../transactions/model/transitions.ts'
import type { Diagnosis, Finding, FindingCode } from './diagnosis.ts'
import type { DiagnosisFacts } from './facts.ts'

type NextAction = Diagnosis['nextAction']

/** What the service does next about a transaction, and when. Pure. */
export function nextAction(facts: DiagnosisFacts, findings: readonly Finding[]): NextAction {
  const { transaction } = facts
  const codes = new Set(findings.map(({ code }) => code))
  if (isFinal(transaction.status)) return { action: 'none', message: 'Nothing; it is final.' }
  if (codes.has('undecided'))
    return {
      action: 'none',
      message: `An operator decides: relayer tx decide ${transaction.id} --included or --not-included. The chain is asked all the same.`,
    }
  if (codes.has('missing_predecessor'))
    return { action: 'fill_gap', message: 'A no-op of the service closes the gap.' }
  if (transaction.status === 'mined') return confirming(facts)
  if (codes.has('nonce_passed'))
    return { action: 'watch', message: 'The receipts tell which attempt a block holds.' }
  if (transaction.status === 'pending') return signing(facts, codes)
  if (transaction.status === 'sent') {
    return {
      action: 'broadcast',
      at: transaction.nextRunAt,
      message: 'The same bytes are offered to the nodes again.',
    }
  }
  return waiting(facts, codes)
}

function confirming({ transaction, head, requiredConfirmations }: DiagnosisFacts): NextAction {
  const depth =
    head === undefined || transaction.block === undefined ? undefined : head.number - transaction.block.number
  if (head?.finalNumber !== undefined)
    return { action: 'confirm', message: 'It becomes final when the network calls its block final.' }
  const message =
    depth === undefined
      ? 'It becomes final when enough blocks lie on top of it.'
      : `It becomes final with ${requiredConfirmations} blocks on top; there are ${depth < 0n ? 0n : depth}.`
  return { action: 'confirm', message }
}

function signing({ transaction }: DiagnosisFacts, codes: ReadonlySet<FindingCode>): NextAction {
  if (codes.has('relayer_paused') || codes.has('relayer_disabled')) {
    return { action: 'none', message: 'It is signed when the relayer is switched on again.' }
  }
  if (codes.has('waiting_for_funds')) {
    return {
      action: 'sign',
      at: transaction.nextRunAt,
      message: 'It is signed as soon as the account can pay for it.',
    }
  }
  if (codes.has('in_flight_limit')) return { action: 'sign', message: 'It is signed when there is room.' }
  return { action: 'sign', at: transaction.nextRunAt, message: 'It is priced, given a nonce and signed.' }
}

function waiting(facts: DiagnosisFacts, codes: ReadonlySet<FindingCode>): NextAction {
  const { transaction, relayer, now, ahead, raiseAt, expires } = facts
  const end = transaction.purpose === 'request' ? transaction.request.validUntil : undefined
  if (expires) return expiring(facts)
  if (end !== undefined && (raiseAt === undefined || end.getTime() < raiseAt)) {
    return { action: 'expire', at: end, message: 'When valid_until passes, a no-op takes its place.' }
  }
  if (ahead > 0) return { action: 'watch', message: 'What is before it in the line is taken care of first.' }
  if (raiseAt === undefined) {
    return {
      action: 'watch',
      message: 'Its price was named by the caller and is not touched: replace it to pay more.',
    }
  }
  if (codes.has('fee_at_cap')) {
    return {
      action: 'watch',
      message: `Its fee cannot be raised: gas_price_cap of relayer ${relayer.id} is in the way.`,
    }
  }
  return {
    action: 'raise_fee',
    at: new Date(Math.max(raiseAt, now)),
    message: 'Its fee is raised when its speed has waited long enough.',
  }
}

function expiring({ attempt }: DiagnosisFacts): NextAction {
  const draft = attempt?.draft
  if (draft?.type === 'solana') return expiringByHeight(draft.expiresAt)
  const end = draft?.type === 'stellar' ? draft.expiresAt : undefined
  const message =
    'A ledger includes it, or its time passes; then it is signed anew, unless valid_until is over.'
  return end === undefined
    ? { action: 'watch', message: 'A ledger has to include it.' }
    : { action: 'watch', at: new Date(Number(end) * 1_000), message }
}

/** When a height is reached nobody knows; blocks come as they come. */
function expiringByHeight(expiresAt: bigint | undefined): NextAction {
  const message =
    expiresAt === undefined
      ? 'A block has to include it; its durable nonce has no end.'
      : `A block up to height ${expiresAt - 1n} includes it; otherwise it is signed anew, unless valid_until is over or others have signed it, too.`
  return { action: 'watch', message }
}
