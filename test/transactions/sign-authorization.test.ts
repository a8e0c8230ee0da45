import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Answer } from '../../src/chains/answer.ts'
import type { ReviewedAuthorization } from '../../src/chains/capabilities.ts'
import { chargeSignature } from '../../src/transactions/budgets/charge.ts'
import { createAuthorizationSigner } from '../../src/transactions/signing.ts'
import { ACTOR } from '../support/actor.ts'
import { effectsWith } from '../support/effects-with.ts'
import { type Fixture, openFixture, type TestAccount } from './fixture.ts'
import { chainOf, createStubChain } from './stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

const SIGNATURE = { r: '', s: '', v: 0, sig: '' }
const EFFECTS = effectsWith({ amounts: [{ asset: 'native', value: 7n }] })
const LIMITS = [{ per: 'day', asset: 'native', value: 10n }] as const

/** An account whose chain reviews every authorization as one that moves 7. */
async function setUp(
  answer?: Answer<ReviewedAuthorization>,
  sign: ReviewedAuthorization['sign'] = async () => SIGNATURE,
): Promise<TestAccount> {
  const stub = createStubChain()
  const review = async () =>
    answer ?? ({ kind: 'ok', value: { effects: EFFECTS, sha256: 'ab', sign } } as const)
  stub.override = { authorizationEntries: { review } }
  const account = await fixture.addAccount({ chain: chainOf(stub) })
  return { ...account, relayer: { ...account.relayer, policies: { rules: { limits: LIMITS } } } }
}

const authorize = ({ relayer }: TestAccount) =>
  createAuthorizationSigner(fixture.context)(relayer, 'AAAA', ACTOR)

/** What is stored of the signatures of an account. */
async function storedOf({ relayer }: TestAccount) {
  const { db } = fixture.database
  const [spent, entries] = await Promise.all([
    db.selectFrom('spendings').select('value').where('subject', '=', `relayer:${relayer.id}`).execute(),
    db.selectFrom('audit_log').select(['action', 'after']).where('target_id', '=', relayer.id).execute(),
  ])
  return { spent: spent.map(({ value }) => value), entries }
}

const ENTRY = { action: 'signAuthorizationEntry', after: { sha256: 'ab' } }

test('what is signed is charged and in the audit log', async () => {
  const account = await setUp()
  expect(await authorize(account)).toBe(SIGNATURE)
  expect(await storedOf(account)).toEqual({ spent: [7n], entries: [ENTRY] })
  await expect(authorize(account)).rejects.toMatchObject({ code: 'rule_violated' })
  expect(await storedOf(account)).toEqual({ spent: [7n], entries: [ENTRY] })
})

test('charge and entry are committed before the signer is asked, so that a crash loses neither', async () => {
  const account = await setUp(undefined, async () => {
    expect(await storedOf(account)).toEqual({ spent: [7n], entries: [ENTRY] })
    throw new Error('the process ends here')
  })
  await expect(authorize(account)).rejects.toThrow('the process ends here')
  expect(await storedOf(account)).toEqual({ spent: [7n], entries: [ENTRY] })
})

test('without the entry there is no charge', async () => {
  const account = await setUp()
  const record = async () => {
    throw new Error('the log is full')
  }
  const signing = { relayer: account.relayer, actor: ACTOR, record }
  const charged = chargeSignature(fixture.context, signing, { effects: EFFECTS, cost: 0n })
  await expect(charged).rejects.toThrow('the log is full')
  expect(await storedOf(account)).toEqual({ spent: [], entries: [] })
})

test.each<[string, Answer<never>, string]>([
  ['no node can review', { kind: 'unknown', detail: 'time-out' }, 'network_unavailable'],
  [
    'the chain refuses',
    { kind: 'refused', refusal: { code: 'invalid_request', detail: 'No.' } },
    'invalid_request',
  ],
])('what %s is neither signed nor stored', async (_name, answer, code) => {
  const account = await setUp(answer)
  await expect(authorize(account)).rejects.toMatchObject({ code })
  expect(await storedOf(account)).toEqual({ spent: [], entries: [] })
})
