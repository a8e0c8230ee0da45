import { Address, Asset, nativeToScVal, Operation, StrKey, xdr } from '@stellar/stellar-sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { movedIn, transferInEvent } from '../../../src/chains/stellar/effects/moved.ts'
import type { StellarOperation } from '../../../src/chains/stellar/model/operation.ts'
import { baseAccountId } from '../../../src/chains/stellar/model/strkey.ts'
import { addressOf, OTHER, paymentOf, requestOf, SELF } from './build.ts'
import { type Stage, setStage, XLM } from './stage.ts'

const EUR = { type: 'credit4', code: 'EUR', issuer: OTHER } as const
const NATIVE = { type: 'native' } as const
const lumens = { asset: 'native', decimals: 7 }
const euros = { asset: `EUR:${OTHER}`, decimals: 7 }
const sold = { from: SELF, to: OTHER }

let stage: Stage
beforeAll(async () => {
  stage = await setStage()
  await stage.run(requestOf({ operations: [{ type: 'change_trust', asset: EUR }] }))
  stage.ledger.offer({ seller: OTHER, selling: euros.asset, buying: 'native', price: { n: 2n, d: 1n } })
})
afterAll(() => stage.ledger.stop())

/** Runs operations of the relayer's account, and returns what their ledger tells of them. */
async function moved(...operations: readonly StellarOperation[]) {
  const hash = await stage.run(requestOf({ operations }))
  const [answer] = await stage.chain.receipts([hash])
  if (answer?.kind !== 'included') throw new Error(JSON.stringify(answer))
  return answer.receipt.result?.moved
}

test('payments, new accounts and claimable balances are told by their results', async () => {
  const fresh = addressOf('fresh')
  const told = await moved(
    paymentOf(5n),
    { type: 'create_account', destination: fresh, starting_balance: XLM },
    { type: 'create_claimable_balance', asset: NATIVE, amount: 7n, claimants: [{ destination: SELF }] },
    { type: 'manage_data', name: 'a', value: 'YQ==' },
  )
  const balance = told?.[2]?.to ?? ''
  expect(told).toEqual([
    { ...sold, ...lumens, amount: 5n },
    { ...sold, to: fresh, ...lumens, amount: XLM },
    { ...sold, to: balance, ...lumens, amount: 7n },
  ])
  expect(StrKey.isValidClaimableBalance(balance)).toBe(true)
  const id = Buffer.from(StrKey.decodeClaimableBalance(balance)).toString('hex')
  const claimed = await moved({ type: 'claim_claimable_balance', balance_id: `000000${id}` })
  expect(claimed).toEqual([{ from: balance, to: SELF, ...lumens, amount: 7n }])
})

test('a path payment delivers what it delivers, and takes what the exchange took', async () => {
  const path = { destination: OTHER, send_asset: NATIVE, dest_asset: EUR } as const
  const sending = { type: 'path_payment_strict_send', send_amount: 21n, dest_min: 1n, ...path } as const
  expect(await moved(sending)).toEqual([
    { ...sold, ...euros, amount: 10n },
    { from: SELF, ...lumens, amount: 21n },
  ])
  const receiving = { type: 'path_payment_strict_receive', send_max: 99n, dest_amount: 4n, ...path } as const
  expect(await moved(receiving)).toEqual([
    { ...sold, ...euros, amount: 4n },
    { from: SELF, ...lumens, amount: 8n },
  ])
  const direct = { ...sending, dest_asset: NATIVE, dest_min: 21n }
  expect(await moved(direct)).toEqual([{ ...sold, ...lumens, amount: 21n }])
})

test('a call of a contract moves what the contracts say by their events', async () => {
  const { ledger } = stage
  const args = [{ address: SELF }, { address: OTHER }, { i128: '5' }]
  const call = { type: 'invoke_contract', function_name: 'transfer', args } as const
  expect(await moved({ ...call, contract_address: ledger.nativeContract })).toEqual([
    { ...sold, asset: ledger.nativeContract, amount: 5n },
  ])
  const silent = ledger.contract({ transfer: () => undefined })
  expect(await moved({ ...call, contract_address: silent })).toEqual([])
})

