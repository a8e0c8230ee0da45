import { join } from 'node:path'
import { Address } from '@stellar/stellar-sdk'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { preimageOf, tokenTransfer } from '../../../simulators/stellar/transaction/authorization.ts'
import { untilReady } from '../../support/plugins.ts'
import { MAIN, RECEIVER, type StellarScenario, startStellarScenario } from '../../support/stellar-scenario.ts'

const SELF = MAIN.publicKey()
const TOKEN = Address.contract(Buffer.alloc(32, 1)).toString()

let story: StellarScenario
beforeAll(async () => {
  const path = join(import.meta.dirname, 'fixtures', 'deciding.ts')
  story = await startStellarScenario({
    plugins: [{ id: 'guard', path, hooks: { before_send: { timeout: 5 } } }],
  })
  await untilReady(story.service)
}, 60_000)
afterAll(() => story?.stop())

const asked = async () =>
  (await story.service.api<object[]>('POST', '/plugins/guard/call/asked', {})).body.data

/** Content without a value is decided as the configuration of the plugin says. */
const answerWith = (answer: string) => story.service.api('PATCH', '/plugins/guard', { config: { answer } })

function sign() {
  const { passphrase } = story.ledger
  const root = tokenTransfer({ token: TOKEN, from: SELF, to: RECEIVER, amount: 5n })
  const expirationLedger = (story.ledger.ledgers.at(-1)?.sequence ?? 0) + 100
  const preimage_xdr = preimageOf({ passphrase, root, expirationLedger })
  return story.service.api('POST', '/relayers/main/sign-authorization-entry', { preimage_xdr })
}

test('an authorization is signed if the plugin allows it, which gets its effects', async () => {
  await answerWith('1')
  expect((await sign()).status).toBe(200)
  const [question, ...others] = await asked()
  expect(others).toEqual([])
  expect(question).toMatchObject({
    action: 'sign_authorization',
    network_type: 'stellar',
    effects: { receivers: [RECEIVER], contracts: [TOKEN], amounts: [{ asset: TOKEN, value: '5' }] },
  })
  expect(question).not.toHaveProperty('transaction')
})

test.each([
  ['20', 400, 'rule_violated', 'Rule before_send of plugin guard: the receiver is not known.'],
  [
    '21',
    400,
    'rule_violated',
    'Rule before_send of plugin guard: the amount is unusual. A signature cannot wait: send the transaction instead.',
  ],
  [
    '25',
    503,
    'plugin_unavailable',
    'Plugin guard has to be asked first, and did not answer. Nothing was done; try again.',
  ],
])('an authorization is not signed after the answer %s', async (answer, status, code, error) => {
  await answerWith(answer)
  const refused = await sign()
  expect(refused.status).toBe(status)
  expect(refused.body).toMatchObject({ success: false, code, error })
})

test('a transaction has its operations as the API shows them', async () => {
  await answerWith('1')
  await asked()
  const operations = [
    { type: 'payment', destination: RECEIVER, asset: { type: 'native' }, amount: '10000000' },
  ]
  const { status, body } = await story.service.api<{ operations?: unknown }>(
    'POST',
    '/relayers/main/transactions',
    { network: 'standalone', operations },
  )
  expect([status, body.error]).toEqual([200, undefined])
  const [question] = await asked()
  expect(question).toMatchObject({
    action: 'send',
    transaction: { network_type: 'stellar', operations: body.data.operations },
    effects: { operations: ['payment'], receivers: [RECEIVER] },
  })
})
