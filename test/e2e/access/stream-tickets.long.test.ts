import { Writable } from 'node:stream'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAdjustableClock } from '../../support/clock.ts'
import { openStream } from '../../support/event-stream.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { API_KEY, RECEIVER, type Service, startService } from '../../support/service.ts'

const PAGE = 'https://app.example'

const clock = createAdjustableClock()
const lines: string[] = []
const log = pino(
  { level: 'trace' },
  new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(String(chunk))
      done()
    },
  }),
)

let story: Scenario
beforeAll(async () => {
  const env = {
    METRICS_ENABLED: 'true',
    METRICS_PORT: '0',
    RELAYER_CORS_ORIGINS: PAGE,
    RELAYER_MAX_STREAMS: '3',
  }
  story = await startScenario({ clock, log, env })
  const { id } = await story.send({ to: RECEIVER, value: 1, speed: 'fast' })
  await story.reach(id, 'submitted')
}, 60_000)
afterAll(() => story.stop())

interface Ticket {
  readonly ticket: string
  readonly expires_at: string
}

async function issue(body: object = {}, service: Service = story.service): Promise<string> {
  const answer = await service.api<Ticket>('POST', '/events/stream-tickets', body)
  expect(answer.status).toBe(201)
  return answer.body.data.ticket
}

/** A request without a header, as a browser sends it. */
function get(query: string, { service = story.service, headers = {} } = {}): Promise<Response> {
  return fetch(`${service.url}/api/v1/events/stream?${query}`, { headers })
}

const KNOWN = 'after=0&duration=0'

/** Reads the answer to its end: its stream counts until then, and no more than three may at a time. */
async function statusOf(...request: Parameters<typeof get>): Promise<number> {
  const answer = await get(...request)
  await answer.text()
  return answer.status
}

/** The numbers of the events; the id at the beginning is none. */
const ids = (text: string) => [...text.matchAll(/^id: (\d+)\nevent: /gm)].map(([, id]) => id)

