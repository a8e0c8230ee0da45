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
import { CONTRACT_CREATION, type Effects } from '../../../src/chains/effects.ts'
import type { StellarRequest } from '../../../src/chains/stellar/content.ts'
import { stellarEffects } from '../../../src/chains/stellar/effects/effects.ts'
import type { StellarOperation } from '../../../src/chains/stellar/model/operation.ts'
import { allowing, effectsWith } from '../../support/samples.ts'
import { addressOf, OTHER, PASSPHRASE, requestOf, SELF } from './build.ts'

const THIRD = addressOf('third')
const EUR = new Asset('EUR', OTHER)
const LONG = new Asset('LONGNAME', OTHER)
const NATIVE = Asset.native()
const MUXED = encodeMuxedAccountToAddress(encodeMuxedAccount(OTHER, '7'))
const TOKEN = Address.contract(Buffer.alloc(32, 1)).toString()
const VAULT = Address.contract(Buffer.alloc(32, 2)).toString()
const BALANCE = `00000000${'ab'.repeat(32)}`
const POOL = 'cd'.repeat(32)
const ONE = 10_000_000n

const NONE = effectsWith()

function xdrOf(operations: readonly xdr.Operation[], source = SELF): string {
  const builder = new TransactionBuilder(new Account(source, '1'), {
    fee: '100',
    networkPassphrase: PASSPHRASE,
    timebounds: { minTime: 0, maxTime: 0 },
  })
  for (const operation of operations) builder.addOperation(operation)
  return builder.build().toXdr()
}

const effectsOf = (request: Partial<StellarRequest>) => stellarEffects(requestOf(request), SELF)
const effectsOfXdr = (...operations: readonly xdr.Operation[]) =>
  effectsOf({ transactionXdr: xdrOf(operations) })

const paid = (asset: string, value: bigint, ...receivers: readonly string[]) => ({
  receivers,
  amounts: [{ asset, value }],
})
const EUR_NAME = `EUR:${OTHER}`
const exchangedBy = (target: string) => ({ unread: [{ target, isCounted: true as const }] })

