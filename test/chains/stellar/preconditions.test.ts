import {
  Account,
  Asset,
  type Keypair,
  Memo,
  MuxedAccount,
  Operation,
  TransactionBuilder,
} from '@stellar/stellar-sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { StellarRequest } from '../../../src/chains/stellar/content.ts'
import { keypairOf } from '../../support/stellar-scenario.ts'
import {
  accountWith,
  attemptOf,
  known,
  OTHER,
  PASSPHRASE,
  requestOf,
  SELF,
  signingContextAt,
} from './build.ts'
import { type Stage, setStage, XLM } from './stage.ts'

const CUSTOMER = keypairOf('customer')

let stage: Stage

beforeAll(async () => {
  stage = await setStage()
  stage.ledger.fund(CUSTOMER.publicKey(), 100n * XLM)
  stage.ledger.close()
})
afterAll(() => stage.ledger.stop())

type Change = (builder: TransactionBuilder) => TransactionBuilder

/** A payment of someone; unsigned without `signer`. */
function prebuilt(source: string, change: Change, signer?: Keypair): string {
  const { sequence } = stage.ledger.account(source) ?? { sequence: 0n }
  const builder = new TransactionBuilder(new Account(source, String(sequence)), {
    fee: '100',
    networkPassphrase: PASSPHRASE,
  })
    .addOperation(Operation.payment({ destination: OTHER, asset: Asset.native(), amount: '1' }))
    .setTimeout(0)
  const transaction = change(builder).build()
  if (signer) transaction.sign(signer)
  return transaction.toXDR()
}

const problemOf = (request: StellarRequest) => stage.chain.check(request, accountWith())

describe('a prebuilt transaction that the service signs', () => {
  test.each<[string, Change, RegExp]>([
    [
      'maxLedger',
      (builder) => builder.setLedgerbounds(0, 9),
      /^transaction_xdr: cond\.ledgerBounds\.maxLedger /,
    ],
    ['minSeqNum', (builder) => builder.setMinAccountSequence('5'), /^transaction_xdr: cond\.minSeqNum /],
  ])('with %s is refused: it could never hold again', (_name, change, detail) => {
    expect(problemOf(requestOf({ transactionXdr: prebuilt(SELF, change) }))).toMatchObject({
      code: 'invalid_request',
      detail: expect.stringMatching(detail),
    })
  })

  test('with bounds that hold sooner or later is taken', () => {
    const change: Change = (builder) =>
      builder.setLedgerbounds(3, 0).setMinAccountSequenceAge(1n).setMinAccountSequenceLedgerGap(1)
    expect(problemOf(requestOf({ transactionXdr: prebuilt(SELF, change) }))).toBeUndefined()
  })
})

describe('a transaction that a third party has signed, with maxLedger and without maxTime', () => {
  test('ends with the ledger before it, which proves that it was not included', async () => {
    const { sequence } = stage.ledger.ledgers.at(-1) ?? { sequence: 0 }
    const maxLedger = sequence + 4
    const xdr = prebuilt(CUSTOMER.publicKey(), (builder) => builder.setLedgerbounds(0, maxLedger), CUSTOMER)
    const request = requestOf({ transactionXdr: xdr, feeBump: true })
    const draft = await stage.prepare(request)
    expect(draft).toMatchObject({ maxLedger: BigInt(maxLedger) })
    expect(draft).not.toHaveProperty('expiresAt')
    const nonce = await stage.nonce(CUSTOMER.publicKey())
    const signed = await stage.chain.sign(draft, {
      ...signingContextAt(nonce),
      sourceAccount: { address: CUSTOMER.publicKey(), signer: undefined },
    })
    const attempt = attemptOf(draft, { sourceAccount: CUSTOMER.publicKey(), nonce, signed })
    const expired = async () => {
      const head = known(await stage.chain.head())
      return [Number(head.number), await stage.chain.expiry.hasExpired(draft, head)]
    }
    stage.ledger.close(2)
    expect(await expired()).toEqual([maxLedger - 2, false])
    // The last ledger that may hold it is still to come.
    expect(await stage.chain.broadcast([signed.raw])).toEqual([{ kind: 'accepted' }])
    stage.ledger.dropQueue()
    stage.ledger.close()
    expect(await expired()).toEqual([maxLedger - 1, true])
    expect(await stage.chain.broadcast([signed.raw])).toEqual([
      { kind: 'unclear', known: true, detail: 'tx_too_late' },
    ])
    expect(
      await stage.chain.proveInclusion([attempt], { asOf: known(await stage.chain.head()).number }),
    ).toEqual({
      kind: 'absent',
    })
  })
})

describe('a call of a smart contract (stellar-core validateSorobanMemo)', () => {
  const muxedOf = (address: string) => new MuxedAccount(new Account(address, '0'), '7').accountId()
  const CALL = {
    type: 'invoke_contract',
    contract_address: 'CDLZFC3SYJYDZT7K67VZ75HPJVIEUVNIXF47ZG2FB2RMQQVU2HHGCYSC',
    function_name: 'touch',
    args: [],
  } as const

  test('may not have a muxed source account in a request', () => {
    const request = requestOf({ operations: [CALL], sourceAccount: muxedOf(SELF) })
    expect(problemOf(request)).toMatchObject({
      code: 'invalid_request',
      detail: expect.stringMatching(/^source_account: /),
    })
    expect(problemOf({ ...request, sourceAccount: SELF })).toBeUndefined()
  })

  /** A call as a wallet builds it. */
  function prebuiltCall(
    source: string,
    {
      operationSource = undefined as string | undefined,
      memo = Memo.none() as Memo,
      signer = undefined as Keypair | undefined,
    },
  ) {
    const account = source.startsWith('M') ? MuxedAccount.fromAddress(source, '5') : new Account(source, '5')
    const transaction = new TransactionBuilder(account, { fee: '100', networkPassphrase: PASSPHRASE, memo })
      .addOperation(
        Operation.invokeContractFunction({
          contract: CALL.contract_address,
          function: 'touch',
          args: [],
          ...(operationSource === undefined ? {} : { source: operationSource }),
        }),
      )
      .setTimeout(0)
      .build()
    if (signer) transaction.sign(signer)
    return transaction.toXDR()
  }

  test.each([
    ['the transaction', () => prebuiltCall(muxedOf(SELF), {})],
    ['the operation', () => prebuiltCall(SELF, { operationSource: muxedOf(SELF) })],
  ])('may not have a muxed source in a prebuilt transaction, where %s has one', (_where, build) => {
    expect(problemOf(requestOf({ transactionXdr: build() }))?.detail).toMatch(
      /^transaction_xdr: a source without a muxed id/,
    )
  })

  test.each([
    [
      'a muxed source',
      () => prebuiltCall(muxedOf(CUSTOMER.publicKey()), { signer: CUSTOMER }),
      /source without a muxed id/,
    ],
    [
      'a memo',
      () => prebuiltCall(CUSTOMER.publicKey(), { memo: Memo.text('hi'), signer: CUSTOMER }),
      /must have no memo/,
    ],
  ])('may not have %s in a transaction that a third party has signed', (_what, build, detail) => {
    expect(problemOf(requestOf({ transactionXdr: build(), feeBump: true }))?.detail).toMatch(detail)
  })
})
