import {
  Account,
  Address,
  Asset,
  Claimant,
  encodeMuxedAccount,
  encodeMuxedAccountToAddress,
  nativeToScVal,
  Operation,
  TransactionBuilder,
  xdr,
} from '@stellar/stellar-sdk'
import { describe, expect, test } from 'vitest'
import { stellarTransfers } from '../../../src/chains/stellar/effects/transfers.ts'
import { addressOf, OTHER, PASSPHRASE, paymentOf, requestOf, SELF } from './build.ts'

const THIRD = addressOf('third')
const EUR = new Asset('EUR', OTHER)
const NATIVE = Asset.native()
const MUXED = encodeMuxedAccountToAddress(encodeMuxedAccount(OTHER, '7'))
const TOKEN = Address.contract(Buffer.alloc(32, 1)).toString()
const ONE = 10_000_000n
const LARGEST = 2n ** 63n - 1n

function read(operations: readonly xdr.Operation[], source = SELF) {
  const builder = new TransactionBuilder(new Account(source, '1'), {
    fee: '100',
    networkPassphrase: PASSPHRASE,
    timebounds: { minTime: 0, maxTime: 0 },
  })
  for (const operation of operations) builder.addOperation(operation)
  return stellarTransfers(requestOf({ transactionXdr: builder.build().toXdr() }), SELF).transfers
}

const paid = (asset: string, amount: bigint, to: string | undefined = OTHER) => ({
  from: SELF,
  ...(to !== '' && { to }),
  asset,
  amount,
  decimals: 7,
})
const EUR_NAME = `EUR:${OTHER}`
const TO_OTHER = { destination: OTHER } as const

test.each<[string, xdr.Operation, object[]]>([
  [
    'payment to a number of an account',
    Operation.payment({ destination: MUXED, asset: EUR, amount: '922337203685.4775807' }),
    [paid(EUR_NAME, LARGEST)],
  ],
  ['create_account', Operation.createAccount({ ...TO_OTHER, startingBalance: '1' }), [paid('native', ONE)]],
  ['create_account with nothing', Operation.createAccount({ ...TO_OTHER, startingBalance: '0' }), []],
  [
    'path_payment_strict_send, which fixes what is sent',
    Operation.pathPaymentStrictSend({
      ...TO_OTHER,
      sendAsset: EUR,
      sendAmount: '2',
      destAsset: NATIVE,
      destMin: '9',
    }),
    [paid(EUR_NAME, 2n * ONE)],
  ],
  [
    'path_payment_strict_receive, which fixes what arrives',
    Operation.pathPaymentStrictReceive({
      ...TO_OTHER,
      sendAsset: NATIVE,
      sendMax: '3',
      destAsset: EUR,
      destAmount: '1',
    }),
    [paid(EUR_NAME, ONE)],
  ],
  [
    'create_claimable_balance for one account',
    Operation.createClaimableBalance({ asset: EUR, amount: '4', claimants: [new Claimant(OTHER)] }),
    [paid(EUR_NAME, 4n * ONE)],
  ],
  [
    'create_claimable_balance for any of two accounts',
    Operation.createClaimableBalance({
      asset: EUR,
      amount: '4',
      claimants: [OTHER, THIRD].map((one) => new Claimant(one)),
    }),
    [paid(EUR_NAME, 4n * ONE, '')],
  ],
  ['account_merge, whose amount only the ledger knows', Operation.accountMerge({ destination: OTHER }), []],
  [
    'manage_sell_offer',
    Operation.manageSellOffer({ selling: EUR, buying: NATIVE, amount: '5', price: '2' }),
    [],
  ],
  ['change_trust', Operation.changeTrust({ asset: EUR }), []],
])('%s', (_name, operation, want) => {
  expect(read([operation])).toEqual(want)
})

test('the source of an operation pays, else that of the transaction, in the order of the operations', () => {
  const payment = { ...TO_OTHER, asset: NATIVE, amount: '1' }
  const operations = [Operation.payment({ ...payment, source: THIRD }), Operation.payment(payment)]
  expect(read(operations, addressOf('signer'))).toEqual([
    { ...paid('native', ONE), from: THIRD },
    { ...paid('native', ONE), from: addressOf('signer') },
  ])
})

test('operations of a request are of the account that it names, and an envelope of the service is read like one', () => {
  const operations = [paymentOf(5n)]
  expect(stellarTransfers(requestOf({ operations }), SELF).transfers).toEqual([paid('native', 5n)])
  expect(stellarTransfers(requestOf({ operations, sourceAccount: MUXED }), SELF).transfers).toEqual([
    { ...paid('native', 5n), from: OTHER },
  ])
})

const account = (address: string) => Address.fromString(address).toScVal()
const i128 = (value: bigint) => nativeToScVal(value, { type: 'i128' })
const MAX = 2n ** 127n - 1n

function invoke(name: string, args: readonly xdr.ScVal[]) {
  const hostFunction = xdr.HostFunction.hostFunctionTypeInvokeContract(
    new xdr.InvokeContractArgs({
      contractAddress: Address.fromString(TOKEN).toScAddress(),
      functionName: name,
      args: [...args],
    }),
  )
  const body = xdr.OperationBody.invokeHostFunction(new xdr.InvokeHostFunctionOp({ hostFunction, auth: [] }))
  return new xdr.Operation({ sourceAccount: null, body })
}

describe('a call of a token', () => {
  const moved = { from: SELF, to: OTHER, asset: TOKEN, amount: 5n }
  const { to: _to, ...burnt } = moved
  test.each<[string, xdr.ScVal[], object]>([
    ['transfer', [account(SELF), account(OTHER), i128(5n)], moved],
    [
      'transfer',
      [account(OTHER), account(TOKEN), i128(MAX)],
      { ...moved, from: OTHER, to: TOKEN, amount: MAX },
    ],
    ['transfer_from', [account(THIRD), account(SELF), account(OTHER), i128(5n)], moved],
    ['burn', [account(SELF), i128(5n)], burnt],
    ['burn_from', [account(THIRD), account(SELF), i128(5n)], burnt],
  ])('%s (%#)', (name, args, want) => {
    expect(read([invoke(name, args)])).toEqual([want])
  })

  test.each<[string, xdr.ScVal[]]>([
    ['approve', [account(SELF), account(OTHER), i128(5n), nativeToScVal(9, { type: 'u32' })]],
    ['transfer', [account(SELF), account(OTHER), i128(-1n)]],
    ['transfer', [account(SELF), account(OTHER), i128(0n)]],
    ['transfer', [account(SELF), account(OTHER)]],
    ['transfer', [account(SELF), account(OTHER), i128(5n), i128(5n)]],
    ['transfer', [account(SELF), i128(5n), account(OTHER)]],
    ['pay', [account(SELF), account(OTHER), i128(5n)]],
  ])('%s with other arguments moves nothing (%#)', (name, args) => {
    expect(read([invoke(name, args)])).toEqual([])
  })
})