describe('a classic operation that moves assets', () => {
  const CASES: [string, xdr.Operation, Partial<Effects>][] = [
    [
      'create_account',
      Operation.createAccount({ destination: OTHER, startingBalance: '1' }),
      paid('native', ONE, OTHER),
    ],
    [
      'payment',
      Operation.payment({ destination: MUXED, asset: LONG, amount: '1' }),
      paid(`LONGNAME:${OTHER}`, ONE, OTHER),
    ],
    [
      'path_payment_strict_send',
      Operation.pathPaymentStrictSend({
        sendAsset: EUR,
        sendAmount: '2',
        destination: MUXED,
        destAsset: NATIVE,
        destMin: '9',
      }),
      { ...paid(EUR_NAME, 2n * ONE, OTHER), ...exchangedBy('path_payment_strict_send') },
    ],
    [
      'path_payment_strict_receive',
      Operation.pathPaymentStrictReceive({
        sendAsset: NATIVE,
        sendMax: '3',
        destination: OTHER,
        destAsset: EUR,
        destAmount: '1',
      }),
      { ...paid('native', 3n * ONE, OTHER), ...exchangedBy('path_payment_strict_receive') },
    ],
    [
      'path_payment_strict_send',
      Operation.pathPaymentStrictSend({
        sendAsset: NATIVE,
        sendAmount: '2',
        destination: OTHER,
        destAsset: NATIVE,
        destMin: '0.0000001',
        path: [EUR],
      }),
      { ...paid('native', 2n * ONE, OTHER), ...exchangedBy('path_payment_strict_send') },
    ],
    [
      'path_payment_strict_receive',
      Operation.pathPaymentStrictReceive({
        sendAsset: EUR,
        sendMax: '3',
        destination: OTHER,
        destAsset: EUR,
        destAmount: '3',
      }),
      paid(EUR_NAME, 3n * ONE, OTHER),
    ],
    [
      'create_claimable_balance',
      Operation.createClaimableBalance({
        asset: EUR,
        amount: '4',
        claimants: [
          new Claimant(OTHER),
          new Claimant(THIRD, Claimant.predicateNot(Claimant.predicateUnconditional())),
        ],
      }),
      paid(EUR_NAME, 4n * ONE, OTHER, THIRD),
    ],
    [
      'manage_sell_offer',
      Operation.manageSellOffer({ selling: EUR, buying: NATIVE, amount: '5', price: '2' }),
      { ...paid(EUR_NAME, 5n * ONE), ...exchangedBy('manage_sell_offer') },
    ],
    [
      'create_passive_sell_offer',
      Operation.createPassiveSellOffer({ selling: NATIVE, buying: EUR, amount: '6', price: '2' }),
      { ...paid('native', 6n * ONE), ...exchangedBy('create_passive_sell_offer') },
    ],
    [
      'manage_buy_offer',
      Operation.manageBuyOffer({
        selling: NATIVE,
        buying: EUR,
        buyAmount: '0.0000010',
        price: { n: 1, d: 3 },
      }),
      { ...paid('native', 4n), ...exchangedBy('manage_buy_offer') },
    ],
  ]
  test.each(CASES)('%s tells receivers and the most that it takes', (name, operation, want) => {
    expect(effectsOfXdr(operation)).toEqual({ ...NONE, operations: [name], ...want })
  })

  test('manage_buy_offer without a valid price is unread', () => {
    const op = new xdr.ManageBuyOfferOp({
      selling: NATIVE.toXDRObject(),
      buying: EUR.toXDRObject(),
      buyAmount: 1n,
      price: new xdr.Price({ n: 1, d: 0 }),
      offerId: 0n,
    })
    const body = xdr.OperationBody.manageBuyOffer(op)
    expect(effectsOfXdr(new xdr.Operation({ sourceAccount: null, body })).unread).toEqual([
      { target: 'manage_buy_offer' },
    ])
  })
})

test.each<[string, xdr.Operation]>([
  ['change_trust', Operation.changeTrust({ asset: EUR })],
  ['manage_data', Operation.manageData({ name: 'a', value: 'b' })],
  ['claim_claimable_balance', Operation.claimClaimableBalance({ balanceId: BALANCE })],
  ['inflation', Operation.inflation({})],
  ['extend_footprint_ttl', Operation.extendFootprintTtl({ extendTo: 5 })],
  ['restore_footprint', Operation.restoreFootprint({})],
  ['begin_sponsoring_future_reserves', Operation.beginSponsoringFutureReserves({ sponsoredId: OTHER })],
  ['end_sponsoring_future_reserves', Operation.endSponsoringFutureReserves({})],
])('%s moves nothing', (name, operation) => {
  expect(effectsOfXdr(operation)).toEqual({ ...NONE, operations: [name] })
})

test.each<[string, xdr.Operation, string[]]>([
  ['account_merge', Operation.accountMerge({ destination: MUXED }), [OTHER]],
  ['bump_sequence', Operation.bumpSequence({ bumpTo: '9223372036854775807' }), []],
  ['set_options', Operation.setOptions({ signer: { ed25519PublicKey: OTHER, weight: 1 } }), []],
  ['allow_trust', Operation.allowTrust({ trustor: OTHER, assetCode: 'EUR', authorize: true }), []],
  [
    'set_trust_line_flags',
    Operation.setTrustLineFlags({ trustor: OTHER, asset: EUR, flags: { authorized: true } }),
    [],
  ],
  ['clawback', Operation.clawback({ asset: EUR, amount: '1', from: OTHER }), []],
  ['clawback_claimable_balance', Operation.clawbackClaimableBalance({ balanceId: BALANCE }), []],
  ['revoke_sponsorship', Operation.revokeAccountSponsorship({ account: OTHER }), []],
  [
    'liquidity_pool_deposit',
    Operation.liquidityPoolDeposit({
      liquidityPoolId: POOL,
      maxAmountA: '1',
      maxAmountB: '1',
      minPrice: '1',
      maxPrice: '1',
    }),
    [],
  ],
  [
    'liquidity_pool_withdraw',
    Operation.liquidityPoolWithdraw({
      liquidityPoolId: POOL,
      amount: '1',
      minAmountA: '0',
      minAmountB: '0',
    }),
    [],
  ],
])('%s is unread', (name, operation, receivers) => {
  expect(effectsOfXdr(operation)).toEqual({
    ...NONE,
    operations: [name],
    receivers,
    unread: [{ target: name }],
  })
})

