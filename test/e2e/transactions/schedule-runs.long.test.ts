import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { type AdjustableClock, createAdjustableClock } from '../../support/clock.ts'
import { issueLimited, outcomeOf } from '../../support/limited-key.ts'
import { decided, PAYMENT, passMinutes, schedulesOf } from '../../support/schedules.ts'
import { type Service, startService, type Transaction } from '../../support/service.ts'
import { until } from '../../support/until.ts'

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
afterEach(async () => {
  const { data } = (await service.api<{ id: string; relayer_id: string }[]>('GET', '/schedules')).body
  for (const { id, relayer_id } of data) await schedulesOf(service.api, relayer_id).remove(id)
  await service.api('PATCH', '/relayers/main', { paused: false })
  await anvil.rpc('evm_setAutomine', [true])
  await anvil.rpc('evm_mine')
})

const schedules = () => schedulesOf(service.api)

const transaction = async (id: string | undefined) =>
  (await service.api<Transaction & { schedule_id?: string }>('GET', `/relayers/main/transactions/${id}`)).body
    .data

async function confirmed(id: string | undefined) {
  return until(
    async () => {
      await anvil.rpc('evm_mine')
      return transaction(id)
    },
    ({ status }) => status === 'confirmed',
  )
}

describe('a schedule', () => {
  test('sends an ordinary transaction each time, once', async () => {
    const { mustCreate, get } = schedules()
    const created = await mustCreate({
      valid_for_seconds: 3_600,
      transaction: { ...PAYMENT, reference: 'rent' },
    })
    passMinutes(clock)
    const [first] = await decided(service, created.id, 1)
    expect(first).toMatchObject({ outcome: 'sent', scheduled_at: created.next_at, times: 1 })
    const sent = await confirmed(first?.transaction_id)
    expect(sent).toMatchObject({ schedule_id: created.id, reference: 'rent', value: '1' })
    passMinutes(clock)
    const runs = await decided(service, created.id, 2)
    expect(runs.map(({ outcome }) => outcome)).toEqual(['sent', 'sent'])
    expect(new Set(runs.map(({ transaction_id }) => transaction_id)).size).toBe(2)
    await confirmed(runs[0]?.transaction_id)
    expect(await get(created.id)).toMatchObject({
      runs: 2,
      last_transaction_id: runs[0]?.transaction_id,
      last_at: runs[0]?.scheduled_at,
      version: 1,
    })
  })

  test('is over after its number of transactions', async () => {
    const { mustCreate, get } = schedules()
    const { id } = await mustCreate({ max_runs: 1 })
    passMinutes(clock)
    await decided(service, id, 1)
    expect(await get(id)).toMatchObject({ state: 'completed', state_reason: 'No run is left.', runs: 1 })
    passMinutes(clock, 3)
    expect(await decided(service, id, 1)).toHaveLength(1)
  })

  test('is over at its end', async () => {
    const { mustCreate, get, next } = schedules()
    const end = Math.ceil(clock.now() / 60_000) * 60_000 + 60_000
    const { id } = await mustCreate({ ends_at: new Date(end).toISOString(), overlap: 'allow' })
    expect(await next(id)).toHaveLength(2)
    passMinutes(clock)
    await decided(service, id, 1)
    passMinutes(clock)
    await decided(service, id, 2)
    expect((await get(id)).state).toBe('completed')
  })

  test.each([
    [
      'once',
      [
        { outcome: 'sent', times: 1 },
        { outcome: 'skipped', times: 19 },
      ],
    ],
    [
      'skip',
      [
        { outcome: 'sent', times: 1 },
        { outcome: 'skipped', times: 19 },
      ],
    ],
    [
      'all',
      [
        ...Array.from({ length: 10 }, () => ({ outcome: 'sent', times: 1 })),
        { outcome: 'skipped', times: 10 },
      ],
    ],
  ])('that missed twenty times does %s', async (missed, expected) => {
    const { mustCreate } = schedules()
    const { id } = await mustCreate({ missed, overlap: 'allow' })
    passMinutes(clock, 20)
    const runs = await decided(service, id, expected.length)
    expect(runs).toHaveLength(expected.length)
    expect(runs).toMatchObject(expected)
  })

  test('skips a time that is more than a minute late, if it is to skip', async () => {
    const { mustCreate, get } = schedules()
    const hour = new Date(Math.ceil(clock.now() / 3_600_000) * 3_600_000)
    const skipping = await mustCreate({ cron: '0 * * * *', missed: 'skip' })
    const running = await mustCreate({ cron: '0 * * * *', missed: 'once' })
    clock.advance(hour.getTime() - clock.now() + 61_000)
    expect(await decided(service, skipping.id, 1)).toMatchObject([{ outcome: 'skipped', times: 1 }])
    expect(await decided(service, running.id, 1)).toMatchObject([{ outcome: 'sent' }])
    expect((await get(skipping.id)).next_at).toBe(new Date(hour.getTime() + 3_600_000).toISOString())
  })

  test('leaves a time out while the transaction before it is not final, unless it may overlap', async () => {
    const { mustCreate } = schedules()
    await anvil.rpc('evm_setAutomine', [false])
    const skipping = await mustCreate()
    const allowing = await mustCreate({ overlap: 'allow' })
    passMinutes(clock)
    const [first] = await decided(service, skipping.id, 1)
    await decided(service, allowing.id, 1)
    passMinutes(clock)
    const [second] = await decided(service, skipping.id, 2)
    expect(second).toMatchObject({ outcome: 'skipped' })
    expect(second?.reason).toMatch(`Transaction ${first?.transaction_id} of the run before is `)
    expect(await decided(service, allowing.id, 2)).toMatchObject([{ outcome: 'sent' }, { outcome: 'sent' }])
    await confirmed(first?.transaction_id)
    passMinutes(clock)
    const [third] = await decided(service, skipping.id, 3)
    expect(third).toMatchObject({ outcome: 'sent' })
  })

  test('goes on after a run that a budget refuses, and never exceeds the budget', async () => {
    const key = await issueLimited(service, { limits: [{ per: 'day', value: '2' }] })
    const { id } = await schedulesOf(key.call).mustCreate({ overlap: 'allow' })
    for (let count = 1; count <= 4; count += 1) {
      passMinutes(clock)
      await decided(service, id, count)
    }
    const runs = await schedules().runs(id)
    expect(runs.map(({ outcome }) => outcome)).toEqual(['refused', 'refused', 'sent', 'sent'])
    expect(runs[0]).toMatchObject({ code: 'rule_violated' })
    expect(runs[0]?.reason).toContain('limits[0].value')
    expect((await key.usage()).limits[0]?.value).toMatchObject({ spent: '2', left: '0' })
    expect((await schedules().get(id)).state).toBe('active')
    const { data } = (
      await service.api<{ payload: { schedule_id: string; change: string; run?: { outcome: string } } }[]>(
        'GET',
        '/events?type=schedule_update',
      )
    ).body
    const told = data.filter(({ payload }) => payload.schedule_id === id && payload.change === 'run')
    expect(told.map(({ payload }) => payload.run?.outcome)).toEqual(['refused', 'refused'])
  })

  test('of a key that was deleted is paused, and goes on in the name of the key that resumes it', async () => {
    const key = await issueLimited(service, {})
    const { id } = await schedulesOf(key.call).mustCreate()
    await service.api('DELETE', `/api-keys/${key.id}`)
    passMinutes(clock)
    expect(await decided(service, id, 1)).toMatchObject([{ outcome: 'refused', code: 'unauthorized' }])
    const paused = await schedules().get(id)
    expect(paused.state).toBe('paused')
    expect(paused.state_reason).toMatch(/^The service paused it: API key .* was deleted\./)
    expect((await schedules().change(id, { paused: false })).body.data).toMatchObject({
      state: 'active',
      api_key_id: 'root',
    })
    passMinutes(clock)
    expect((await decided(service, id, 2))[0]).toMatchObject({ outcome: 'sent' })
  })

  test.each([
    ['scope', { scopes: ['transactions:read'] }, 'insufficient_scope'],
    [
      'relayer',
      { scopes: ['transactions:read', 'transactions:write'], relayers: ['other'] },
      'relayer_not_found',
    ],
    [
      'network',
      { scopes: ['transactions:read', 'transactions:write'], networks: ['evm:sepolia'] },
      'relayer_not_found',
    ],
    ['key', { disabled: true }, 'unauthorized'],
  ])('of a key that lost its %s is paused', async (_name, change, code) => {
    const key = await issueLimited(service, {})
    const { id } = await schedulesOf(key.call).mustCreate()
    const changed = await service.api('PATCH', `/api-keys/${key.id}`, change)
    expect(changed.status).toBe(200)
    passMinutes(clock)
    expect(await decided(service, id, 1)).toMatchObject([{ outcome: 'refused', code }])
    expect((await schedules().get(id)).state).toBe('paused')
  })

  test('of a paused relayer is refused, and goes on', async () => {
    const { mustCreate, get } = schedules()
    const { id } = await mustCreate()
    await service.api('PATCH', '/relayers/main', { paused: true })
    passMinutes(clock)
    expect(await decided(service, id, 1)).toMatchObject([{ outcome: 'refused', code: 'relayer_paused' }])
    await service.api('PATCH', '/relayers/main', { paused: false })
    passMinutes(clock)
    expect((await decided(service, id, 2))[0]).toMatchObject({ outcome: 'sent' })
    expect((await get(id)).state).toBe('active')
  })

  test('does not miss the times at which it was paused', async () => {
    const { mustCreate, change } = schedules()
    const { id } = await mustCreate({ missed: 'all', overlap: 'allow' })
    await change(id, { paused: true })
    passMinutes(clock, 5)
    await change(id, { paused: false })
    passMinutes(clock)
    expect(await decided(service, id, 1)).toMatchObject([{ outcome: 'sent' }])
  })

  test('does not repeat a time when the clock goes back', async () => {
    const { mustCreate, get, change } = schedules()
    const { id } = await mustCreate()
    passMinutes(clock)
    const [first] = await decided(service, id, 1)
    clock.step(-180_000)
    const resumed = await change(id, { cron: '*/1 * * * *' })
    expect(Date.parse(String(resumed.body.data.next_at))).toBe(
      Date.parse(String(first?.scheduled_at)) + 60_000,
    )
    clock.step(180_000)
    expect((await get(id)).runs).toBe(1)
  })
})

