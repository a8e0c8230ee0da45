import { describe, expect, test } from 'vitest'
import { until } from '../../support/until.ts'
import { ETHER, HOT, RULE, startStage } from './scenario.ts'

describe('a relayer with a top_up', () => {
  test('is filled once, by an ordinary transaction of the treasury, and not while one is pending', async () => {
    const stage = await startStage({ balance: ETHER / 2n })
    const [first] = await until(stage.paid, (seen) => seen[0]?.status === 'submitted')
    expect(first).toMatchObject({ top_up_of: 'hot', to: HOT, value: String((3n * ETHER) / 2n) })
    expect(await stage.becomes('pending')).toEqual({ state: 'pending', transaction_id: first?.id })
    await stage.settle()
    await stage.becomes('enough')
    expect(await stage.balance()).toBe(2n * ETHER)
    expect(await stage.paid()).toHaveLength(1)
    const { body } = await stage.service.api<{ actor: string; action: string; target_id: string }[]>(
      'GET',
      '/audit?action=sendTransaction',
    )
    const entries = body.data.filter(({ target_id }) => target_id === first?.id)
    expect(entries).toMatchObject([{ actor: 'service', action: 'sendTransaction' }])
  })

  test('is filled although its low balance disabled it, and is enabled again', async () => {
    const stage = await startStage()
    await until(stage.paid, (seen) => seen[0]?.status === 'submitted')
    const hot = async () =>
      (await stage.service.api<{ system_disabled: boolean }>('GET', '/relayers/hot')).body.data
    expect(await hot()).toMatchObject({ system_disabled: true })
    await stage.settle()
    await stage.becomes('enough')
    await until(hot, ({ system_disabled }) => !system_disabled)
    expect(await stage.paid()).toHaveLength(1)
  })

  test('gets no more than max_per_day within 24 hours, and more after them', async () => {
    const stage = await startStage({ hot: { top_up: { ...RULE, max_per_day: String(3n * ETHER) } } })
    await until(stage.paid, (seen) => seen.length === 1)
    await stage.settle()
    await stage.becomes('enough')
    await stage.setBalance(0n)
    await stage.paysUntil(2)
    await stage.settle()
    await stage.becomes('enough')
    expect((await stage.paid()).map((one) => 'value' in one && one.value)).toEqual([
      String(ETHER),
      String(2n * ETHER),
    ])
    await stage.setBalance(0n)
    await stage.becomes('limit_reached')
    expect(await stage.paid()).toHaveLength(2)
    stage.clock.advance(24 * 3_600_000)
    await stage.paysUntil(3)
  })

  test('waits for a treasury without funds, which is asked again later and never in a loop', async () => {
    const started = Date.now()
    const stage = await startStage({ treasury: { min_balance: String(9_999n * ETHER) } })
    const refused = await stage.becomes('refused')
    expect(refused).toMatchObject({ code: 'insufficient_balance' })
    expect(Date.parse(refused?.retry_at ?? '')).toBeGreaterThan(started + 30_000)
    expect(await stage.paid()).toEqual([])
    await stage.setBalance(20_000n * ETHER, '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266')
    await stage.paysUntil(1)
    await stage.becomes('pending')
  })

  test('is not filled while the treasury is paused', async () => {
    const stage = await startStage({ balance: 2n * ETHER })
    await stage.becomes('enough')
    const pause = (id: string, paused: boolean) => stage.service.api('PATCH', `/relayers/${id}`, { paused })
    await pause('treasury', true)
    await stage.setBalance(0n)
    expect(await stage.becomes('refused')).toMatchObject({ code: 'relayer_paused' })
    expect(await stage.paid()).toEqual([])
    await pause('treasury', false)
    await stage.paysUntil(1)
  })

  test('obeys the rules of the treasury, and waits for its approvals', async () => {
    const stage = await startStage({ treasury: { rules: { require_approval: {}, idempotency: 'required' } } })
    const [waiting] = await until(stage.paid, (seen) => seen.length === 1)
    expect(waiting).toMatchObject({ status: 'pending', awaits_approval: true, top_up_of: 'hot' })
    const { body } = await stage.service.api<{ requested_by: string }[]>('GET', '/approvals')
    expect(body.data).toMatchObject([{ requested_by: 'service' }])
    expect((await stage.becomes('pending'))?.transaction_id).toBe(waiting?.id)
    expect(await stage.paid()).toHaveLength(1)
  })
})
