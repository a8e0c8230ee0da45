import { afterAll, beforeAll, expect, test } from 'vitest'
import { issueApprover } from '../../support/approver.ts'
import { issueLimited, outcomeOf, violationIn, violationsOfMain } from '../../support/limited-key.ts'
import {
  keypairOf,
  payment,
  RECEIVER,
  type StellarScenario,
  startStellarScenario,
} from '../../support/stellar-scenario.ts'
import { until } from '../../support/until.ts'

const ISSUER = keypairOf('issuer').publicKey()
const EUR = `EUR:${ISSUER}`

let story: StellarScenario

beforeAll(async () => {
  story = await startStellarScenario({
    relayer: {
      policies: { rules: { operations: ['payment'], limits: [{ per: 'day', value: '1000', count: 10 }] } },
    },
  })
}, 60_000)
afterAll(() => story.stop())

const asset = { type: 'credit4', code: 'EUR', issuer: ISSUER }
const euros = (amount: bigint) => ({
  network: 'standalone',
  operations: [{ type: 'payment', destination: RECEIVER, asset, amount: String(amount) }],
})

test('lumens and an asset have budgets of their own, and a payment that the ledger refuses gives its amount back', async () => {
  const key = await issueLimited(story.service, {
    assets: ['native', EUR],
    limits: [
      { per: 'day', value: '100', count: 3 },
      { per: 'day', asset: EUR, value: '5' },
    ],
  })
  expect(violationIn(await key.send(euros(6n)))).toBe(
    `Rule limits[1].value of API key ${key.id}: value of ${EUR} up to 5 per day on stellar:standalone; 5 is left, and this transaction needs up to 6.`,
  )
  const sent = [await key.send(payment(60n)), await key.send(euros(5n))]
  expect(sent.map(outcomeOf)).toEqual(['200', '200'])
  for (const body of [payment(41n), euros(1n)])
    expect(outcomeOf(await key.send(body))).toBe('400 rule_violated')
  const [paid, failed] = sent.map(({ body }) => body.data.id)
  await story.closeUntil(paid ?? '', 'confirmed')
  // The receiver does not trust the issuer.
  await story.closeUntil(failed ?? '', 'failed')
  const { limits } = await until(
    () => key.usage(),
    (usage) => usage.limits[1]?.value?.spent === '0',
  )
  expect(limits).toMatchObject([
    { asset: 'native', value: { spent: '60', left: '40' }, count: { spent: '2', left: '1' } },
    { asset: EUR, value: { limit: '5', left: '5' } },
  ])
})

test('a payment above the amount, and one to a new account, wait until another key approves them', async () => {
  const rule = { above: [{ value: '10' }], new_receivers: true }
  const key = await issueLimited(story.service, { require_approval: rule })
  const approver = await issueApprover(story.service)
  const first = (await key.send(payment(11n))).body.data
  expect(first).toMatchObject({
    awaits_approval: true,
    status_reason: expect.stringContaining(
      `no approved transaction has paid ${RECEIVER} on stellar:standalone.`,
    ),
  })
  expect(outcomeOf(await approver.decide(first.id, 'approve'))).toBe('200')
  await story.closeUntil(first.id, 'confirmed')
  expect((await key.send(payment(10n))).body.data.awaits_approval).toBeUndefined()
  const more = (await key.send(payment(12n))).body.data
  expect(more.awaits_approval).toBe(true)
  expect(outcomeOf(await approver.decide(more.id, 'refuse'))).toBe('200')
  expect((await story.get(more.id)).status).toBe('canceled')
})

test('the rules of the configuration refuse an operation and a larger sum, whoever sends', async () => {
  const operations = [
    { type: 'create_account', destination: keypairOf('new').publicKey(), starting_balance: '20000000' },
  ]
  expect(await violationsOfMain(story, [{ network: 'standalone', operations }, payment(1_001n)])).toEqual([
    'Rule operations of relayer main: create_account is not among the operations.',
    expect.stringMatching(/^Rule limits\[0\]\.value of relayer main: .* needs up to 1001\.$/),
  ])
})
