import type { RelayerEvent, Schemas, Transaction } from '../../../../clients/typescript/src/index.ts'
import { nameOfCaller } from '../../format/person.ts'
import type { Tone } from '../../parts/tone.ts'

/** One thing that happened to a transaction. */
export interface Moment {
  /** In ms. */
  readonly at: number
  readonly label: string
  readonly tone: Tone
  /** The number of the attempt; absent for what happened to the transaction as a whole. */
  readonly attempt?: number
  readonly detail?: string
}

/** The order of a normal life. A step back means that the chain dropped the block. */
const STEPS = ['pending', 'sent', 'submitted', 'mined', 'confirmed']

const TONES: Readonly<Record<string, Tone>> = {
  mined: 'good',
  confirmed: 'good',
  failed: 'bad',
  canceled: 'idle',
  expired: 'idle',
}

/**
 * Tells the life of a transaction, oldest first: its attempts, who approved or refused it, and its statuses
 * from the event log or, without that, from the record.
 */
export function lifeOf(
  transaction: Transaction,
  events: readonly RelayerEvent[],
  approval?: Schemas['Approval'],
): readonly Moment[] {
  const statuses = events.length > 0 ? fromEvents(events, transaction) : fromRecord(transaction)
  const moments = [...statuses, ...fromAttempts(transaction), ...fromApproval(approval)]
  return moments
    .sort((one, other) => one.at - other.at)
    .map((moment) => withoutPresentReason(moment, transaction))
}

function fromApproval(approval: Schemas['Approval'] | undefined): Moment[] {
  if (approval?.decided_by === undefined || approval.decided_at === undefined) return []
  const { state, decided_by: id, decided_by_person: person, decided_at, decision_reason } = approval
  const isRefusal = state === 'refused'
  return [
    {
      at: Date.parse(decided_at),
      label: `${isRefusal ? 'refused' : 'approved'} by ${nameOfCaller(id, person)}`,
      tone: isRefusal ? 'bad' : 'good',
      ...(decision_reason !== undefined && { detail: decision_reason }),
    },
  ]
}

/** The page tells the reason of the present status already. */
function withoutPresentReason(moment: Moment, { status_reason }: Transaction): Moment {
  const { detail, ...rest } = moment
  return detail !== undefined && detail === status_reason ? rest : moment
}

function fromAttempts({ attempts = [] }: Transaction): Moment[] {
  return attempts.flatMap(({ number, kind, outcome, signed_at, broadcast_at, error }): Moment[] => [
    {
      at: Date.parse(signed_at),
      label: `#${number} ${kind.replaceAll('_', ' ')}: signed`,
      tone: outcome === 'refused' ? 'bad' : 'busy',
      attempt: number,
      ...(error !== undefined && { detail: error }),
    },
    ...(broadcast_at === undefined
      ? []
      : [
          {
            at: Date.parse(broadcast_at),
            label: `#${number} broadcast`,
            tone: 'busy',
            attempt: number,
          } as const,
        ]),
  ])
}

function fromRecord({ status, created_at, confirmed_at, status_reason }: Transaction): Moment[] {
  const accepted = { at: Date.parse(created_at), label: 'accepted', tone: 'busy' } as const
  if (confirmed_at === undefined) return [accepted]
  const detail = status_reason === undefined ? {} : { detail: status_reason }
  return [accepted, { at: Date.parse(confirmed_at), label: status, tone: TONES[status] ?? 'busy', ...detail }]
}

/** `sent` and `submitted` say the same as the attempts do, so only their repetition after a block counts. */
function fromEvents(events: readonly RelayerEvent[], { awaits_approval }: Transaction): Moment[] {
  let before = -1
  return events.flatMap((event): Moment[] => {
    const at = Date.parse(event.created_at)
    if (event.type !== 'transaction_update')
      return [{ at, label: event.type.replace('transaction_', ''), tone: 'bad' }]
    const { status = '', status_reason, awaits_approval: waited } = event.payload as Partial<Transaction>
    const step = STEPS.indexOf(status)
    const isRepeated = step === before && step >= 0
    const wentBack = step >= 0 && step < before && before >= STEPS.indexOf('mined')
    before = step
    // The sentence says that it waits, which is the past once it was decided.
    const reason = waited && !awaits_approval ? 'It required approval.' : status_reason
    const detail = reason === undefined ? {} : { detail: reason }
    if (wentBack) return [{ at, label: `reorganised: ${status} again`, tone: 'warn', ...detail }]
    if (isRepeated || status === 'sent' || status === 'submitted') return []
    return [
      { at, label: status === 'pending' ? 'accepted' : status, tone: TONES[status] ?? 'busy', ...detail },
    ]
  })
}