test('a ticket opens one stream without a header, and only one', async () => {
  const ticket = await issue()
  expect(ticket).toMatch(/^[A-Za-z0-9_-]{43}$/)
  const first = await get(`ticket=${ticket}&${KNOWN}`)
  expect([first.status, first.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
  expect(ids(await first.text()).length).toBeGreaterThanOrEqual(3)
  const again = await get(`ticket=${ticket}&${KNOWN}`, { headers: { 'last-event-id': '1' } })
  const body = (await again.json()) as { error: string; code: string }
  expect([again.status, body.code]).toEqual([401, 'unauthorized'])
  expect(body.error).toContain('get a new one with POST /api/v1/events/stream-tickets')
})

test('a page that comes back with a new ticket and the number of its last event misses nothing', async () => {
  const [first, ...rest] = ids(await (await get(`ticket=${await issue()}&${KNOWN}`)).text())
  const later = await get(`ticket=${await issue()}&after=${first}&duration=0`)
  expect(ids(await later.text())).toEqual(rest)
})

test('a ticket ends after 60 s, to the millisecond', async () => {
  const [early, late] = [await issue(), await issue()]
  clock.advance(59_000)
  expect(await statusOf(`ticket=${early}&${KNOWN}`)).toBe(200)
  clock.advance(1_001)
  expect(await statusOf(`ticket=${late}&${KNOWN}`)).toBe(401)
})

test('many connections with one ticket at the same time: one is served', async () => {
  const ticket = await issue()
  const answers = await Promise.all(Array.from({ length: 8 }, () => get(`ticket=${ticket}&${KNOWN}`)))
  const statuses = answers.map(({ status }) => status).sort()
  await Promise.all(answers.map((answer) => answer.text()))
  expect(statuses).toEqual([200, ...Array(7).fill(401)])
})

test.each([
  ['one that was never issued', () => 'A'.repeat(43)],
  ['an empty one', () => ''],
  ['a very long one', () => 'A'.repeat(8_000)],
  ['a null character', () => '%00'],
])('%s is refused', async (_what, ticket) => {
  expect(await statusOf(`ticket=${ticket()}&${KNOWN}`)).toBe(401)
})

test('two tickets are refused, and both stay valid', async () => {
  const [one, other] = [await issue(), await issue()]
  expect(await statusOf(`ticket=${one}&ticket=${other}&${KNOWN}`)).toBe(401)
  for (const ticket of [one, other]) expect(await statusOf(`ticket=${ticket}&${KNOWN}`)).toBe(200)
})

test('a ticket is good for nothing but the stream', async () => {
  const ticket = await issue()
  const { url } = story.service
  for (const path of ['/api/v1/events', '/api/v1/relayers', '/api/v1/metrics', '/nothing'])
    expect([path, (await fetch(`${url}${path}?ticket=${ticket}`)).status]).toEqual([path, 401])
  const asKey = await fetch(`${url}/api/v1/relayers`, { headers: { authorization: `Bearer ${ticket}` } })
  expect(asKey.status).toBe(401)
  const another = await fetch(`${url}/api/v1/events/stream-tickets?ticket=${ticket}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  })
  expect(another.status).toBe(401)
  expect(await statusOf(`ticket=${ticket}&${KNOWN}`)).toBe(200)
})

test('with an Authorization header the header counts, and the ticket stays valid', async () => {
  const ticket = await issue()
  const wrong = { headers: { authorization: 'Bearer wrong' } }
  expect(await statusOf(`ticket=${ticket}&${KNOWN}`, wrong)).toBe(401)
  const right = { headers: { authorization: `Bearer ${API_KEY}` } }
  expect(await statusOf(`ticket=${ticket}&${KNOWN}`, right)).toBe(200)
  expect(await statusOf(`ticket=${ticket}&${KNOWN}`)).toBe(200)
})

describe('the filters of a ticket', () => {
  test('apply to the stream', async () => {
    const of = async (filter: object) => {
      const answer = await get(`ticket=${await issue(filter)}&${KNOWN}`)
      expect(answer.status).toBe(200)
      return ids(await answer.text())
    }
    expect((await of({ relayer_id: 'main', type: 'transaction_update' })).length).toBeGreaterThanOrEqual(3)
    expect(await of({ relayer_id: 'other' })).toEqual([])
    expect(await of({ type: 'relayer_state_update' })).toEqual([])
  })

  test('may be repeated and narrowed by the query, and not changed', async () => {
    const open = async (filter: object, query: string) => {
      const answer = await get(`ticket=${await issue(filter)}&${KNOWN}&${query}`)
      return { status: answer.status, text: await answer.text() }
    }
    const main = { relayer_id: 'main' }
    expect((await open(main, 'relayer_id=main')).status).toBe(200)
    expect(ids((await open(main, 'type=relayer_state_update')).text)).toEqual([])
    const refused = await open(main, 'relayer_id=other')
    expect(refused.status).toBe(400)
    expect(refused.text).toContain('query.relayer_id')
    expect((await open({ type: 'transaction_update' }, 'type=relayer_state_update')).status).toBe(400)
  })

  test.each([{ relayer_id: 'a b' }, { type: 'nothing' }, { relayer: 'main' }, { relayer_id: null }])(
    '%o are refused',
    async (body) => {
      const answer = await story.service.api('POST', '/events/stream-tickets', body)
      expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request'])
      expect(answer.body.error).toContain(`body.${Object.keys(body)[0]}`)
    },
  )
})

test('a stream counts as one of the API key that asked for the ticket', async () => {
  const streams = [await openStream(story.service.url), await openStream(story.service.url)]
  const third = await get(`ticket=${await issue()}`)
  expect(third.status).toBe(200)
  const fourth = await get(`ticket=${await issue()}`)
  expect([fourth.status, fourth.headers.get('retry-after')]).toEqual([429, '5'])
  await third.body?.cancel()
  for (const stream of streams) await stream.close()
})

describe('a page of another origin', () => {
  test('may read the stream when its origin is named, a failure included', async () => {
    const headers = { origin: PAGE }
    for (const ticket of [await issue(), 'wrong']) {
      const answer = await get(`ticket=${ticket}&${KNOWN}`, { headers })
      expect(answer.headers.get('access-control-allow-origin')).toBe(PAGE)
      expect(answer.headers.get('vary')).toBe('Origin')
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
      await answer.text()
    }
  })

  test.each(['https://app.example.evil.example', 'http://app.example', 'https://APP.example', 'null'])(
    'of %s may not',
    async (origin) => {
      const answer = await get(`ticket=wrong&${KNOWN}`, { headers: { origin } })
      expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    },
  )

  test('may read nothing else', async () => {
    const headers = { origin: PAGE, authorization: `Bearer ${API_KEY}` }
    const answer = await fetch(`${story.service.url}/api/v1/events`, { headers })
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, null])
  })
})

test('no ticket is in the log, in the metrics or in the database', async () => {
  const tickets = [await issue(), await issue(), 'B'.repeat(43)]
  for (const ticket of tickets) {
    await get(`ticket=${ticket}&after=x`)
    await get(`ticket=${ticket}&ticket=${ticket}`)
    await fetch(`${story.service.url}/api/v1/events?ticket=${ticket}`, {
      headers: { authorization: `Bearer ${API_KEY}` },
    })
    const answer = await get(`ticket=${ticket}&${KNOWN}`)
    expect([answer.headers, await answer.text()].join()).not.toContain(ticket)
  }
  const metrics = await (await fetch(story.service.metricsUrl ?? '')).text()
  const text = [metrics, ...lines].join('\n')
  expect(text).toContain('/api/v1/events/stream')
  expect(tickets.filter((ticket) => text.includes(ticket))).toEqual([])
})

describe('two processes on one PostgreSQL', () => {
  let postgres: PostgresServer
  let services: Service[]
  beforeAll(async () => {
    postgres = await startPostgres()
    const databaseUrl = await postgres.createDatabase()
    const start = () => startService({ rpcUrls: [], relayers: [], databaseUrl })
    services = [await start(), await start()]
  }, 60_000)
  afterAll(async () => {
    for (const service of services) await service.stop()
    await postgres.stop()
  })

  test('a ticket of one opens a stream of the other, and then none of either', async () => {
    const [one, other] = services
    if (one === undefined || other === undefined) throw new Error('two were started')
    const ticket = await issue({}, one)
    expect(await statusOf(`ticket=${ticket}&${KNOWN}`, { service: other })).toBe(200)
    for (const service of services) expect(await statusOf(`ticket=${ticket}&${KNOWN}`, { service })).toBe(401)
  })

  test('of both at the same time, one is served', async () => {
    const ticket = await issue({}, services[0])
    const answers = await Promise.all(
      services.flatMap((service) => [1, 2, 3].map(() => get(`ticket=${ticket}&${KNOWN}`, { service }))),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(5).fill(401)])
    await Promise.all(answers.map((answer) => answer.text()))
  })
})
