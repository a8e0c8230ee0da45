import { afterAll, beforeAll, expect, test } from 'vitest'
import { issueLimited, outcomeOf, usageOf } from '../../support/limited-key.ts'
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
  const refused = await key.send(euros(6n))
  expect(outcomeOf(refused)).toBe('400 rule_violated')
  expect(refused.body.error).toBe(
    `Rule limits[1].value of API key ${key.id}: value of ${EUR} up to 5 per day on stellar:standalone; 5 is left, and this transaction needs up to 6.`,
  )
  const sent = [await key.send(payment(60n)), await key.send(euros(5n))]
  expect(sent.map(outcomeOf)).toEqual(['200', '200'])
  expect(outcomeOf(await key.send(payment(41n)))).toBe('400 rule_violated')
  expect(outcomeOf(await key.send(euros(1n)))).toBe('400 rule_violated')
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

test('the rules of the configuration refuse an operation and a larger sum, whoever sends', async () => {
  const [before] = (await usageOf(story.service, '/relayers/main')).limits
  const operations = [
    { type: 'create_account', destination: keypairOf('new').publicKey(), starting_balance: '20000000' },
  ]
  const refused = await story.post({ network: 'standalone', operations })
  expect([outcomeOf(refused), refused.body.error]).toEqual([
    '400 rule_violated',
    'Rule operations of relayer main: create_account is not among the operations.',
  ])
  expect(outcomeOf(await story.post(payment(1_001n)))).toBe('400 rule_violated')
  expect((await usageOf(story.service, '/relayers/main')).limits[0]).toEqual(before)
})