const account = (address: string) => Address.fromString(address).toScVal()
const i128 = (value: bigint) => nativeToScVal(value, { type: 'i128' })
const u32 = (value: number) => nativeToScVal(value, { type: 'u32' })
const MAX = 2n ** 127n - 1n

const argsOf = (contract: string, name: string, args: readonly xdr.ScVal[]) =>
  new xdr.InvokeContractArgs({
    contractAddress: Address.fromString(contract).toScAddress(),
    functionName: name,
    args: [...args],
  })

function invoke(name: string, args: readonly xdr.ScVal[], auth: xdr.SorobanAuthorizationEntry[] = []) {
  // The builder of the SDK refuses some arguments that others may write.
  const hostFunction = xdr.HostFunction.hostFunctionTypeInvokeContract(argsOf(TOKEN, name, args))
  const body = xdr.OperationBody.invokeHostFunction(new xdr.InvokeHostFunctionOp({ hostFunction, auth }))
  return new xdr.Operation({ sourceAccount: null, body })
}

const called = (want: Partial<Effects>) => ({
  ...NONE,
  operations: ['invoke_contract'],
  contracts: [TOKEN],
  ...want,
})
const UNREAD_TOKEN = called({ unread: [{ target: TOKEN }] })
const TRANSFER = [account(SELF), account(OTHER), i128(5n)] as const
const PAID_TOKEN = called({ ...paid(TOKEN, 5n, OTHER), unread: [{ target: TOKEN }] })

const root = (args: xdr.InvokeContractArgs, ...subInvocations: xdr.SorobanAuthorizedInvocation[]) =>
  new xdr.SorobanAuthorizedInvocation({
    function: xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeContractFn(args),
    subInvocations,
  })
const entry = (
  rootInvocation: xdr.SorobanAuthorizedInvocation,
  credentials: xdr.SorobanCredentials = xdr.SorobanCredentials.sorobanCredentialsSourceAccount(),
) => new xdr.SorobanAuthorizationEntry({ credentials, rootInvocation })

describe('a call of a token', () => {
  test.each<[string, xdr.ScVal[], Partial<Effects>]>([
    ['transfer', [...TRANSFER], paid(TOKEN, 5n, OTHER)],
    ['transfer', [account(SELF), account(VAULT), i128(MAX)], paid(TOKEN, MAX, VAULT)],
    ['transfer', [account(SELF), account(MUXED), i128(5n)], paid(TOKEN, 5n, OTHER)],
    ['approve', [account(SELF), account(VAULT), i128(6n), u32(9)], allowing(paid(TOKEN, 6n, VAULT))],
    ['approve', [account(SELF), account(VAULT), i128(0n), u32(9)], { receivers: [VAULT] }],
    ['burn', [account(SELF), i128(7n)], paid(TOKEN, 7n)],
  ])('%s is read (%#), and only who trusts the contract relies on it', (name, args, want) => {
    const itself = entry(root(argsOf(TOKEN, name, args)))
    for (const auth of [[], [itself]])
      expect(effectsOfXdr(invoke(name, args, auth))).toEqual(called({ ...want, unread: [{ target: TOKEN }] }))
  })

  test.each<[string, string, xdr.ScVal[]]>([
    ['another function', 'swap', [...TRANSFER]],
    ['a name in another case', 'Transfer', [...TRANSFER]],
    ['an allowance of a third party', 'transfer_from', [account(SELF), ...TRANSFER]],
    ['one argument more', 'transfer', [...TRANSFER, u32(1)]],
    ['one argument less', 'transfer', TRANSFER.slice(0, 2)],
    ['another order', 'transfer', [account(SELF), i128(5n), account(OTHER)]],
    ['another integer', 'transfer', [account(SELF), account(OTHER), nativeToScVal(5n, { type: 'u64' })]],
    ['an amount below zero', 'transfer', [account(SELF), account(OTHER), i128(-5n)]],
    ['another owner', 'transfer', [account(THIRD), account(OTHER), i128(5n)]],
    ['a contract as the owner', 'transfer', [account(VAULT), account(OTHER), i128(5n)]],
    ['no end of the allowance', 'approve', [...TRANSFER]],
    ['a receiver that burn does not have', 'burn', [...TRANSFER]],
    [
      'a receiver that is neither an account nor a contract',
      'transfer',
      [account(SELF), Address.liquidityPool(Buffer.alloc(32, 3)).toScVal(), i128(5n)],
    ],
  ])('with %s is unread', (_what, name, args) => {
    expect(effectsOfXdr(invoke(name, args))).toEqual(UNREAD_TOKEN)
  })
})

