import { openDatabase } from '../../src/database/database.ts'
import { createLogger } from '../../src/log.ts'

/** Which status may follow which, told again here so that a mistake in the table of moves is seen. */
const FOLLOWS: Readonly<Record<string, readonly string[]>> = {
  nothing: ['pending'],
  pending: ['pending', 'sent', 'canceled', 'expired', 'failed'],
  // Without ever being mined it ends where somebody else used the nonce and nothing more was to be done.
  sent: ['sent', 'submitted', 'pending', 'mined', 'canceled', 'expired', 'failed'],
  submitted: ['submitted', 'sent', 'pending', 'mined', 'canceled', 'expired', 'failed'],
  mined: ['mined', 'submitted', 'confirmed', 'canceled', 'expired', 'failed'],
}

interface Told {
  readonly id: string
  readonly status: string
}

/** Reads the events out of the database that a stopped service left, and tells what is wrong with them (I8). */
export async function checkEvents(dataDir: string): Promise<string[]> {
  const database = await openDatabase({ dataDir }, createLogger({ level: 'silent' }))
  try {
    const { db } = database
    const events = await db
      .selectFrom('events')
      .select(['transaction_id', 'payload'])
      .where('transaction_id', 'is not', null)
      .where('type', '<>', 'alert')
      .orderBy('number')
      .execute()
    const told = events.map(
      ({ transaction_id, payload }): Told => ({
        id: transaction_id ?? '',
        status: (payload as { status: string }).status,
      }),
    )
    const records = await db.selectFrom('transactions').select(['id', 'status']).execute()
    return auditEvents(told, records)
  } finally {
    await database.close()
  }
}

/** Each transaction's statuses are a legal path, and the last one told is the one it has. Pure. */
function auditEvents(events: readonly Told[], records: readonly Told[]): string[] {
  const paths = Map.groupBy(events, ({ id }) => id)
  return records.flatMap(({ id, status }) => {
    const path = (paths.get(id) ?? []).map((event) => event.status)
    const illegal = path.findIndex((next, index) => !FOLLOWS[path[index - 1] ?? 'nothing']?.includes(next))
    const problems = illegal === -1 ? [] : [`${id} went ${path.join(' > ')}, which is no legal path`]
    return path.at(-1) === status
      ? problems
      : [...problems, `${id} is ${status}, but its events end ${path.join(' > ')}`]
  })
}
