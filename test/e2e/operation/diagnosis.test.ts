import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { RECEIVER } from '../../support/service.ts'

const GWEI = 1_000_000_000

let story: Scenario

beforeAll(async () => {
  story = await startScenario({ env: { RELAYER_MAX_IN_FLIGHT: '2' } })
})
afterAll(() => story.stop())

async function diagnosis(id: string): Promise<Schemas['Diagnosis']> {
  const answer = await story.service.api<Schemas['Diagnosis']>(
    'GET',
    `/relayers/main/transactions/${id}/diagnosis`,
  )
  expect(answer.status).toBe(200)
  return answer.body.data
}

test('the diagnosis explains every position in the queue of an account, from the head to the end', async () => {
  const head = await story.send({ to: RECEIVER, value: 1, speed: 'fastest' })
  await story.reach(head.id, 'submitted')
  const second = await story.send({
    to: RECEIVER,
    value: 2,
    max_fee_per_gas: 1.2 * GWEI,
    max_priority_fee_per_gas: 1,
  })
  await story.reach(second.id, 'submitted')
  const third = await story.send({ to: RECEIVER, value: 3 })

  const first = await diagnosis(head.id)
  expect(first).toMatchObject({
    status: 'submitted',
    findings: [{ code: 'waiting_for_inclusion' }],
    queue: { position: 0, in_flight: 2, in_flight_limit: 2 },
    nonce: { own: 0, next_on_chain: 0, missing: [] },
    fees: { base_fee: expect.stringMatching(/^\d+$/) },
    endpoints: [{ healthy: true }],
    next_action: { action: 'raise_fee' },
  })
  expect(Date.parse(first.next_action.at ?? '') - Date.now()).toBeGreaterThan(100_000)

  expect(await diagnosis(second.id)).toMatchObject({
    findings: [{ code: 'behind_others' }, { code: 'fee_below_market' }],
    queue: { position: 1 },
    next_action: { action: 'watch' },
  })

  const waiting = await diagnosis(third.id)
  expect(waiting).toMatchObject({
    status: 'pending',
    findings: [{ code: 'in_flight_limit' }, { code: 'behind_others' }],
    queue: { position: 2 },
    next_action: { action: 'sign' },
  })
  expect(waiting).not.toHaveProperty('nonce')

  await story.mine()
  await story.reach(head.id, 'mined')
  expect(await diagnosis(head.id)).toMatchObject({
    findings: [{ code: 'waiting_for_confirmations' }],
    confirmations: { block: 1, required: 1 },
    next_action: { action: 'confirm' },
  })
  await story.settle()
  expect(await diagnosis(head.id)).toMatchObject({
    findings: [{ code: 'final' }],
    next_action: { action: 'none' },
  })
})

test('a transaction of another relayer has no diagnosis here', async () => {
  const sent = await story.send({ to: RECEIVER, value: 1 })
  const { status } = await story.service.api('GET', `/relayers/other/transactions/${sent.id}/diagnosis`)
  expect(status).toBe(404)
  await story.settle()
})