describe('an event', () => {
  const contract = StrKey.encodeContract(Buffer.alloc(32, 3))
  const account = (name: string) => new Address(name).toScVal()
  const event = (topics: readonly xdr.ScVal[], data: xdr.ScVal, type: 'contract' | 'system' = 'contract') =>
    new xdr.ContractEvent({
      ext: xdr.ExtensionPoint.v0(),
      contractId: new xdr.ContractId(StrKey.decodeContract(contract)),
      type: xdr.ContractEventType[type],
      body: xdr.ContractEventBody.v0(new xdr.ContractEventV0({ topics: [...topics], data })),
    })
  const symbol = (name: string) => xdr.ScVal.scvSymbol(name)
  const i128 = (value: bigint) => nativeToScVal(value, { type: 'i128' })
  const name = nativeToScVal(euros.asset, { type: 'string' })
  const largest = 2n ** 127n - 1n
  const muxed = xdr.ScVal.scvMap([
    new xdr.ScMapEntry({ key: symbol('amount'), val: i128(9n) }),
    new xdr.ScMapEntry({ key: symbol('to_muxed_id'), val: nativeToScVal(7n, { type: 'u64' }) }),
  ])
  const [from, to] = [account(SELF), account(OTHER)]

  test.each<[string, xdr.ContractEvent, object | undefined]>([
    ['of a transfer', event([symbol('transfer'), from, to], i128(largest)), { ...sold, amount: largest }],
    [
      'of a transfer to a number of an account',
      event([symbol('transfer'), from, to, name], muxed),
      { ...sold, amount: 9n },
    ],
    ['of a contract that creates', event([symbol('mint'), to, name], i128(2n)), { to: OTHER, amount: 2n }],
    [
      'of an administrator who creates',
      event([symbol('mint'), from, to, name], i128(2n)),
      { to: OTHER, amount: 2n },
    ],
    ['that destroys', event([symbol('burn'), from, name], i128(2n)), { from: SELF, amount: 2n }],
    ['of a clawback', event([symbol('clawback'), to, from], i128(2n)), { from: SELF, amount: 2n }],
    ['of an allowance', event([symbol('approve'), from, to], i128(2n)), undefined],
    ['with a negative amount', event([symbol('transfer'), from, to], i128(-2n)), undefined],
    ['without a receiver', event([symbol('transfer'), from], i128(2n)), undefined],
    ['without an amount', event([symbol('transfer'), from, to], name), undefined],
    ['without a name', event([from, to], i128(2n)), undefined],
    ['of the system', event([symbol('transfer'), from, to], i128(2n), 'system'), undefined],
  ])('%s names its own contract', (_what, one, want) => {
    expect(transferInEvent(one)).toEqual(want && { asset: contract, ...want })
  })
})

