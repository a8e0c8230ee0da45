import { afterAll, beforeAll, expect, test } from 'vitest'
import { issueLimited, outcomeOf, violationIn } from '../../support/limited-key.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { RECEIVER } from '../../support/service.ts'

let story: Scenario
beforeAll(async () => {
  story = await startScenario({})
}, 60_000)
afterAll(() => story.stop())

const DAILY = { user_limits: [{ per: 'day', value: '100', count: 2 }] }
const pay = (value: number) => ({ to: RECEIVER, value })
const as = (user: string) => ({ 'user-id': user })

test('each user of a key has its own limits, whatever the others have spent', async () => {
  const key = await issueLimited(story.service, DAILY)
  expect(outcomeOf(await key.send(pay(60), as('alice')))).toBe('200')
  const late = violationIn(await key.send(pay(41), as('alice')))
  expect(late).toBe(
    `Rule user_limits[0].value of user alice of API key ${key.id}: value up to 100 per day on evm:anvil; 40 is left, and this transaction needs up to 41.`,
  )
  expect(outcomeOf(await key.send(pay(100), as('bob')))).toBe('200')
  expect(outcomeOf(await key.send(pay(40), as('alice')))).toBe('200')
  expect(violationIn(await key.send(pay(0), as('alice')))).toContain('user_limits[0].count of user alice')
  await story.settle()
})

test('users of two keys with the same name are two users', async () => {
  const [first, second] = [await issueLimited(story.service, DAILY), await issueLimited(story.service, DAILY)]
  for (const key of [first, second]) expect(outcomeOf(await key.send(pay(100), as('alice')))).toBe('200')
  await story.settle()
})

test('a request without a user is refused, and is taken by a key without limits for users', async () => {
  const key = await issueLimited(story.service, DAILY)
  expect(violationIn(await key.send(pay(1)))).toBe(
    `Rule user_limits of API key ${key.id}: the header User-Id is required, which names the user.`,
  )
  const batch = await key.call('POST', '/relayers/main/transactions/batch', { transactions: [pay(1)] })
  expect(violationIn(batch)).toContain('the header User-Id is required')
  const other = await issueLimited(story.service, { limits: [{ per: 'day', value: '100' }] })
  expect(outcomeOf(await other.send(pay(1), as('alice')))).toBe('200')
  await story.settle()
})

test('what requests of one user spend at the same moment stays within its limits', async () => {
  const key = await issueLimited(story.service, { user_limits: [{ per: 'day', value: '100' }] })
  const answers = await Promise.all(Array.from({ length: 20 }, () => key.send(pay(30), as('alice'))))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
  await story.settle()
})

test('the transactions of a batch count for its user, and all of them are refused together', async () => {
  const key = await issueLimited(story.service, DAILY)
  const send = (values: number[]) =>
    key.call('POST', '/relayers/main/transactions/batch', { transactions: values.map(pay) }, as('alice'))
  expect(outcomeOf(await send([1, 2, 3]))).not.toBe('200')
  expect(outcomeOf(await send([1, 2]))).toBe('200')
  await story.settle()
})

test('the usage of a key is told for each of its users', async () => {
  const key = await issueLimited(story.service, { user_limits: [{ per: 'day', value: '100' }] })
  const usage = async (query: string) =>
    (await story.service.api<object>('GET', `/api-keys/${key.id}/usage${query}`)).body.data
  expect(outcomeOf(await key.send(pay(90), as('alice')))).toBe('200')
  expect(await usage('?user_id=alice')).toMatchObject({
    limits: [{ rule: 'user_limits[0]', value: { limit: '100', spent: '90', left: '10' } }],
  })
  expect(await usage('?user_id=bob')).toMatchObject({ spent: [] })
  await story.settle()
})

test('only a key has limits for users, and nothing is counted for those of a key without them', async () => {
  const policies = { rules: { user_limits: [{ per: 'day', count: 1 }] } }
  const answer = await story.service.api('PATCH', '/relayers/main', { policies })
  expect(answer).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining('user_limits belongs to an API key') },
  })
  const key = await issueLimited(story.service, { limits: [{ per: 'day', value: '100' }] })
  const usage = await story.service.api('GET', `/api-keys/${key.id}/usage?user_id=alice`)
  expect(usage).toMatchObject({ status: 200, body: { data: { limits: [], spent: [] } } })
  const wrong = await key.send(pay(1), as('with a space'))
  expect(wrong).toMatchObject({ status: 400, body: { error: expect.stringContaining('User-Id') } })
})
