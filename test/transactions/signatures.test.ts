import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../../src/chains/answer.ts'
import type { SignedDraft } from '../../src/chains/attempt.ts'
import type { ReviewedAuthorization } from '../../src/chains/capabilities.ts'
import type { Reviewed } from '../../src/chains/chain.ts'
import type { Relayer } from '../../src/relayers/relayer.ts'
import { chargeSignature } from '../../src/transactions/budgets/charge.ts'
import {
  createAuthorizationSigner,
  createTransactionSigner,
} from '../../src/transactions/requests/signing.ts'
import { requestOf, TO } from '../chains/evm/build.ts'
import { ACTOR, effectsWith } from '../support/samples.ts'
import { type Fixture, insert, newTransaction, openFixture, type TestAccount } from './fixture.ts'
import { chainOf, createStubChain, type StubChain } from './stub-chain.ts'

describe('a signed authorization', () => {
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

  test('a signature is charged and in the audit log', async () => {
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
    const action = 'sign_authorization' as const
    const signing = { relayer: account.relayer, actor: ACTOR, action, record }
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
})

describe('a signature without sending', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  const SIGNED: SignedDraft = {
    raw: new Uint8Array([1]),
    hash: '0xsigned',
    signature: { r: '', s: '', v: 0, sig: '' },
  }

  interface Situation {
    readonly review?: Partial<Reviewed>
    /** The answer of the chain, when it does not review the transaction. */
    readonly answer?: Answer<Reviewed>
    readonly balance?: StubChain['balance']
    readonly relayer?: Partial<Relayer>
    /** The cost of a transaction that is in flight. */
    readonly reserved?: bigint
  }

  /** A chain that reviews every transaction as one that costs 10 wei. */
  async function setUp({ review, answer, balance, relayer, reserved }: Situation) {
    const stub = createStubChain()
    if (balance) stub.balance = balance
    const asked: string[] = []
    const owner = await fixture.addAccount({ chain: chainOf(stub) })
    stub.override = {
      review: async () => {
        asked.push('review')
        if (answer) return answer
        const sign: Reviewed['sign'] = async (signer) => {
          asked.push(signer === owner.runtime.account.signer ? 'sign' : 'sign as another')
          return SIGNED
        }
        return { kind: 'ok', value: { effects: effectsWith(), cost: 10n, sign, ...review } }
      },
      balance: async () => {
        asked.push('balance')
        return stub.balance
      },
    }
    if (reserved !== undefined)
      await insert(fixture.context, newTransaction(owner, { status: 'sent', cost: reserved }))
    const sign = createTransactionSigner(fixture.context)
    const caller = { ...owner.relayer, ...relayer } as Relayer
    return { asked, signed: () => sign(caller, {} as Parameters<typeof sign>[1], ACTOR) }
  }

  test('a transaction that keeps the rules is signed by the account, and nothing is stored', async () => {
    const { asked, signed } = await setUp({ balance: { kind: 'ok', value: 11n } })
    expect(await signed()).toBe(SIGNED)
    expect(asked).toEqual(['review', 'balance', 'sign'])
    const rows = await fixture.database.db.selectFrom('transactions').select('id').execute()
    expect(rows).toEqual([])
  })

  test('a transaction that costs nothing is signed without a look at the balance', async () => {
    const { asked, signed } = await setUp({
      review: { cost: 0n },
      balance: { kind: 'unknown', detail: 'time-out' },
    })
    expect(await signed()).toBe(SIGNED)
    expect(asked).toEqual(['review', 'sign'])
  })

  const UNCHECKED = {
    code: 'network_unavailable',
    detail: 'No node of the network answers, so nothing was signed. Try again.',
    cause: 'time-out',
  }
  const REFUSED = { code: 'gas_price_above_cap', detail: 'The cap is 5.' } as const
  const SILENT = { kind: 'unknown', detail: 'time-out' } as const

  describe('is refused', () => {
    test.each<[string, Situation, object, readonly string[]]>([
      ['a paused relayer', { relayer: { paused: true } }, { code: 'relayer_paused' }, []],
      ['a disabled relayer', { relayer: { systemDisabled: true } }, { code: 'relayer_disabled' }, []],
      ['what the chain refuses', { answer: { kind: 'refused', refusal: REFUSED } }, REFUSED, ['review']],
      ['what no endpoint can review', { answer: SILENT }, UNCHECKED, ['review']],
      [
        'a receiver that is not on the whitelist',
        { review: { request: requestOf() }, relayer: { policies: { whitelistReceivers: [] } } },
        { code: 'receiver_not_whitelisted' },
        ['review'],
      ],
      ['what is paid from an unknown balance', { balance: SILENT }, UNCHECKED, ['review', 'balance']],
      [
        'what is paid from an account that does not exist',
        { balance: { kind: 'refused', refusal: { code: 'account_not_found', detail: 'It is new.' } } },
        { code: 'account_not_found', detail: 'It is new.' },
        ['review', 'balance'],
      ],
      [
        'what costs more than the account holds',
        { balance: { kind: 'ok', value: 10n } },
        { code: 'insufficient_balance', detail: expect.stringContaining('can spend 10 wei; 0 are reserved') },
        ['review', 'balance'],
      ],
      [
        'what costs more than the transactions in flight leave',
        { balance: { kind: 'ok', value: 16n }, reserved: 6n },
        { code: 'insufficient_balance', detail: expect.stringContaining('needs up to 10') },
        ['review', 'balance'],
      ],
    ])('%s', async (_name, situation, error, calls) => {
      const { asked, signed } = await setUp(situation)
      await expect(signed()).rejects.toMatchObject(error)
      expect(asked).toEqual(calls)
    })

    test.each<[string, Situation]>([
      [
        'a receiver on the whitelist',
        { relayer: { policies: { whitelistReceivers: [TO] } }, review: { request: requestOf() } },
      ],
      ['what leaves the minimum balance', { balance: { kind: 'ok', value: 17n }, reserved: 6n }],
      ['content that no request can express', { relayer: { policies: { whitelistReceivers: [] } } }],
    ])('not %s', async (_name, situation) => {
      const { signed } = await setUp(situation)
      expect(await signed()).toBe(SIGNED)
    })
  })
})
