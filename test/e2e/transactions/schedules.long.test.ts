import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { type AdjustableClock, createAdjustableClock } from '../../support/clock.ts'
import { issueLimited, outcomeOf } from '../../support/limited-key.ts'
import { PAYMENT, schedulesOf } from '../../support/schedules.ts'
import { RECEIVER, type Service, startService } from '../../support/service.ts'

let anvil: Anvil
let service: Service
let clock: AdjustableClock

beforeAll(async () => {
  anvil = await startAnvil()
  clock = createAdjustableClock()
  service = await startService({ rpcUrls: [anvil.url], clock })
}, 60_000)
afterAll(async () => {
  await service?.stop()
  await anvil?.stop()
})

const schedules = (relayer?: string) => schedulesOf(service.api, relayer)

describe('a schedule', () => {
  test('is created, read, changed, paused, resumed and deleted', async () => {
    const { create, get, change, remove, next } = schedules()
    const body = { name: 'Payroll', cron: '0 9 25 * *', timezone: 'Europe/Berlin', max_runs: 3 }
    const created = await create(body)
    expect(created.status).toBe(200)
    const { id, next_at: nextAt } = created.body.data
    expect(created.body.data).toMatchObject({
      ...body,
      state: 'active',
      transaction: { to: RECEIVER },
      missed: 'once',
      overlap: 'skip',
      approval: 'each_run',
      api_key_id: 'root',
      version: 1,
      runs: 0,
    })
    expect(BigInt(created.body.data.max_cost_per_run ?? '0')).toBeGreaterThan(1n)
    expect(await next(id)).toHaveLength(3)
    expect((await next(id))[0]).toBe(nextAt)
    const { body: listed } = await service.api('GET', '/schedules?relayer_id=main&state=active')
    expect(listed.data).toEqual([created.body.data])

    const paused = await change(id, { paused: true })
    expect(paused.body.data).toMatchObject({
      state: 'paused',
      state_reason: 'API key root paused it.',
      version: 2,
    })
    expect(paused.body.data).not.toHaveProperty('next_at')
    expect(await next(id)).toEqual([])
    const resumed = await change(id, { paused: false, cron: '0 10 25 * *', max_runs: null })
    expect(resumed.body.data).toMatchObject({ state: 'active', cron: '0 10 25 * *', version: 3 })
    expect(resumed.body.data).not.toHaveProperty('max_runs')
    expect(Date.parse(String(resumed.body.data.next_at))).toBe(Date.parse(String(nextAt)) + 3_600_000)

    expect((await remove(id)).status).toBe(200)
    expect(outcomeOf(await change(id, { paused: true }))).toBe('404 schedule_not_found')
    expect(await get(id)).toBeNull()
    const { body: audit } = await service.api<{ action: string; target_id: string }[]>('GET', '/audit')
    const actions = audit.data.flatMap(({ action, target_id }) => (target_id === id ? [action] : []))
    expect(actions).toEqual(['deleteSchedule', 'updateSchedule', 'updateSchedule', 'createSchedule'])
    const { body: events } = await service.api<
      { type: string; payload: { change: string; schedule_id: string } }[]
    >('GET', '/events?type=schedule_update')
    const changes = events.data.flatMap(({ payload }) => (payload.schedule_id === id ? [payload.change] : []))
    expect(changes).toEqual(['created', 'paused', 'changed', 'deleted'])
  })

  test('tells in a dry run when it would run and what a run would cost, and stores nothing', async () => {
    const answer = await service.api<{
      state: string
      next_runs: string[]
      run: { accepted: boolean; max_cost: string }
    }>('POST', '/relayers/main/schedules?dry_run=true', {
      cron: '0 0 * * *',
      transaction: PAYMENT,
      max_runs: 2,
    })
    expect(answer.status).toBe(200)
    expect(answer.body.data).toMatchObject({ state: 'active', run: { accepted: true } })
    expect(answer.body.data.next_runs).toHaveLength(2)
    expect(BigInt(answer.body.data.run.max_cost)).toBeGreaterThan(1n)
    expect((await service.api('GET', '/schedules')).body.data).toEqual([])
  })

  test('whose run would fail now is accepted, and the caller is told', async () => {
    const { create, remove } = schedules()
    const poor = { ...PAYMENT, value: '100000000000000000000000' }
    const { status, body } = await create({ cron: '0 0 1 1 *', transaction: poor })
    expect(status).toBe(200)
    expect(body.metadata?.logs[0]?.message).toMatch(/^A run would be refused now: /)
    await remove(body.data.id)
  })

  const IN_THE_PAST = '2020-01-01T00:00:00.000Z'
  test.each([
    ['seconds', { cron: '* * * * * *' }, /^body\.cron: /],
    ['a macro', { cron: '@yearly' }, /^body\.cron: /],
    ['a time that never comes', { cron: '0 0 31 2 *' }, /^body\.cron: cannot be read: it names no time/],
    ['a field out of range', { cron: '61 * * * *' }, /^body\.cron: cannot be read: /],
    ['an unknown time zone', { timezone: 'Mars/Olympus' }, /^body\.timezone: expected a time zone/],
    ['an end before its first run', { ends_at: IN_THE_PAST }, /^body\.ends_at: /],
    ['all missed runs without overlaps', { missed: 'all' }, /^body\.missed: all needs overlap/],
    [
      'a time of its own',
      { transaction: { ...PAYMENT, valid_until: IN_THE_PAST } },
      /transaction\.valid_until: .*valid_for_seconds/,
    ],
    [
      'a predecessor',
      { transaction: { ...PAYMENT, after: { transaction_id: 'x' } } },
      /transaction\.after: /,
    ],
    [
      'another kind of network',
      { transaction: { network: 'testnet', transaction_xdr: 'AAAAAg==' } },
      /relayer of type stellar/,
    ],
    ['too many transactions', { max_runs: 1_000_001 }, /^body\.max_runs: /],
  ])('with %s is refused, and the answer names it', async (_name, body, sentence) => {
    const answer = await schedules().create(body)
    expect(answer.status).toBe(400)
    expect(answer.body.error).toMatch(sentence)
  })

  test('with a hostile expression holds nothing up', async () => {
    const hostile = [
      '0 0 30W 2 *',
      '0 0 31W 4,6,9,11 *',
      '0 0 29 2 +1#5',
      '0 0 29 2 +7L',
      '0-59/1,0-59/1,0-59/1,0-59/1,0-59/1 * * * *',
      `${'1,'.repeat(29)}1 * * * *`,
      '59 23 31 12 +6#5',
    ]
    for (const cron of hostile) {
      const begun = performance.now()
      const { status, body } = await schedules().create({ cron, timezone: 'America/New_York' })
      expect([200, 400]).toContain(status)
      if (status === 200) {
        await schedules().next(body.data.id, 100)
        await schedules().remove(body.data.id)
      }
      expect(performance.now() - begun).toBeLessThan(1_500)
    }
  })

  test('is limited in number, for each relayer and each key', async () => {
    const key = await issueLimited(service, {})
    const [main, other] = [schedulesOf(key.call), schedulesOf(key.call, 'other')]
    const rare = { cron: '0 0 1 1 *' }
    const created = await Promise.all(Array.from({ length: 100 }, () => main.mustCreate(rare)))
    expect((await schedules().create(rare)).body.error).toMatch(
      /^Relayer main has 100 schedules, the maximum/,
    )
    expect((await other.create(rare)).body.error).toMatch(/^API key .* has 100 schedules, the maximum/)
    await Promise.all(created.map(({ id }) => schedules().remove(id)))
    await other.remove((await other.mustCreate(rare)).id)
  })
})

