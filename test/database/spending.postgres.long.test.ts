import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Approval, issueApprover } from '../support/approver.ts'
import { issueLimited, outcomeOf, violationIn } from '../support/limited-key.ts'
import { scenarioOf } from '../support/scenario.ts'
import { RECEIVER, storyOf } from '../support/service.ts'
import { until } from '../support/until.ts'
import { type ServicePair, startServicePair } from './service-pair.ts'

let pair: ServicePair
beforeAll(async () => {
  pair = await startServicePair()
}, 60_000)
afterAll(() => pair.stop())

const RELAYERS = ['main', 'other'] as const

/** Issues a key with rules, which both services know. */
async function issue(rules: object) {
  const [first, second] = pair.services
  const one = await issueLimited(first, rules)
  const other = one.at(second)
  for (const { call } of [one, other])
    await until(
      async () => (await call('GET', '/relayers/main')).status,
      (status) => status === 200,
    )
  /** Calls the services in turn. */
  const call = (index: number, method: string, path: string, body?: object) =>
    (index % 2 === 0 ? one : other).call(method, path, body)
  return { call, usage: other.usage }
}

const pay = (value: number) => ({ to: RECEIVER, value, speed: 'fast' })

describe('two services and one approval', () => {
  test('decisions and cancellations at the same time, through both, are one', async () => {
    const { call } = await issue({ require_approval: {} })
    const [first, second] = pair.services
    const keys = [await issueApprover(first), await issueApprover(second)]
    // Each key decides at both services.
    const approvers = keys.flatMap((key) => [key.at(first), key.at(second)])
    for (const { list } of approvers)
      await until(
        async () => (await list()).status,
        (status) => status === 200,
      )
    const all = '/relayers/main/transactions'
    const outcomes = new Set<string>()
    // In the last two rounds all of them agree, so that both outcomes are there whoever is first in the others.
    const unanimous = new Map<number, 'approve' | 'refuse'>([
      [12, 'approve'],
      [13, 'refuse'],
    ])
    for (let round = 0; round < 14; round += 1) {
      const agreed = unanimous.get(round)
      const { id } = (await call(0, 'POST', all, pay(1))).body.data
      const decisions = approvers.map(({ decide }, index) =>
        decide(id, agreed ?? (round % 4 === index ? 'approve' : 'refuse')),
      )
      const canceled = agreed === undefined && round % 3 === 0 ? [call(1, 'DELETE', `${all}/${id}`)] : []
      await Promise.all([...decisions, ...canceled])
      const { status, awaits_approval, attempts } = await storyOf(first).get(id)
      const { data } = (await second.api<Approval>('GET', `${all}/${id}/approval`)).body
      expect(awaits_approval).toBeUndefined()
      expect(['approved', 'refused', 'withdrawn']).toContain(data.state)
      // What was refused or withdrawn is over, and no one signed it.
      if (data.state !== 'approved') expect([status, attempts]).toEqual(['canceled', []])
      const { body } = await first.api<{ after?: { decision?: string } }[]>(
        'GET',
        `/audit?action=decideApproval&target_id=${id}`,
      )
      const decided = body.data.map(({ after }) => after?.decision)
      expect(decided).toEqual(data.state === 'withdrawn' ? [] : [data.state])
      outcomes.add(data.state)
    }
    expect([...outcomes]).toEqual(expect.arrayContaining(['approved', 'refused']))
    await scenarioOf(pair.anvil, first).settle()
  })
})

describe('two services and the budget of one key', () => {
  test.each([
    ['value', { per: 'day', value: '10' }],
    ['count', { per: 'day', count: 10 }],
  ] as const)(
    'forty requests at once, through both and over two relayers, spend it to the last unit of %s and no further',
    async (amount, limit) => {
      const { call, usage } = await issue({ limits: [limit] })
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          call(index, 'POST', `/relayers/${RELAYERS[index % 4 < 2 ? 0 : 1]}/transactions`, pay(1)),
        ),
      )
      expect(answers.map(outcomeOf).sort()).toEqual([
        ...Array(10).fill('200'),
        ...Array(30).fill('400 rule_violated'),
      ])
      for (const answer of answers.filter(({ status }) => status === 400))
        expect(violationIn(answer)).toContain('0 is left, and this transaction needs up to 1.')
      expect((await usage()).limits[0]?.[amount]).toEqual({ limit: '10', spent: '10', left: '0' })
    },
  )

  test('replacements, new requests and what is given back never wait for each other in a circle', async () => {
    const limits = [{ per: 'day', value: '1000000', fees: '1000000000000000000', count: 10_000 }]
    const keys = [await issue({ limits }), await issue({ limits })] as const
    const all = '/relayers/main/transactions'
    await scenarioOf(pair.anvil, pair.services[0]).settle()
    const sent = await Promise.all(
      Array.from({ length: 8 }, async (_, index) => {
        const { body } = await (keys[index % 2] ?? keys[0]).call(index, 'POST', all, pay(1))
        return body.data.id
      }),
    )
    const { reach } = storyOf(pair.services[1])
    for (const id of sent) await reach(id, 'submitted')
    const answers = await Promise.all(
      [...sent, ...sent].flatMap((id, index) => [
        // Each key replaces what the other one sent, too.
        (keys[(index + (index >> 3)) % 2] ?? keys[0]).call(index, 'PUT', `${all}/${id}`, pay(2 + index)),
        (keys[index % 2] ?? keys[0]).call(index, 'POST', all, pay(1)),
        (keys[(index + 1) % 2] ?? keys[0]).call(index + 1, 'POST', all, pay(1)),
      ]),
    )
    expect(answers.map(({ status, body }) => [status, body.error])).toEqual(
      answers.map(() => [200, undefined]),
    )
  }, 60_000)
})
