import { poolIdOf } from '../relayers/accounts/pool.ts'
import { isFinal } from '../transactions/model/transitions.ts'
import type { Diagnosis, Finding, FindingCode } from './diagnosis.ts'
import type { DiagnosisFacts } from './facts.ts'

type NextAction = Diagnosis['nextAction']

/** Derives the next action of the service for a transaction, with its time. Pure. */
export function nextAction(facts: DiagnosisFacts, findings: readonly Finding[]): NextAction {
  const { transaction } = facts
  const codes = new Set(findings.map(({ code }) => code))
  if (isFinal(transaction.status)) return { action: 'none', message: 'Nothing; it is final.' }
  if (codes.has('awaits_approval'))
    return {
      action: 'none',
      message: 'Another API key with the scope transactions:approve decides (decideApproval).',
    }
  if (codes.has('awaits_transaction'))
    return {
      action: 'none',
      message:
        'Nothing until the other transaction moves; then it is simulated, priced, numbered and signed.',
    }
  if (codes.has('scheduled'))
    return {
      action: 'sign',
      at: transaction.request.validFrom,
      message: 'It is simulated, priced, numbered and signed when its time comes.',
    }
  if (codes.has('awaits_price'))
    return {
      action: 'sign',
      at: transaction.nextRunAt,
      message:
        'Its price is compared with the next block; it is numbered and signed when that block can include it.',
    }
  if (codes.has('undecided'))
    return {
      action: 'none',
      message: `An operator decides: relayer tx decide ${transaction.id} --included or --not-included. The service still looks for a proof on the chain.`,
    }
  if (codes.has('chain_reset'))
    return { action: 'none', message: 'An operator resets the network; the transaction ends then.' }
  if (codes.has('missing_predecessor'))
    return { action: 'fill_gap', message: 'The service sends a no-op that fills the gap.' }
  if (transaction.status === 'mined') return confirming(facts)
  if (codes.has('nonce_passed'))
    return { action: 'watch', message: 'The service reads the receipts to find the included attempt.' }
  if (transaction.status === 'pending') return signing(facts, codes)
  if (transaction.purpose === 'successor') return expiring(facts)
  if (transaction.status === 'sent') {
    return {
      action: 'broadcast',
      at: transaction.nextRunAt,
      message: 'The service broadcasts the same bytes again.',
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
      ? 'It becomes final when enough blocks are on top of it.'
      : `It becomes final with ${count(BigInt(requiredConfirmations))} on top, and has ${depth < 0n ? 0n : depth}.`
  return { action: 'confirm', message }
}

function count(blocks: bigint): string {
  return blocks === 1n ? '1 block' : `${blocks} blocks`
}

function signing({ transaction }: DiagnosisFacts, codes: ReadonlySet<FindingCode>): NextAction {
  if (codes.has('relayer_paused') || codes.has('relayer_disabled')) {
    return { action: 'none', message: 'It is signed when the relayer is enabled again.' }
  }
  if (codes.has('waiting_for_funds')) {
    return {
      action: 'sign',
      at: transaction.nextRunAt,
      message: 'It is signed as soon as the account can pay for it.',
    }
  }
  if (codes.has('in_flight_limit')) return { action: 'sign', message: 'It is signed when a slot is free.' }
  return { action: 'sign', at: transaction.nextRunAt, message: 'It is priced, numbered and signed.' }
}

/** Findings that keep a fee from being raised, and what the service waits for. */
const UNRAISED: readonly { readonly code: FindingCode; readonly message: string }[] = [
  { code: 'fee_at_limit', message: 'Its fee is raised again when the market rises.' },
  { code: 'waiting_for_funds', message: 'Its fee is raised when the account can pay for it.' },
  { code: 'fee_over_budget', message: 'Its fee is raised when the budget allows it.' },
]

function waiting(facts: DiagnosisFacts, codes: ReadonlySet<FindingCode>): NextAction {
  const { transaction, relayer, now, ahead, raiseAt, raise, expires } = facts
  const end = transaction.purpose === 'request' ? transaction.request.validUntil : undefined
  if (codes.has('chain_halted'))
    return {
      action: 'watch',
      message: 'The service waits for the network to make blocks again, and raises no fee meanwhile.',
    }
  if (expires) return expiring(facts)
  if (end !== undefined && (raiseAt === undefined || end.getTime() < raiseAt)) {
    return { action: 'expire', at: end, message: 'When valid_until passes, a no-op takes its place.' }
  }
  if (ahead > 0) return { action: 'watch', message: 'Earlier transactions in the queue come first.' }
  if (raiseAt === undefined) {
    return {
      action: 'watch',
      message: 'The caller set its price, so the service does not change it: replace it to pay more.',
    }
  }
  if (codes.has('fee_at_cap')) {
    return {
      action: 'watch',
      message: `Its fee cannot be raised: gas_price_cap or tx_fee_cap of relayer ${poolIdOf(relayer.id)} does not allow it.`,
    }
  }
  const obstacle = UNRAISED.find(({ code }) => codes.has(code))
  if (obstacle !== undefined) return { action: 'watch', message: obstacle.message }
  if (raise?.kind === 'wait' && raise.code === 'builders_choice')
    return {
      action: 'watch',
      message: 'The builders decide; its fee is raised when the market requires more.',
    }
  return {
    action: 'raise_fee',
    at: new Date(Math.max(raiseAt, now)),
    message: 'Its fee is raised after the delay of its speed, if blocks still leave it out.',
  }
}

function expiring({ transaction, attempt }: DiagnosisFacts): NextAction {
  const draft = attempt?.draft
  const isReplaced = transaction.purpose === 'successor'
  if (draft?.type === 'solana') return expiringByHeight(draft.expiresAt, isReplaced)
  const end = draft?.type === 'stellar' ? draft.expiresAt : undefined
  const then = isReplaced ? 'the new version is sent' : 'it is signed again, unless valid_until has passed'
  const message = `A ledger includes it, or it expires; then ${then}.`
  return end === undefined
    ? { action: 'watch', message: 'It waits for a ledger to include it.' }
    : { action: 'watch', at: new Date(Number(end) * 1_000), message }
}

/** Gives an action without a time, because the time at which the chain reaches a height is unpredictable. */
function expiringByHeight(expiresAt: bigint | undefined, isReplaced: boolean): NextAction {
  const then = isReplaced
    ? 'the new version is sent'
    : 'it is signed again, unless valid_until has passed or others have also signed it'

  const message =
    expiresAt === undefined
      ? 'It waits for a block; its durable nonce does not expire.'
      : `A block up to height ${expiresAt - 1n} includes it; otherwise ${then}.`
  return { action: 'watch', message }
}
