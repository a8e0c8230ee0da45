import { hasPostgres, startPostgres } from '../../../test/support/postgres.ts'
import { atLeast, type Row, single, withoutPostgres } from '../measurement.ts'
import { measureSink } from '../support/sink.ts'
import { measureSustained, withService } from '../support/stage.ts'

const SEND =
  'send on PostgreSQL, one account, until the node has all; bare: presigned, pushed into the same node'
const LOST = 'send on PostgreSQL: lost'
const CPU = 'send on PostgreSQL: CPU per transaction, of the service'

/** The same as `benchSend`, on PostgreSQL. */
export async function benchSendOnPostgres({ transactions }: { transactions: number }): Promise<Row[]> {
  if (!hasPostgres()) return withoutPostgres(SEND, LOST, CPU)
  const postgres = await startPostgres()
  try {
    const sinkBefore = await measureSink(transactions)
    const databaseUrl = await postgres.createDatabase()
    const sustained = await withService({ way: 'direct', databaseUrl }, (stage) =>
      measureSustained(stage, transactions),
    )
    const sink = (sinkBefore + (await measureSink(transactions))) / 2
    return [
      {
        what: SEND,
        ours: `${sustained.perSecond.toFixed(0)} /s`,
        bare: `${sink.toFixed(0)} /s`,
        value: sustained.perSecond / sink,
        goal: atLeast(0.18),
      },
      single(LOST, sustained.lost, { unit: '', limit: 0 }),
      single(CPU, sustained.cpuMs, { unit: 'ms', digits: 2 }),
    ]
  } finally {
    await postgres.stop()
  }
}
