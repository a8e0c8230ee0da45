import { createHash } from 'node:crypto'
import {
  Account,
  Asset,
  BASE_FEE,
  Keypair,
  Memo,
  Operation,
  TransactionBuilder,
} from '@stellar/stellar-sdk/base'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { checkRequest } from '../../../src/chains/stellar/check/request.ts'
import type { StellarRequest, UnixSeconds } from '../../../src/chains/stellar/content.ts'
import { maxTimeOf } from '../../../src/chains/stellar/model/envelope.ts'
import type { StellarOperation } from '../../../src/chains/stellar/model/operation.ts'
import { composeTransaction } from '../../../src/chains/stellar/prepare/prepare.ts'
import { endsAt, externalNonceOf } from '../../../src/chains/stellar/prepare/replace.ts'
import {
  accountWith,
  addressOf,
  attemptOf,
  NETWORK,
  OTHER,
  PASSPHRASE,
  requestOf,
  SELF,
  signingContextAt,
} from './build.ts'
import { type Stage, setStage, XLM } from './stage.ts'

interface Shape {
  readonly source?: string
  readonly operationSource?: string
  readonly maxTime?: number
  readonly passphrase?: string
  readonly signed?: string
}

/** A transaction as a wallet makes it with the SDK. */
function prebuilt({
  source = SELF,
  operationSource,
  maxTime = 0,
  passphrase = PASSPHRASE,
  signed,
}: Shape = {}) {
  const tx = new TransactionBuilder(new Account(source, '41'), {
    fee: BASE_FEE,
    networkPassphrase: passphrase,
    timebounds: { minTime: 0, maxTime },
    memo: Memo.text('theirs'),
  })
    .addOperation(
      Operation.payment({
        destination: OTHER,
        asset: Asset.native(),
        amount: '1',
        ...(operationSource === undefined ? {} : { source: operationSource }),
      }),
    )
    .build()
  if (signed !== undefined) tx.sign(keyOf(signed))
  return tx
}

const keyOf = (name: string) => Keypair.fromRawEd25519Seed(createHash('sha256').update(name).digest())

function requestWith(shape: Shape, change: Partial<StellarRequest> = {}): StellarRequest {
  return requestOf({ transactionXdr: prebuilt(shape).toXdr(), ...change })
}

const problem = (shape: Shape, change: Partial<StellarRequest> = {}) =>
  checkRequest(requestWith(shape, change), accountWith(), NETWORK)?.detail

describe('a prebuilt transaction to sign', () => {
  test('gets our number, fee and end, and keeps the rest', () => {
    const request = requestWith({})
    expect(checkRequest(request, accountWith(), NETWORK)).toBeUndefined()
    const tx = composeTransaction(request, accountWith({ timeoutSeconds: 30 }), 5_000n as UnixSeconds)
    expect([tx.seqNum, tx.fee, tx.memo.value, maxTimeOf(tx)]).toEqual([0n, 0, 'theirs', 5_030n])
    expect(externalNonceOf(request)).toBeUndefined()
  })

  test.each([
    [600, undefined, 600n],
    [600, 500, 500n],
    [600, 700, 600n],
    [0, 700, 700n],
  ])('ends at the earlier of its own end %d and valid_until %s', (maxTime, until, want) => {
    const validUntil = until === undefined ? {} : { validUntil: new Date(until * 1_000 + 999) }
    const request = requestWith({ maxTime }, validUntil)
    expect(maxTimeOf(composeTransaction(request, accountWith(), 0n as UnixSeconds))).toBe(want)
  })

  test.each<[Shape, Partial<StellarRequest>, string]>([
    [{ source: OTHER }, {}, `transaction_xdr: the relayer's own account ${SELF} is expected as its source`],
    [{ operationSource: OTHER }, {}, `transaction_xdr: operations[0] has the source ${OTHER}`],
    [
      { signed: 'relayer' },
      {},
      'transaction_xdr: an unsigned transaction is expected, this one has 1 signatures',
    ],
    [{}, { memo: { type: 'text', value: 'mine' } }, 'memo: a prebuilt transaction has its own'],
    [{}, { feeBump: true }, 'fee_bump: a signed transaction_xdr is expected'],
  ])('is refused in case %#', (shape, change, detail) => {
    expect(problem(shape, change)?.startsWith(detail)).toBe(true)
  })

  test('a fee bump is no transaction to wrap', () => {
    const inner = prebuilt({ signed: 'relayer' })
    const outer = TransactionBuilder.buildFeeBumpTransaction(SELF, '200', inner, PASSPHRASE)
    const request = requestOf({ transactionXdr: outer.toXdr(), feeBump: true })
    expect(checkRequest(request, accountWith(), NETWORK)?.detail).toContain('this is already a fee bump')
  })
})