describe('the authorization of a call', () => {
  const by = (address: string) =>
    new xdr.SorobanAddressCredentials({
      address: Address.fromString(address).toScAddress(),
      nonce: 1n,
      signatureExpirationLedger: 9,
      signature: xdr.ScVal.scvVoid(),
    })
  const itself = root(argsOf(TOKEN, 'transfer', TRANSFER))
  const theft = root(argsOf(VAULT, 'transfer', [account(SELF), account(THIRD), i128(9n)]))
  const creation = new xdr.SorobanAuthorizedInvocation({
    function: xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeCreateContractHostFn(
      new xdr.CreateContractArgs({
        contractIdPreimage: xdr.ContractIdPreimage.contractIdPreimageFromAsset(NATIVE.toXDRObject()),
        executable: xdr.ContractExecutable.contractExecutableStellarAsset(),
      }),
    ),
    subInvocations: [],
  })
  const { sorobanCredentialsAddress, sorobanCredentialsAddressV2, sorobanCredentialsAddressWithDelegates } =
    xdr.SorobanCredentials
  const delegated = new xdr.SorobanAddressCredentialsWithDelegates({
    addressCredentials: by(THIRD),
    delegates: [],
  })

  test.each<[string, xdr.SorobanAuthorizationEntry[]]>([
    ['just the call', [entry(itself)]],
    ['just the call, signed apart', [entry(itself, sorobanCredentialsAddress(by(SELF)))]],
    ['something of another account', [entry(itself), entry(theft, sorobanCredentialsAddress(by(THIRD)))]],
  ])('leaves it readable: %s', (_what, auth) => {
    expect(effectsOfXdr(invoke('transfer', TRANSFER, auth))).toEqual(PAID_TOKEN)
  })

  test.each<[string, xdr.SorobanAuthorizationEntry[]]>([
    ['a call inside', [entry(root(argsOf(TOKEN, 'transfer', TRANSFER), theft))]],
    ['another call', [entry(theft)]],
    ['another call besides', [entry(itself), entry(theft)]],
    [
      'the call with another amount',
      [entry(root(argsOf(TOKEN, 'transfer', [...TRANSFER.slice(0, 2), i128(6n)])))],
    ],
    ['a creation', [entry(creation)]],
    ['another call, signed apart', [entry(theft, sorobanCredentialsAddress(by(SELF)))]],
    ['another call, signed apart by version 2', [entry(theft, sorobanCredentialsAddressV2(by(SELF)))]],
    ['another call, signed by delegates', [entry(theft, sorobanCredentialsAddressWithDelegates(delegated))]],
  ])('makes it unread: %s', (_what, auth) => {
    expect(effectsOfXdr(invoke('transfer', TRANSFER, auth))).toEqual(UNREAD_TOKEN)
  })

  test('counts in the entries of a request, too', () => {
    const operation = (...entries: readonly string[]): StellarOperation => ({
      type: 'invoke_contract',
      contract_address: TOKEN,
      function_name: 'transfer',
      args: [{ address: SELF }, { address: OTHER }, { i128: '5' }],
      auth: { type: 'xdr', entries },
    })
    expect(effectsOf({ operations: [operation(entry(itself).toXdr('base64'))] })).toEqual(PAID_TOKEN)
    expect(effectsOf({ operations: [operation(entry(theft).toXdr('base64'))] })).toEqual(UNREAD_TOKEN)
  })

  test('of the relayer inside a transaction of a third party makes it unread', () => {
    const bumped = (auth: xdr.SorobanAuthorizationEntry[]) =>
      effectsOf({
        transactionXdr: xdrOf([invoke('transfer', TRANSFER, auth)], THIRD),
        feeBump: true,
      })
    expect(bumped([entry(theft, sorobanCredentialsAddress(by(SELF)))])).toEqual(UNREAD_TOKEN)
    expect(bumped([entry(theft), entry(theft, sorobanCredentialsAddress(by(THIRD)))])).toEqual(called({}))
  })
})

