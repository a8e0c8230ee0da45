import { afterEach, describe, expect, test } from 'vitest'
import { type Approval, issueApprover } from '../../support/approver.ts'
import { issueLimited, outcomeOf } from '../../support/limited-key.ts'
import { type SolanaScenario, startSolanaScenario, transfer } from '../../support/solana-scenario.ts'
import { until } from '../../support/until.ts'

let story: SolanaScenario
afterEach(() => story.stop())

/** More blocks than a blockhash lives. */
const LIFETIME = 160

/** The transaction is not included until its blockhash has expired. */
function expire(): void {
  story.solana.dropPending()
  story.solana.tick(LIFETIME)
}

describe('a payment that has expired, on a network with one endpoint', () => {
  test('is charged again before it is signed again, and waits where a budget does not allow both', async () => {
    story = await startSolanaScenario()
    const key = await issueLimited(story.service, { limits: [{ per: 'day', value: '1000', count: 2 }] })
    const { body } = await key.send(transfer(700n))
    await story.reach(body.data.id, 'submitted')
    expire()
    const waiting = await until(
      () => story.get(body.data.id),
      ({ status_reason }) => status_reason?.startsWith('Waiting for a budget') === true,
    )
    expect(waiting.status).toBe('pending')
    const { body: events } = await story.service.api<{ type: string }[]>('GET', '/events?limit=100')
    expect(events.data.map(({ type }) => type)).toContain('transaction_stuck')
    expect(waiting.status_reason).toBe(
      `Waiting for a budget: only one endpoint or an operator says that its earlier version was not included, so it counts again. Rule limits[0].value of API key ${key.id}: value up to 1000 per day on solana:local; 300 is left, and this transaction needs up to 700.`,
    )
    const { id: other } = await story.send(transfer(5n))
    await story.tickUntil(other, 'confirmed')
    await key.call('DELETE', `/relayers/main/transactions/${waiting.id}`)
    expect((await story.get(waiting.id)).status).toBe('canceled')
    await until(
      () => key.usage(),
      ({ limits: [limit] }) => limit?.value?.left === '1000' && limit.count?.left === '2',
    )
  })

  test('counts twice until it is confirmed, and once from then on', async () => {
    story = await startSolanaScenario()
    const key = await issueLimited(story.service, { limits: [{ per: 'day', value: '1500', count: 2 }] })
    const { body } = await key.send(transfer(700n))
    await story.reach(body.data.id, 'submitted')
    expire()
    await until(
      () => story.get(body.data.id),
      ({ status, attempts }) => status === 'submitted' && attempts?.length === 2,
    )
    expect((await key.usage()).limits[0]).toMatchObject({ value: { spent: '1400' }, count: { spent: '2' } })
    await story.tickUntil(body.data.id, 'confirmed')
    await until(
      () => key.usage(),
      ({ limits: [limit] }) => limit?.value?.spent === '700' && limit.count?.spent === '1',
    )
  })

  test('needs another approval', async () => {
    story = await startSolanaScenario()
    const approver = await issueApprover(story.service)
    const key = await issueLimited(story.service, { require_approval: {} })
    const { id } = (await key.send(transfer(700n))).body.data
    const approvalOf = async () =>
      (await story.service.api<Approval>('GET', `/relayers/main/transactions/${id}/approval`)).body.data
    expect(outcomeOf(await approver.decide(id, 'approve'))).toBe('200')
    await story.reach(id, 'submitted')
    expire()
    const waiting = await story.reach(id, 'pending')
    const { state, expires_at } = await approvalOf()
    expect([waiting.awaits_approval, state]).toEqual([true, 'waiting'])
    expect(waiting.status_reason).toBe(
      `It expired without being included; it is signed again. Only one endpoint or an operator says that the approved version was not included, so the next one waits for a new approval until ${expires_at}.`,
    )
    expect(outcomeOf(await approver.decide(id, 'approve'))).toBe('200')
    const confirmed = await story.tickUntil(id, 'confirmed')
    expect(confirmed.attempts).toHaveLength(2)
  })
})

test('a payment that has expired by the word of two endpoints is the same charge and the same approval', async () => {
  story = await startSolanaScenario({ urls: (solana) => [solana.url, solana.replica({ behind: 0 })] })
  const approver = await issueApprover(story.service)
  const key = await issueLimited(story.service, {
    limits: [{ per: 'day', value: '1000', count: 1 }],
    require_approval: {},
  })
  const { id } = (await key.send(transfer(700n))).body.data
  expect(outcomeOf(await approver.decide(id, 'approve'))).toBe('200')
  await story.reach(id, 'submitted')
  expire()
  await until(
    () => story.get(id),
    ({ status, attempts }) => status === 'submitted' && attempts?.length === 2,
  )
  expect((await key.usage()).limits[0]).toMatchObject({ value: { left: '300' }, count: { left: '0' } })
  await story.tickUntil(id, 'confirmed')
})