describe('a transaction that a third party has signed', () => {
  const theirs: Shape = { source: OTHER, signed: 'other' }
  const feeBump = { feeBump: true }

  test('is taken, with its own place and end', () => {
    const request = requestWith({ ...theirs, maxTime: 600 }, feeBump)
    expect(checkRequest(request, accountWith(), NETWORK)).toBeUndefined()
    expect(externalNonceOf(request)).toEqual({ address: OTHER, nonce: 42n })
    expect(endsAt(request)).toEqual(new Date(600_000))
  })

  test('for another network is refused: the signature is not for this one', () => {
    const elsewhere = { ...theirs, passphrase: 'Test SDF Network ; September 2015' }
    expect(problem(elsewhere, feeBump)).toMatch(/^transaction_xdr: signatures\[0\] is not by /)
  })

  test('by a signer that only the ledger knows is taken: unknown is never no', () => {
    expect(problem({ ...theirs, signed: 'third' }, feeBump)).toBeUndefined()
  })

  test('keeps its end, so valid_until cannot be earlier', () => {
    const validUntil = new Date(500_000)
    expect(problem({ ...theirs, maxTime: 600 }, { ...feeBump, validUntil })).toMatch(/^valid_until: /)
    expect(problem({ ...theirs, maxTime: 500 }, { ...feeBump, validUntil })).toBeUndefined()
    expect(problem(theirs, { ...feeBump, validUntil })).toMatch(/^valid_until: /)
  })
})

describe('the operations of a transaction', () => {
  let stage: Stage

  beforeEach(async () => {
    stage = await setStage()
  })

  afterEach(() => stage.ledger.stop())

  const EUR = { type: 'credit4', code: 'EUR', issuer: OTHER } as const
  const XLM_ASSET = { type: 'native' } as const

  /** Each operation has its effect on a ledger that reads real XDR. */
  test('every classic operation passes the network', async () => {
    const operations: readonly StellarOperation[] = [
      { type: 'create_account', destination: addressOf('new'), starting_balance: 2n * XLM },
      { type: 'change_trust', asset: EUR, limit: 1_000n },
      { type: 'manage_data', name: 'greeting', value: Buffer.from('hello').toString('base64') },
      {
        type: 'set_options',
        home_domain: 'example.com',
        signer: { key: addressOf('third'), weight: 1 },
        set_flags: 1,
      },
      { type: 'payment', destination: OTHER, asset: XLM_ASSET, amount: 1n },
      {
        type: 'path_payment_strict_send',
        send_asset: XLM_ASSET,
        send_amount: 5n,
        destination: OTHER,
        dest_asset: XLM_ASSET,
        dest_min: 5n,
      },
      {
        type: 'path_payment_strict_receive',
        send_asset: XLM_ASSET,
        send_max: 7n,
        destination: OTHER,
        dest_asset: XLM_ASSET,
        dest_amount: 7n,
      },
      {
        type: 'create_claimable_balance',
        asset: XLM_ASSET,
        amount: 9n,
        claimants: [{ destination: OTHER, predicate: { not: { before_relative_time: 5n } } }],
      },
      { type: 'bump_sequence', bump_to: 0n },
    ]
    const request = requestOf({ operations })
    const before = stage.ledger.account(SELF)?.balance ?? 0n
    const hash = await stage.run(request)
    expect(await stage.chain.receipts([hash])).toMatchObject([
      { kind: 'included', receipt: { success: true } },
    ])
    expect(stage.ledger.account(addressOf('new'))?.balance).toBe(2n * XLM)
    expect(stage.ledger.account(SELF)?.homeDomain).toBe('example.com')
    const left = stage.ledger.account(SELF)?.balance ?? 0n
    expect(before - left).toBe(stage.chain.amountOut(request) + 900n)
  })

  test('an account that is merged gives everything away', async () => {
    await stage.run(requestOf({ operations: [{ type: 'account_merge', destination: OTHER }] }))
    expect(stage.ledger.account(SELF)).toBeUndefined()
    expect(stage.ledger.account(OTHER)?.balance).toBe(200n * XLM - 100n)
  })

  test('what can be spent is the balance without the reserve', async () => {
    expect(await stage.chain.balance(SELF)).toEqual({ kind: 'ok', value: 99n * XLM })
    await stage.run(requestOf({ operations: [{ type: 'manage_data', name: 'a', value: '' }] }))
    expect(await stage.chain.balance(SELF)).toEqual({ kind: 'ok', value: 99n * XLM - 100n - 5_000_000n })
  })

  test('a transaction whose time is over has to wait, until a ledger proves that it expired', async () => {
    const { time = new Date(0) } = await headOf()
    const validUntil = new Date(time.getTime() + 10_000)
    const draft = await stage.prepare(
      requestOf({ operations: [{ type: 'bump_sequence', bump_to: 0n }], validUntil }),
    )
    const signed = await stage.chain.sign(draft, signingContextAt(await stage.nonce()))
    stage.ledger.close({ seconds: 11 })
    expect(await stage.chain.broadcast([signed.raw])).toEqual([
      { kind: 'unclear', known: true, detail: 'tx_too_late' },
    ])
    const { expiredUpTo = 0n, number } = await headOf()
    expect(expiredUpTo).toBeGreaterThanOrEqual(draft.expiresAt ?? 0n)
    const attempt = attemptOf(draft, { nonce: await stage.nonce(), signed })
    expect(await stage.chain.proveInclusion([attempt], { asOf: number })).toEqual({ kind: 'absent' })
    expect(stage.chain.endsAt(requestOf({ validUntil }))).toEqual(validUntil)
  })

  async function headOf() {
    const answer = await stage.chain.head()
    if (answer.kind !== 'ok') throw new Error(answer.kind)
    return answer.value
  }
})