describe('a key', () => {
  test('that does not see the relayer can neither make nor change a schedule', async () => {
    const issued = await service.api<{ secret: string }>('POST', '/api-keys', {
      name: 'Narrow',
      scopes: ['transactions:read', 'transactions:write'],
      relayers: ['other'],
    })
    const authorization = `Bearer ${issued.body.data.secret}`
    const call: typeof service.api = (method, path, body) =>
      service.api(method, path, body, { authorization })
    const { id } = await schedules().mustCreate({ cron: '0 0 1 1 *' })
    const narrow = schedulesOf(call)
    expect(outcomeOf(await narrow.create({}))).toBe('404 relayer_not_found')
    expect(outcomeOf(await narrow.change(id, { paused: true }))).toBe('404 relayer_not_found')
    expect(outcomeOf(await schedulesOf(call, 'other').change(id, { paused: true }))).toBe(
      '404 schedule_not_found',
    )
    expect(outcomeOf(await schedulesOf(call, 'other').remove(id))).toBe('404 schedule_not_found')
    expect((await call('GET', '/schedules')).body.data).toEqual([])
    await schedules().remove(id)
  })

  test('that may only read cannot change anything', async () => {
    const issued = await service.api<{ secret: string }>('POST', '/api-keys', {
      name: 'Reader',
      scopes: ['transactions:read'],
    })
    const authorization = `Bearer ${issued.body.data.secret}`
    const reader = schedulesOf((method, path, body) => service.api(method, path, body, { authorization }))
    const { id } = await schedules().mustCreate({ cron: '0 0 1 1 *' })
    expect((await reader.get(id)).id).toBe(id)
    for (const answer of [
      await reader.create({}),
      await reader.change(id, { paused: true }),
      await reader.remove(id),
    ])
      expect(outcomeOf(answer)).toBe('403 insufficient_scope')
    await schedules().remove(id)
  })

  test('that changes a schedule sends in its own name from then on', async () => {
    const key = await issueLimited(service, { limits: [{ per: 'day', value: '0' }] })
    const { id } = await schedules().mustCreate({ cron: '0 0 1 1 *' })
    const own = schedulesOf(key.call)
    expect((await own.change(id, { name: 'Mine' })).body.data.api_key_id).toBe('root')
    expect((await own.change(id, { paused: true })).body.data.api_key_id).toBe('root')
    expect((await own.change(id, { paused: false })).body.data.api_key_id).toBe(key.id)
    await schedules().remove(id)
  })

  test('whose rules forbid the receiver cannot make a schedule that pays it', async () => {
    const key = await issueLimited(service, { receivers: ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8'] })
    expect(outcomeOf(await schedulesOf(key.call).create({}))).toBe('400 rule_violated')
  })
})
