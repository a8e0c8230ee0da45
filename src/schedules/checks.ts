import type { Chain } from '../chains/chain.ts'
import { AppError } from '../errors.ts'
import { checkAfter } from '../transactions/accept/checks.ts'
import type { Times } from './cron.ts'
import { type ScheduleContent, timesOf } from './schedule.ts'

/**
 * Reads the times of a schedule.
 * @throws AppError `invalid_request` with the field that cannot be read
 */
export function requireReadable({
  cron,
  timezone,
  missed,
  overlap,
}: Pick<ScheduleContent, 'cron' | 'timezone' | 'missed' | 'overlap'>): Times {
  if (!isTimeZone(timezone))
    throw invalid(
      `body.timezone: expected a time zone of the IANA database, such as Europe/Berlin, not ${timezone}.`,
    )
  if (missed === 'all' && overlap === 'skip')
    throw invalid(
      'body.missed: all needs overlap "allow", because a run that is caught up is not final when the next one follows.',
    )
  try {
    return timesOf({ cron, timezone })
  } catch (error) {
    const problem = (error instanceof Error ? error.message : String(error)).replace(/^CronPattern: /, '')
    throw invalid(`body.cron: cannot be read: ${problem}`)
  }
}

function isTimeZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/**
 * Refuses content that can be sent once only.
 * @throws AppError `invalid_request`
 */
export function requireRepeatable(
  chain: Pick<Chain, 'endsAt' | 'externalSigning' | 'expiry'>,
  { request, validForSeconds }: Pick<ScheduleContent, 'request' | 'validForSeconds'>,
): void {
  if (request.when !== undefined && validForSeconds === undefined)
    throw invalid('body.transaction.when: expected with valid_for_seconds, the longest wait of a run.')
  if (request.payment !== undefined || checkAfter(chain, request) !== undefined)
    throw invalid(
      'body.transaction: not expected to be signed by others, because their signatures are for one transaction.',
    )
  if ('authorizationList' in request && request.authorizationList !== undefined)
    throw invalid('body.transaction.authorization_list: expected to be absent, because each is valid once.')
  const end = chain.endsAt(request)
  if (end !== undefined)
    throw invalid(
      `body.transaction: it ends at ${end.toISOString()}, and runs come later; use valid_for_seconds instead.`,
    )
}

function invalid(detail: string): AppError {
  return new AppError('invalid_request', detail)
}
