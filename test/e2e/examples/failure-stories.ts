import pg from 'pg'
import { ANONYMOUS } from '../../../src/access/principal.ts'
import { explainAway, noteAway } from '../../../src/database/errors.ts'
import { healthHandlers } from '../../../src/handlers/monitoring.ts'
import { UNREAD_BYTES } from '../../../src/http/answers/answer-budget.ts'
import { createReadinessCheck } from '../../../src/wiring/readiness.ts'
import { API_KEY, startStub } from '../../http/stub-server.ts'
import { createAdjustableClock } from '../../support/clock.ts'
import { openNewDatabase } from '../../support/database.ts'
import type { Heard } from './heard.ts'

const AUTHORIZED = { authorization: `Bearer ${API_KEY}` }

/** Lets the HTTP server say what it says of its own faults and limits. */
export async function playFailures(heard: Heard): Promise<void> {
  const broken = await startStub({
    handlers: {
      listRelayers: async () => {
        throw new TypeError('a fault in the code')
      },
      listSigners: () => new Promise<never>(() => {}),
    },
    limits: { requestTimeoutMs: 50 },
  })
  await heard.fetch(`${broken.url}/api/v1/relayers`, AUTHORIZED)
  await heard.fetch(`${broken.url}/api/v1/signers`, AUTHORIZED)
  const strict = await startStub({ rateLimit: { perSecond: 1, burst: 1 } })
  await heard.fetch(`${strict.url}/api/v1/relayers`, AUTHORIZED)
  await heard.fetch(`${strict.url}/api/v1/relayers`, AUTHORIZED)
  const counting = await startStub({
    handlers: {
      listAlerts: async (_input, { countFurther }) => {
        countFurther(79)
        return { data: [], pagination: { current_page: 1, per_page: 10, total_items: 0 } }
      },
      scrapeMetrics: async () => ({
        status: 200,
        contentType: TEXT,
        body: 'x'.repeat(UNREAD_BYTES + 65_536),
      }),
    },
    rateLimit: { perSecond: 100, burst: 100 },
    clock: { now: () => 0, monotonic: () => 0, sleep: async () => {} },
  })
  await heard.fetch(`${counting.url}/api/v1/alerts`, AUTHORIZED)
  await heard.fetch(`${counting.url}/api/v1/alerts`, AUTHORIZED)
  const large = await fetch(`${counting.url}/debug/metrics/scrape`, { headers: AUTHORIZED })
  await heard.fetch(`${counting.url}/debug/metrics/scrape`, AUTHORIZED)
  await large.body?.cancel()
}

const TEXT = 'text/plain; version=0.0.4; charset=utf-8'

/** Lets an API key ask for what its scopes do not contain. */
export async function playWithoutScopes(heard: Heard): Promise<void> {
  const { url } = await startStub({ findKey: () => ({ ...ANONYMOUS, id: 'payments' }) })
  const headers = { authorization: `Bearer ${API_KEY.toUpperCase()}` }
  await heard.fetch(`${url}/api/v1/relayers`, headers)
  await heard.fetch(`${url}/api/v1/signers`, headers)
}

/** Lets the readiness check look at a database that is gone, and a handler meet a PostgreSQL that cannot be reached. */
export async function playWithoutDatabase(heard: Heard): Promise<void> {
  const database = await openNewDatabase()
  await database.close()
  const check = createReadinessCheck({
    database,
    chains: () => new Map(),
    loops: () => [],
    clock: createAdjustableClock(),
  })
  const { url } = await startStub({
    handlers: healthHandlers({ check, stopping: new AbortController().signal }),
  })
  await heard.fetch(`${url}/api/v1/ready`)
  const lost: unknown = await new pg.Client({ host: '127.0.0.1', port: 9 }).connect().catch((error) => error)
  noteAway(lost)
  const stub = await startStub({
    handlers: {
      listSigners: async () => {
        throw lost
      },
    },
    explainFault: explainAway,
  })
  await heard.fetch(`${stub.url}/api/v1/signers`, AUTHORIZED)
}