describe('by the changes of entries', () => {
  const issuer = new Asset('EUR', OTHER)
  const ext = xdr.ExtensionPoint.v0()
  const entry = (data: xdr.LedgerEntryData) =>
    new xdr.LedgerEntry({ lastModifiedLedgerSeq: 1, data, ext: xdr.LedgerEntryExt.v0() })
  const poolId = Buffer.alloc(32, 5)
  const pool = StrKey.encodeLiquidityPool(poolId)
  const reserves = (reserveA: bigint, reserveB: bigint) =>
    entry(
      xdr.LedgerEntryData.liquidityPool(
        new xdr.LiquidityPoolEntry({
          liquidityPoolId: new xdr.PoolId(poolId),
          body: xdr.LiquidityPoolEntryBody.liquidityPoolConstantProduct(
            new xdr.LiquidityPoolEntryConstantProduct({
              params: new xdr.LiquidityPoolConstantProductParameters({
                assetA: Asset.native().toXDRObject(),
                assetB: issuer.toXDRObject(),
                fee: 30,
              }),
              reserveA,
              reserveB,
              totalPoolShares: 1n,
              poolSharesTrustLineCount: 1n,
            }),
          ),
        }),
      ),
    )
  const metaOf = (...changes: readonly xdr.LedgerEntryChange[]) =>
    xdr.TransactionMeta.v4(
      new xdr.TransactionMetaV4({
        ext,
        txChangesBefore: [],
        operations: [new xdr.OperationMetaV2({ ext, changes: [...changes], events: [] })],
        txChangesAfter: [],
        sorobanMeta: null,
        events: [],
        diagnosticEvents: [],
      }),
    )
  const told = (
    operation: xdr.Operation,
    result: xdr.OperationResultTr,
    meta: xdr.TransactionMeta | undefined,
  ) =>
    movedIn({
      operations: [{ body: operation.body, source: baseAccountId(SELF) }],
      results: [xdr.OperationResult.opInner(result)],
      meta,
    } as never)
  const changed = (before: xdr.LedgerEntry, after: xdr.LedgerEntry) =>
    metaOf(xdr.LedgerEntryChange.ledgerEntryState(before), xdr.LedgerEntryChange.ledgerEntryUpdated(after))

  test('a pool takes and gives both assets', () => {
    const deposit = Operation.liquidityPoolDeposit({
      liquidityPoolId: poolId.toString('hex'),
      maxAmountA: '1',
      maxAmountB: '1',
      minPrice: '1',
      maxPrice: '1',
    })
    const deposited = xdr.OperationResultTr.liquidityPoolDeposit(
      xdr.LiquidityPoolDepositResult.liquidityPoolDepositSuccess(),
    )
    expect(told(deposit, deposited, changed(reserves(10n, 20n), reserves(13n, 26n)))?.transfers).toEqual([
      { from: SELF, to: pool, ...lumens, amount: 3n },
      { from: SELF, to: pool, ...euros, amount: 6n },
    ])
    expect(told(deposit, deposited, changed(reserves(13n, 26n), reserves(10n, 26n)))?.transfers).toEqual([
      { from: pool, to: SELF, ...lumens, amount: 3n },
    ])
    expect(told(deposit, deposited, undefined)).toBeUndefined()
  })

  test('a clawback destroys, an account that is merged gives all that it has, and an offer exchanges', () => {
    const clawback = Operation.clawback({ asset: issuer, from: OTHER, amount: '0.0000003' })
    const taken = xdr.OperationResultTr.clawback(xdr.ClawbackResult.clawbackSuccess())
    expect(told(clawback, taken, undefined)?.transfers).toEqual([{ from: OTHER, ...euros, amount: 3n }])
    const merge = Operation.accountMerge({ destination: OTHER })
    const merged = xdr.OperationResultTr.accountMerge(xdr.AccountMergeResult.accountMergeSuccess(42n))
    expect(told(merge, merged, undefined)?.transfers).toEqual([{ ...sold, ...lumens, amount: 42n }])
    const offer = Operation.manageSellOffer({
      selling: Asset.native(),
      buying: issuer,
      amount: '1',
      price: '1',
    })
    const claimed = xdr.ClaimAtom.claimAtomTypeLiquidityPool(
      new xdr.ClaimLiquidityAtom({
        liquidityPoolId: new xdr.PoolId(poolId),
        assetSold: issuer.toXDRObject(),
        amountSold: 5n,
        assetBought: Asset.native().toXDRObject(),
        amountBought: 6n,
      }),
    )
    const success = new xdr.ManageOfferSuccessResult({
      offersClaimed: [claimed],
      offer: xdr.ManageOfferSuccessResultOffer.manageOfferDeleted(),
    })
    const exchanged = xdr.OperationResultTr.manageSellOffer(
      xdr.ManageSellOfferResult.manageSellOfferSuccess(success),
    )
    expect(told(offer, exchanged, undefined)?.transfers).toEqual([
      { from: pool, to: SELF, ...euros, amount: 5n },
      { from: SELF, to: pool, ...lumens, amount: 6n },
    ])
  })
})