describe('a rule that requires an approval', () => {
  const asking = { require_approval: {} }

  async function approver() {
    const issued = await service.api<{ id: string; secret: string }>('POST', '/api-keys', {
      name: 'Approver',
      scopes: ['transactions:read', 'transactions:approve'],
    })
    const headers = { authorization: `Bearer ${issued.body.data.secret}` }
    return schedulesOf((method, path, body) => service.api(method, path, body, headers))
  }

  test('makes each run wait', async () => {
    const key = await issueLimited(service, asking)
    const { id, state } = await schedulesOf(key.call).mustCreate()
    expect(state).toBe('active')
    passMinutes(clock)
    const [run] = await decided(service, id, 1)
    expect(await transaction(run?.transaction_id)).toMatchObject({ status: 'pending', awaits_approval: true })
  })

  test('makes the schedule wait once, and its runs no longer, until it is changed', async () => {
    const key = await issueLimited(service, asking)
    const own = schedulesOf(key.call)
    const created = await own.mustCreate({ approval: 'once' })
    const { id } = created
    expect(created).toMatchObject({
      state: 'awaiting_approval',
      approval_reasons: [expect.stringContaining('require_approval')],
    })
    const { decide } = await approver()
    expect(outcomeOf(await own.decide(id, { decision: 'approve', version: 1 }))).toBe(
      '403 insufficient_scope',
    )
    expect(outcomeOf(await decide(id, { decision: 'approve', version: 2 }))).toBe('409 approval_decided')
    const approved = await decide(id, { decision: 'approve', version: 1 })
    expect(approved.body.data).toMatchObject({ state: 'active', approved_by: expect.any(String) })
    passMinutes(clock)
    const [run] = await decided(service, id, 1)
    expect(await confirmed(run?.transaction_id)).not.toHaveProperty('awaits_approval')
    const changed = await own.change(id, { transaction: { ...PAYMENT, value: '2' } })
    expect(changed.body.data).toMatchObject({ state: 'awaiting_approval', version: 2 })
    expect(changed.body.data).not.toHaveProperty('approved_by')
    const refused = await decide(id, { decision: 'refuse', version: 2, reason: 'Too much' })
    expect(refused.body.data).toMatchObject({
      state: 'paused',
      state_reason: expect.stringMatching(/refused it: Too much\.$/),
    })
  })

  test('that came after the approval still makes a run wait', async () => {
    const key = await issueLimited(service, { require_approval: { new_receivers: true } })
    const { id } = await schedulesOf(key.call).mustCreate({ approval: 'once' })
    const { decide } = await approver()
    expect((await decide(id, { decision: 'approve', version: 1 })).status).toBe(200)
    await service.api('PATCH', `/api-keys/${key.id}`, { rules: { require_approval: {} } })
    passMinutes(clock)
    const [run] = await decided(service, id, 1)
    expect(await transaction(run?.transaction_id)).toMatchObject({ status: 'pending', awaits_approval: true })
  })

  test('cannot be approved by the key in whose name it sends', async () => {
    const issued = await service.api<{ secret: string }>('POST', '/api-keys', {
      name: 'Both',
      scopes: ['transactions:read', 'transactions:write', 'transactions:approve'],
      rules: asking,
    })
    const headers = { authorization: `Bearer ${issued.body.data.secret}` }
    const own = schedulesOf((method, path, body) => service.api(method, path, body, headers))
    const { id } = await own.mustCreate({ approval: 'once' })
    expect(outcomeOf(await own.decide(id, { decision: 'approve', version: 1 }))).toBe('403 own_approval')
  })
})