describe('code', () => {
  const created = {
    ...NONE,
    operations: ['create_contract'],
    contracts: [CONTRACT_CREATION],
    unread: [{ target: CONTRACT_CREATION }],
  }
  test('that is stored calls nothing', () => {
    expect(effectsOfXdr(Operation.uploadContractWasm({ wasm: Buffer.from('0061736d', 'hex') }))).toEqual({
      ...NONE,
      operations: ['upload_wasm'],
      contracts: [CONTRACT_CREATION],
    })
  })

  test('that becomes a contract can do anything, in both versions', () => {
    const address = Address.fromString(SELF)
    const wasmHash = Buffer.alloc(32, 4)
    const operation = Operation.createCustomContract({ address, wasmHash, constructorArgs: [u32(1)] })
    expect(effectsOfXdr(operation)).toEqual(created)
    const first = { type: 'create_contract', source: { from: 'address', address: SELF } } as const
    expect(effectsOf({ operations: [{ ...first, wasm_hash: '04'.repeat(32) }] })).toEqual(created)
  })
})

describe('a transaction', () => {
  const payment = (source?: string) =>
    Operation.payment({
      destination: OTHER,
      asset: NATIVE,
      amount: '1',
      ...(source === undefined ? {} : { source }),
    })
  const moved = { ...NONE, operations: ['payment'], ...paid('native', ONE, OTHER) }

  test('adds up each asset and names everything once', () => {
    const operation = { type: 'payment', destination: MUXED, asset: { type: 'native' } } as const
    const request = {
      sourceAccount: encodeMuxedAccountToAddress(encodeMuxedAccount(SELF, '1')),
      operations: [1n, 2n].map((amount) => ({ ...operation, amount })),
    }
    expect(effectsOf(request)).toEqual({
      ...NONE,
      operations: ['payment'],
      ...paid('native', 3n, OTHER),
    })
  })

  test('to sign counts whole, whatever sources its operations name', () => {
    expect(effectsOfXdr(payment(THIRD))).toEqual(moved)
  })

  test.each<[string, string, string | undefined, Effects]>([
    ['by a third party moves their money', THIRD, undefined, { ...NONE, operations: ['payment'] }],
    ['by a third party with an operation of the relayer', THIRD, SELF, moved],
    [
      'by a third party with an operation of the relayer, muxed',
      THIRD,
      encodeMuxedAccountToAddress(encodeMuxedAccount(SELF, '1')),
      moved,
    ],
    ['by the relayer', SELF, undefined, moved],
    ['by the relayer with an operation of a third party', SELF, THIRD, { ...NONE, operations: ['payment'] }],
  ])('that was signed %s', (_what, source, operationSource, want) => {
    const transactionXdr = xdrOf([payment(operationSource)], source)
    expect(effectsOf({ transactionXdr, feeBump: true })).toEqual(want)
  })
})
