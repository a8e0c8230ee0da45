import type { Schemas } from '../contract/operations.ts'
import { omitUndefined } from '../lib/object.ts'
import type { Schedule, ScheduleRun } from './schedule.ts'

/** Converts a schedule to the form of the contract. */
export function showSchedule(schedule: Schedule): Schemas['Schedule'] {
  return omitUndefined({
    id: schedule.id,
    relayer_id: schedule.relayerId,
    name: schedule.name,
    state: schedule.state,
    state_reason: schedule.stateReason,
    cron: schedule.cron,
    timezone: schedule.timezone,
    // It was accepted in this form.
    transaction: schedule.body as Schemas['TransactionRequest'],
    valid_for_seconds: schedule.validForSeconds,
    missed: schedule.missed,
    overlap: schedule.overlap,
    approval: schedule.approval,
    approval_reasons: schedule.reasons?.map(({ detail }) => detail),
    approved_by: schedule.approvedBy,
    ends_at: schedule.endsAt?.toISOString(),
    max_runs: schedule.maxRuns,
    api_key_id: schedule.apiKeyId,
    user_id: schedule.userId,
    version: schedule.version,
    next_at: schedule.nextAt?.toISOString(),
    last_at: schedule.lastAt?.toISOString(),
    runs: schedule.runs,
    last_transaction_id: schedule.lastTransactionId,
    max_cost_per_run: schedule.cost?.toString(),
    created_at: schedule.createdAt.toISOString(),
    updated_at: schedule.updatedAt.toISOString(),
  })
}

/** Converts what became of a time to the form of the contract. */
export function showRun(run: ScheduleRun): Schemas['ScheduleRun'] {
  return omitUndefined({
    scheduled_at: run.scheduledAt.toISOString(),
    outcome: run.outcome,
    decided_at: run.decidedAt.toISOString(),
    transaction_id: run.transactionId,
    code: run.code,
    reason: run.reason,
    times: run.times,
  })
}

/** Writes the payload of an event about a schedule. */
export function showNotice(
  schedule: Schedule,
  change: Schemas['SchedulePayload']['change'],
  run?: ScheduleRun,
): Schemas['SchedulePayload'] {
  return omitUndefined({
    payload_type: 'schedule' as const,
    schedule_id: schedule.id,
    relayer_id: schedule.relayerId,
    name: schedule.name,
    change,
    state: schedule.state,
    state_reason: schedule.stateReason,
    next_at: schedule.nextAt?.toISOString(),
    run: run && showRun(run),
  })
}
