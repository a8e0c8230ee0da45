import { Operation, Account as SourceAccount, TransactionBuilder } from '@stellar/stellar-sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Attempt, ChargedFee } from '../../../src/chains/attempt.ts'
import type {
  LedgerSequence,
  StellarDraft,
  StellarRequest,
  UnixSeconds,
} from '../../../src/chains/stellar/content.ts'
import type { StellarOperation } from '../../../src/chains/stellar/model/operation.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { insertAttempts, saveOutcomes } from '../../../src/transactions/store/attempts-store.ts'
import { saveTransactions } from '../../../src/transactions/store/transactions-store.ts'
import { type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

const ACCOUNT = 'GDRXE2BQUC3AZNPVFSCEZ76NJ3WWL25FYFK6RGZGIEKWE4SOOHSUJUJ6'
const CHANNEL = 'GAVXVW5MCK7Q66RIBWZZKZEDQTRXWCZUP4DIIFXCCENGW2P6W4OA34RH'
const CONTRACT = 'CA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUWDA'
const MOST = 2n ** 63n - 1n
const ENVELOPE = new TransactionBuilder(new SourceAccount(ACCOUNT, '1'), {
  fee: '100',
  networkPassphrase: 'Test SDF Network ; September 2015',
  timebounds: { minTime: 0, maxTime: 0 },
})
  .addOperation(Operation.bumpSequence({ bumpTo: '7' }))
  .build()
  .toXdr()

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

/** The store asks no chain, and looks at no account: any will do. */
const stored = async (change: Partial<Transaction>) => {
  const owner = await fixture.addAccount({ chain: chainOf(createStubChain()) })
  const [transaction] = await insert(fixture.context, newTransaction(owner, change))
  if (!transaction) throw new Error('nothing was stored')
  return transaction
}

/** Operations with an integer at the end of its range, and with fields at every depth. */
const OPERATIONS: readonly StellarOperation[] = [
  { type: 'payment', destination: ACCOUNT, asset: { type: 'native' }, amount: MOST },
  { type: 'change_trust', asset: { type: 'credit4', code: 'USD', issuer: CHANNEL }, limit: 0n },
  { type: 'manage_data', name: 'a zero byte \u0000', value: null },
  {
    type: 'create_claimable_balance',
    asset: { type: 'native' },
    amount: 1n,
    claimants: [
      {
        destination: CHANNEL,
        predicate: { and: [{ not: { before_absolute_time: MOST } }, { or: [{ unconditional: true }] }] },
      },
    ],
  },
  {
    type: 'invoke_contract',
    contract_address: CONTRACT,
    function_name: 'f',
    args: [
      'void',
      { u64: 2n ** 64n - 1n },
      { i128: { hi: -(2n ** 63n), lo: 2n ** 64n - 1n } },
      { u256: (2n ** 256n - 1n).toString() },
      {
        map: [
          {
            key: { symbol: 'k' },
            val: { vec: [{ i64: -1n }, { bool: false }, { string: '9007199254740993' }] },
          },
        ],
      },
    ],
    auth: { type: 'addresses', signers: [ACCOUNT] },
  },
]

const REQUESTS: readonly { name: string; request: StellarRequest }[] = [
  {
    name: 'operations',
    request: {
      type: 'stellar',
      network: 'testnet',
      operations: OPERATIONS,
      sourceAccount: ACCOUNT,
      maxFee: MOST,
      memo: { type: 'id', value: 2n ** 64n - 1n },
      validUntil: new Date('2030-01-02T03:04:05.678Z'),
    },
  },
  {
    name: 'a prebuilt transaction',
    request: { type: 'stellar', network: 'testnet', transactionXdr: ENVELOPE, feeBump: false },
  },
  {
    name: 'a memo of bytes',
    request: {
      type: 'stellar',
      network: 'testnet',
      operations: [],
      memo: { type: 'hash', value: [0, 255, 7] },
    },
  },
  {
    name: 'a memo that reads like a number, with a zero byte',
    request: {
      type: 'stellar',
      network: 'testnet',
      operations: [],
      memo: { type: 'text', value: '1\u00000' },
    },
  },
]

describe('a Stellar request', () => {
  test.each(REQUESTS)('with $name comes back as it was (I10)', async ({ request }) => {
    const transaction = await stored({ request, sourceAccount: CHANNEL, nonce: MOST })
    expect((await reload(fixture.context, transaction)).transaction).toMatchObject({
      sourceAccount: CHANNEL,
      nonce: MOST,
    })
    expect((await reload(fixture.context, transaction)).transaction.request).toStrictEqual(request)
  })

  test('may take the place of another', async () => {
    const [first, second] = REQUESTS.map(({ request }) => request)
    if (!first || !second) throw new Error('there are no requests')
    const transaction = await stored({ request: first })
    await fixture.context.db
      .transaction()
      .execute((tx) => saveTransactions(tx, [{ ...transaction, request: second }]))
    expect((await reload(fixture.context, transaction)).transaction.request).toStrictEqual(second)
  })
})

const DRAFT: StellarDraft = {
  type: 'stellar',
  envelope: 'AAAAAgAAAAA=',
  externallySigned: false,
  feePerOperation: MOST,
  operationCount: 100,
  resourceFee: 2n ** 53n + 1n,
  bumped: true,
  spends: 2n ** 64n,
  maxFee: 0n,
  preparedAt: 1_700_000_000n as UnixSeconds,
  expiresAt: (2n ** 33n) as UnixSeconds,
}
const { expiresAt: _, ...WITHOUT_END } = DRAFT

let made = 0
function attemptWith(change: Partial<Attempt>): Attempt {
  made += 1
  return {
    number: 1,
    kind: 'send',
    sourceAccount: CHANNEL,
    nonce: MOST,
    draft: DRAFT,
    signed: {
      raw: Uint8Array.of(0, 255),
      hash: `stellar-${made}`,
      signature: { r: 'aa', s: 'bb', v: 0, sig: 'aabb' },
    },
    signedAt: new Date('2030-01-02T03:04:05.678Z'),
    outcome: 'signed',
    ...change,
  }
}

describe('an attempt on Stellar', () => {
  test.each<[string, Partial<Attempt>]>([
    ['with an end', {}],
    ['without an end', { draft: WITHOUT_END }],
    ['made because an earlier one lapsed', { kind: 're_sign', outcome: 'expired' }],
    ['that ends with a ledger', { draft: { ...WITHOUT_END, maxLedger: (2n ** 32n - 1n) as LedgerSequence } }],
    [
      'in a fee bump',
      {
        signed: {
          raw: Uint8Array.of(1),
          hash: 'outer',
          innerHash: 'inner',
          signature: { r: 'aa', s: 'bb', v: 0, sig: 'aabb' },
        },
      },
    ],
  ])('%s comes back as it was (I10)', async (_what, change) => {
    const transaction = await stored({})
    const attempt = attemptWith(change)
    await fixture.context.db
      .transaction()
      .execute((tx) => insertAttempts(tx, [{ transactionId: transaction.id, attempt }]))
    expect((await reload(fixture.context, transaction)).attempts).toStrictEqual([attempt])
  })

  test('of a chain without nonces has none', async () => {
    const transaction = await stored({})
    const { nonce: _nonce, ...attempt } = attemptWith({})
    await fixture.context.db
      .transaction()
      .execute((tx) => insertAttempts(tx, [{ transactionId: transaction.id, attempt }]))
    expect((await reload(fixture.context, transaction)).attempts).toStrictEqual([attempt])
  })

  test('keeps the result of the chain, also when a later answer has less', async () => {
    const transaction = await stored({})
    const attempt = attemptWith({})
    const result = {
      feeCharged: MOST as ChargedFee,
      appliedHash: 'other',
      feeAccount: ACCOUNT,
      resultXdr: 'AAAA',
      returnValueXdr: 'AAAB',
    }
    const said = { transactionId: transaction.id, number: 1, outcome: 'mined' } as const
    await fixture.context.db.transaction().execute(async (tx) => {
      await insertAttempts(tx, [{ transactionId: transaction.id, attempt }])
      await saveOutcomes(tx, [{ ...said, result }])
      await saveOutcomes(tx, [said])
    })
    expect((await reload(fixture.context, transaction)).attempts).toStrictEqual([
      { ...attempt, outcome: 'mined', result },
    ])
  })
})
