import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Approval } from '../../support/approver.ts'
import { outcomeOf } from '../../support/limited-key.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { type Answer, RECEIVER, type Transaction } from '../../support/service.ts'

let story: Scenario
beforeAll(async () => {
  // Nothing is mined while keys spend, so nothing comes back.
  story = await startScenario()
}, 60_000)
afterAll(() => story.stop())

const SCOPES = ['transactions:read', 'transactions:write', 'transactions:approve'] as const
const RELAYERS = ['main', 'other'] as const

/** The rights of a key. Amounts are in wei. */
interface Rights {
  readonly scopes: readonly string[]
  /** Absent: all of them. */
  readonly relayers: readonly string[] | undefined
  readonly perTransaction: number
  readonly perDay: number
  readonly count: number
  readonly approvalAbove: number
}

/** A request of one of the keys. */
interface Wish {
  readonly key: number
  readonly relayer: (typeof RELAYERS)[number]
  readonly value: number
  readonly reads: boolean
}

const rights: fc.Arbitrary<Rights> = fc.record({
  scopes: fc.subarray([...SCOPES], { minLength: 1 }),
  relayers: fc.constantFrom(undefined, undefined, ['main'], ['other'], ['ma*']),
  perTransaction: fc.integer({ min: 5, max: 20 }),
  perDay: fc.integer({ min: 10, max: 80 }),
  count: fc.integer({ min: 1, max: 8 }),
  approvalAbove: fc.integer({ min: 0, max: 20 }),
})
const KEYS = 4
const wish: fc.Arbitrary<Wish> = fc.record({
  key: fc.nat(KEYS - 1),
  relayer: fc.constantFrom(...RELAYERS),
  value: fc.integer({ min: 0, max: 22 }),
  reads: fc.boolean(),
})

/** The oracle: what a key is answered, as far as it does not depend on what others were accepted before. */
function expected({ scopes, relayers, perTransaction }: Rights, { relayer, value, reads }: Wish): string {
  if (!scopes.includes(reads ? 'transactions:read' : 'transactions:write')) return '403 insufficient_scope'
  if (relayers && !relayers.some((one) => relayer.startsWith(one.replace('*', ''))))
    return '404 relayer_not_found'
  return !reads && value > perTransaction ? '400 rule_violated' : '200'
}

interface Key {
  readonly id: string
  readonly rights: Rights
  call<Data>(method: string, path: string, body?: object): Promise<Answer<Data>>
}

async function issue(given: Rights): Promise<Key> {
  const { scopes, relayers, perTransaction, perDay, count, approvalAbove } = given
  const limits = [
    { per: 'transaction', value: String(perTransaction) },
    { per: 'day', value: String(perDay), count },
  ]
  const rules = { limits, require_approval: { above: [{ value: String(approvalAbove) }] } }
  const record = { name: 'Model', scopes, rules, ...(relayers && { relayers }) }
  const { body } = await story.service.api<{ id: string; secret: string }>('POST', '/api-keys', record)
  const headers = { authorization: `Bearer ${body.data.secret}` }
  return {
    id: body.data.id,
    rights: given,
    call: (method, path, content) => story.service.api(method, path, content, headers),
  }
}

const allOf = (relayer: string) => `/relayers/${relayer}/transactions`

/** Sends everything at once, and compares each answer and the sums with the oracle. Returns what waits. */
async function spend(keys: readonly Key[], wishes: readonly Wish[]): Promise<Transaction[]> {
  const answers = await Promise.all(
    wishes.map(async (one) => {
      const key = keys[one.key] as Key
      const body = { to: RECEIVER, value: one.value, gas_limit: 21_000, speed: 'fast' }
      const answer = one.reads
        ? await key.call<Transaction>('GET', allOf(one.relayer))
        : await key.call<Transaction>('POST', allOf(one.relayer), body)
      return { key, one, answer, outcome: outcomeOf(answer) }
    }),
  )
  for (const key of keys) {
    const own = answers.filter((answer) => answer.key === key && !answer.one.reads)
    const accepted = own.filter(({ outcome }) => outcome === '200')
    const sum = accepted.reduce((total, { one }) => total + one.value, 0)
    expect(sum).toBeLessThanOrEqual(key.rights.perDay)
    expect(accepted.length).toBeLessThanOrEqual(key.rights.count)
    for (const { one, outcome, answer } of own) {
      if (outcome === '200')
        expect(answer.body.data.awaits_approval ?? false).toBe(one.value > key.rights.approvalAbove)
      if (outcome === expected(key.rights, one)) continue
      // Only a budget can refuse what the oracle allows, and only what it really has no room for.
      expect([expected(key.rights, one), outcome]).toEqual(['200', '400 rule_violated'])
      expect(sum + one.value > key.rights.perDay || accepted.length === key.rights.count).toBe(true)
    }
    const usage = await story.service.api<{
      limits: { value: { spent: string }; count: { spent: string } }[]
    }>('GET', `/api-keys/${key.id}/usage`)
    const [day] = usage.body.data.limits
    expect([day?.value.spent ?? '0', day?.count.spent ?? '0']).toEqual([String(sum), String(accepted.length)])
  }
  for (const { key, one, outcome } of answers.filter((answer) => answer.one.reads))
    expect(outcome).toBe(expected(key.rights, one))
  return answers.flatMap(({ answer, outcome, one }) =>
    !one.reads && outcome === '200' && answer.body.data.awaits_approval ? [answer.body.data] : [],
  )
}

/** Lets every key decide about everything that waits, all at once: one decision counts, by a key that may and did not send it. */
async function decideAll(keys: readonly Key[], waiting: readonly Transaction[]): Promise<void> {
  for (const { id, relayer_id: relayer } of waiting) {
    const path = `${allOf(relayer)}/${id}/approval`
    const { requested_by } = (await story.service.api<Approval>('GET', path)).body.data
    const outcomes = await Promise.all(
      keys.map(async (key, index) => {
        const decision = index % 2 === 0 ? 'approve' : 'refuse'
        return outcomeOf(await key.call('POST', path, { decision }))
      }),
    )
    const [refused, allowed]: [string[], string[]] = [[], []]
    for (const [index, { rights: given, id: key }] of keys.entries()) {
      const outcome = outcomes[index] as string
      const visible = !given.relayers?.every((one) => !relayer.startsWith(one.replace('*', '')))
      if (!given.scopes.includes('transactions:approve')) expect(outcome).toBe('403 insufficient_scope')
      else if (!visible) expect(outcome).toBe('404 relayer_not_found')
      else if (key === requested_by) expect(outcome).toBe('403 own_approval')
      else (outcome === '200' ? allowed : refused).push(outcome)
    }
    expect(allowed.length).toBe(allowed.length + refused.length === 0 ? 0 : 1)
    expect(refused.every((outcome) => outcome === '409 approval_decided')).toBe(true)
    if (allowed.length === 0) await story.service.api('POST', path, { decision: 'refuse' })
  }
}

test('random keys with random rights get what an oracle of a few lines says, however many requests there are at the same time', async () => {
  await fc.assert(
    fc
      .asyncProperty(
        fc.array(rights, { minLength: KEYS, maxLength: KEYS }),
        fc.array(wish, { minLength: 30, maxLength: 60 }),
        async (given, wishes) => {
          const keys = await Promise.all(given.map(issue))
          await decideAll(keys, await spend(keys, wishes))
        },
      )
      .afterEach(() => story.settle()),
    { numRuns: 12, endOnFailure: true },
  )
}, 60_000)
