import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import {
  Account,
  Address,
  authorizeEntry,
  Contract,
  Keypair,
  nativeToScVal,
  Operation,
  TransactionBuilder,
  xdr,
} from '@stellar/stellar-sdk'
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { createEd25519Signer, ExactStellarScheme as PayerScheme } from '@x402/stellar'
import { ExactStellarScheme as ShopScheme } from '@x402/stellar/exact/server'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readSettings } from '../../../plugins/x402/config.ts'
import { settle, verify } from '../../../plugins/x402/facilitator.ts'
import { supported } from '../../../plugins/x402/supported.ts'
import { startLedger, type TestLedger } from '../../../simulators/stellar/start-ledger.ts'
import { type Service, startService } from '../../support/service.ts'
import { keypairOf, MAIN, stellarConfig, XLM } from '../../support/stellar-scenario.ts'
import { until } from '../../support/until.ts'
import { pluginEntry, untilReady } from './plugin-entry.ts'
import { startShop } from './shop.ts'
import { sendFirst, stellarPayment } from './stellar-payment.ts'
import { createWorld, type TestWorld } from './world.ts'

/** The clients of npm know two networks; this one has the passphrase of testnet. */
const PASSPHRASE = 'Test SDF Network ; September 2015'
const NETWORK = 'stellar:testnet'
const AMOUNT = 10_000n
const merchant = keypairOf('merchant').publicKey()

let ledger: TestLedger
let service: Service
let world: TestWorld
let asset: string

beforeAll(async () => {
  ledger = await startLedger({ closeEveryMs: 250, passphrase: PASSPHRASE, protocolVersion: 30 })
  asset = ledger.nativeContract
  ledger.fund(MAIN.publicKey(), 1_000n * XLM)
  ledger.fund(merchant, 100n * XLM)
  service = await startService({
    ...stellarConfig({ urls: [ledger.url], passphrase: PASSPHRASE }),
    plugins: [pluginEntry([{ network: NETWORK, relayer_id: 'main' }])],
  })
  world = createWorld(service.url)
  await untilReady(service)
}, 120_000)

afterAll(async () => {
  await service.stop()
  await ledger.stop()
})

const balance = (address: string) => ledger.account(address)?.balance ?? 0n

/** The newest scheme of Stellar on npm is older than the resource server, which wants to know when each method is settled. */
const SERVER_OF_CORE = {
  defaultAssetTransferMethod: 'default',
  paymentFlows: { default: { default: 'authorization', supported: ['authorization', 'upfront'] } },
}

interface NestedSdk {
  readonly contract: { readonly AssembledTransaction: { build(options: object): Promise<unknown> } }
}

/** The client opens its first connection only over TLS, which a node on this machine does not have. */
function allowPlainHttp(): void {
  const { AssembledTransaction } = (
    createRequire(import.meta.resolve('@x402/stellar'))('@stellar/stellar-sdk') as NestedSdk
  ).contract
  const { build } = AssembledTransaction
  AssembledTransaction.build = (options) => build.call(AssembledTransaction, { ...options, allowHttp: true })
  onTestFinished(() => {
    AssembledTransaction.build = build
  })
}

test('the client of npm pays for a request on Stellar', async () => {
  allowPlainHttp()
  const shop = await startShop({
    facilitator: `${service.url}/x402`,
    network: NETWORK,
    asset,
    payTo: merchant,
    scheme: Object.assign(new ShopScheme(), SERVER_OF_CORE) as never,
  })
  onTestFinished(shop.stop)
  const payer = Keypair.random()
  ledger.fund(payer.publicKey(), 100n * XLM)
  const before = balance(merchant)
  const client = new PayerScheme(createEd25519Signer(payer.secret()), { url: ledger.url })
  const pay = wrapFetchWithPaymentFromConfig(fetch, {
    schemes: [{ network: 'stellar:*', client: client as never }],
    spendControls: false,
  })
  const response = await pay(shop.url)
  expect([response.status, await response.json()]).toEqual([200, { report: 'sunny' }])
  const receipt = decodePaymentResponseHeader(response.headers.get('PAYMENT-RESPONSE') ?? '')
  expect(receipt).toMatchObject({ success: true, network: NETWORK, payer: payer.publicKey() })
  expect(balance(merchant)).toBe(before + AMOUNT)
  // The payer pays the price and no fee.
  expect(balance(payer.publicKey())).toBe(100n * XLM - AMOUNT)
  expect(ledger.included(receipt.transaction)).toBeDefined()
}, 60_000)

interface Made {
  readonly contract?: string
  readonly functionName?: string
  readonly args?: (from: string) => readonly xdr.ScVal[]
  /** What the authorization is for; by default what is called. */
  readonly authorized?: readonly xdr.ScVal[]
  readonly payer?: Keypair
  /** Someone else signs. */
  readonly forged?: true
  readonly source?: string
  readonly operationSource?: string
  readonly ledgers?: number
  readonly nested?: boolean
  readonly auth?: (entry: xdr.SorobanAuthorizationEntry) => Promise<readonly xdr.SorobanAuthorizationEntry[]>
  readonly operations?: number
  readonly transaction?: unknown
  readonly requirements?: object
  readonly funds?: bigint
}

const account = (address: string) => nativeToScVal(address, { type: 'address' })
const i128 = (amount: bigint) => nativeToScVal(amount, { type: 'i128' })

async function paymentOf(made: Made = {}) {
  const payer = made.payer ?? Keypair.random()
  if (!made.payer) ledger.fund(payer.publicKey(), made.funds ?? 100n * XLM)
  const { contract = asset, functionName = 'transfer' } = made
  const args = made.args?.(payer.publicKey()) ?? [account(payer.publicKey()), account(merchant), i128(AMOUNT)]
  const call = new Contract(contract).call(functionName, ...args)
  if (call.body.type !== 'invokeHostFunction') throw new Error('unreachable')
  const { hostFunction } = call.body.invokeHostFunctionOp
  const invocation = (
    values: readonly xdr.ScVal[],
    inner: readonly xdr.SorobanAuthorizedInvocation[] = [],
  ) => {
    const contractFn = new xdr.InvokeContractArgs({
      contractAddress: Address.fromString(contract).toScAddress(),
      functionName,
      args: [...values],
    })
    return new xdr.SorobanAuthorizedInvocation({
      function: xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeContractFn(contractFn),
      subInvocations: [...inner],
    })
  }
  const entry = new xdr.SorobanAuthorizationEntry({
    credentials: xdr.SorobanCredentials.sorobanCredentialsAddress(
      new xdr.SorobanAddressCredentials({
        address: Address.fromString(payer.publicKey()).toScAddress(),
        nonce: randomBytes(8).readBigInt64BE(),
        signatureExpirationLedger: 0,
        signature: xdr.ScVal.scvVoid(),
      }),
    ),
    rootInvocation: invocation(made.authorized ?? args, made.nested ? [invocation(args)] : []),
  })
  const last = (ledger.ledgers.at(-1)?.sequence ?? 0) + (made.ledgers ?? 10)
  const signed = await authorizeEntry(entry, made.forged ? forge : payer, last, PASSPHRASE)
  const auth = (await made.auth?.(entry)) ?? [signed]
  const builder = new TransactionBuilder(new Account(made.source ?? merchant, '0'), {
    fee: '100',
    networkPassphrase: PASSPHRASE,
  })
  for (let count = 0; count < (made.operations ?? 1); count += 1)
    builder.addOperation(
      Operation.invokeHostFunction({
        func: hostFunction,
        auth: [...auth],
        ...(made.operationSource !== undefined && { source: made.operationSource }),
      }),
    )
  const transaction = made.transaction ?? builder.setTimeout(60).build().toXDR()
  const requirements = {
    scheme: 'exact',
    network: NETWORK,
    amount: AMOUNT.toString(),
    asset,
    payTo: merchant,
    maxTimeoutSeconds: 60,
    extra: { areFeesSponsored: true },
    ...made.requirements,
  }
  const body = {
    x402Version: 2,
    paymentPayload: { x402Version: 2, accepted: requirements, payload: { transaction } },
    paymentRequirements: requirements,
  }
  return { payer, body }
}

const settings = () =>
  readSettings({ networks: [{ network: NETWORK, relayer_id: 'main' }], timeout_seconds: 10 })
const ask = (body: unknown) => ({ body, caller: 'shop' })
const STELLAR = 'invalid_exact_stellar'

const REFUSALS: readonly (readonly [string, string, () => Made])[] = [
  [`${STELLAR}_payload_malformed`, 'is no transaction', () => ({ transaction: 'AAAA' })],
  [`${STELLAR}_payload_malformed`, 'is no text', () => ({ transaction: 7 })],
  [
    `${STELLAR}_payload_malformed`,
    'has an amount of another type',
    () => ({ args: (from) => [account(from), account(merchant), nativeToScVal(10_000, { type: 'u32' })] }),
  ],
  [`${STELLAR}_payload_wrong_operation`, 'has two operations (exact-stellar 2.1)', () => ({ operations: 2 })],
  [
    `${STELLAR}_payload_wrong_operation`,
    'has an authorization for another call',
    () => ({ authorized: [account(merchant), account(merchant), i128(1n)] }),
  ],
  [
    `${STELLAR}_payload_wrong_asset`,
    'is in another asset (exact-stellar 2.3)',
    () => ({ requirements: { asset: new Contract(OTHER_CONTRACT).contractId() } }),
  ],
  [
    `${STELLAR}_payload_wrong_function_name`,
    'calls another function (exact-stellar 2.4)',
    () => ({ functionName: 'approve' }),
  ],
  [
    `${STELLAR}_payload_wrong_recipient`,
    'pays someone else (exact-stellar 2.4)',
    () => ({ args: (from) => [account(from), account(MAIN.publicKey()), i128(AMOUNT)] }),
  ],
  [
    `${STELLAR}_payload_wrong_amount`,
    'is for less (exact-stellar 2.4)',
    () => ({ args: (from) => [account(from), account(merchant), i128(AMOUNT - 1n)] }),
  ],
  [
    `${STELLAR}_payload_unsafe_tx_or_op_source`,
    'has the relayer as the source of the transaction (exact-stellar 4.1)',
    () => ({ source: MAIN.publicKey() }),
  ],
  [
    `${STELLAR}_payload_unsafe_tx_or_op_source`,
    'has the relayer as the source of the operation (exact-stellar 4.2)',
    () => ({ operationSource: MAIN.publicKey() }),
  ],
  [
    `${STELLAR}_payload_facilitator_is_payer`,
    'takes from the relayer (exact-stellar 4.3)',
    () => ({ payer: MAIN }),
  ],
  [
    `${STELLAR}_payload_no_auth_entries`,
    'has no authorization (exact-stellar 3.1)',
    () => ({ auth: async () => [] }),
  ],
  [
    `${STELLAR}_payload_missing_payer_signature`,
    'is not signed (exact-stellar 3.2)',
    () => ({ auth: async (entry) => [entry] }),
  ],
  [
    `${STELLAR}_payload_has_subinvocations`,
    'authorizes a second transfer inside the first',
    () => ({ nested: true }),
  ],
  [
    `${STELLAR}_payload_unsupported_credential_type`,
    'spends the authority of the source',
    () => ({
      auth: async ({ rootInvocation }) => [
        new xdr.SorobanAuthorizationEntry({
          credentials: xdr.SorobanCredentials.sorobanCredentialsSourceAccount(),
          rootInvocation,
        }),
      ],
    }),
  ],
  [
    `${STELLAR}_payload_facilitator_in_auth`,
    'asks the relayer to authorize something',
    () => ({
      auth: async ({ rootInvocation }) => [
        new xdr.SorobanAuthorizationEntry({ credentials: credentialsOf(MAIN.publicKey()), rootInvocation }),
      ],
    }),
  ],
  [`${STELLAR}_signature_expiration_too_far`, 'stays valid for too long', () => ({ ledgers: 100 })],
  [`${STELLAR}_payload_simulation_failed`, 'has expired', () => ({ ledgers: 0 })],
  [`${STELLAR}_payload_simulation_failed`, 'is signed by someone else', () => ({ forged: true })],
  ['insufficient_funds', 'is for more than the payer has', () => ({ funds: AMOUNT - 1n })],
  [
    'invalid_payment_requirements',
    'does not say that fees are sponsored',
    () => ({ requirements: { extra: {} } }),
  ],
  [
    'invalid_payment_requirements',
    'names an asset that is no contract',
    () => ({ requirements: { asset: merchant } }),
  ],
]

const stranger = Keypair.random()

/** Signs with another key, and says so in a way that the SDK accepts. */
async function forge(_: unknown, payload: Uint8Array) {
  const value = new Map([
    ['public_key', stranger.rawPublicKey()],
    ['signature', stranger.sign(Buffer.from(payload))],
  ])
  return {
    signatureScVal: xdr.ScVal.scvVec([
      nativeToScVal(Object.fromEntries(value), {
        type: { public_key: ['symbol', null], signature: ['symbol', null] },
      }),
    ]),
  }
}

const OTHER_CONTRACT = 'CA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUWDA'

function credentialsOf(address: string): xdr.SorobanCredentials {
  return xdr.SorobanCredentials.sorobanCredentialsAddress(
    new xdr.SorobanAddressCredentials({
      address: Address.fromString(address).toScAddress(),
      nonce: 7n,
      signatureExpirationLedger: 1_000_000,
      signature: xdr.ScVal.scvVec([]),
    }),
  )
}

describe('a payment on Stellar that', () => {
  test.each(REFUSALS)('is refused as %s if it %s', async (reason, _, make) => {
    const { body } = await paymentOf(make())
    const before = balance(MAIN.publicKey())
    expect(await verify(ask(body), settings(), world)).toMatchObject({
      isValid: false,
      invalidReason: reason,
    })
    expect(await settle(ask(body), settings(), world)).toMatchObject({
      success: false,
      errorReason: reason,
      transaction: '',
    })
    expect(balance(MAIN.publicKey())).toBe(before)
  })

  test('is requested several times is settled once', async () => {
    const { payer, body } = await paymentOf()
    const answers = await Promise.all([1, 2, 3].map(() => settle(ask(body), settings(), world)))
    const first = answers[0]
    expect(first).toMatchObject({
      success: true,
      payer: payer.publicKey(),
      transaction: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect(new Set(answers.map(({ transaction }) => transaction)).size).toBe(1)
    expect(balance(payer.publicKey())).toBe(100n * XLM - AMOUNT)
  }, 30_000)

  test('is authorized by a signature that names its account is settled (CAP-71)', async () => {
    const payer = Keypair.random()
    ledger.fund(payer.publicKey(), 100n * XLM)
    const parts = { ledger, payer, payTo: merchant, passphrase: PASSPHRASE, isBound: true }
    const { body } = await stellarPayment(parts)
    expect(await settle(ask(body), settings(), world)).toMatchObject({ success: true })
    expect(balance(payer.publicKey())).toBe(100n * XLM - AMOUNT)
  }, 30_000)

  test('is in no ledger after the end of its authorization, where it would fail at the cost of the relayer', async () => {
    const payer = Keypair.random()
    ledger.fund(payer.publicKey(), 100n * XLM)
    const made = await stellarPayment({ ledger, payer, payTo: merchant, passphrase: PASSPHRASE, ledgers: 20 })
    expect(await settle(ask(made.body), settings(), world)).toMatchObject({ success: true })
    const entry = made.operation.signed
    if (entry.credentials.type !== 'sorobanCredentialsAddress') throw new Error('unreachable')
    const last = entry.credentials.address.signatureExpirationLedger
    const applied = ledger.ledgers
      .flatMap(({ transactions }) => transactions)
      .find(({ frame }) => Buffer.from(frame.envelope.toXdr()).includes(Buffer.from(entry.toXdr())))
    const cond = applied?.frame.transaction.tx.cond
    expect(cond?.type === 'precondV2' ? cond.v2.ledgerBounds?.maxLedger : undefined).toBe(last + 1)
  }, 30_000)

  test.each([
    ['as soon as it is included', 60, 0],
    ['after its authorization has expired', 8, 12],
  ])(
    'somebody else sends first is a success with the transaction that paid, %s',
    async (_, ledgers, later) => {
      const [payer, sender] = [Keypair.random(), Keypair.random()]
      for (const each of [payer, sender]) ledger.fund(each.publicKey(), 100n * XLM)
      const made = await stellarPayment({ ledger, payer, payTo: merchant, passphrase: PASSPHRASE, ledgers })
      const hash = await sendFirst({ ledger, passphrase: PASSPHRASE, sender }, made.operation)
      const last = await until(
        async () => ledger.included(hash)?.ledger,
        (included) => included !== undefined,
      )
      await until(
        async () => ledger.ledgers.length,
        (count) => count >= (last ?? 0) + later,
      )
      expect(await settle(ask(made.body), settings(), world)).toMatchObject({
        success: true,
        transaction: hash,
      })
      expect(balance(payer.publicKey())).toBe(100n * XLM - AMOUNT)
    },
    30_000,
  )

  test('calls a contract that moves more than it says is refused', async () => {
    const greedy = ledger.contract({
      balance: () => i128(1_000_000n),
      transfer(env, from, to, amount) {
        if (!from || !to || !amount) throw new Error('unreachable')
        env.requireAuth(Address.fromScVal(from).toString())
        const topics = [xdr.ScVal.scvSymbol('transfer'), from, to]
        env.emit(topics, amount)
        env.emit([xdr.ScVal.scvSymbol('transfer'), from, account(MAIN.publicKey())], amount)
        return undefined
      },
    })
    const { body } = await paymentOf({ contract: greedy, requirements: { asset: greedy } })
    expect(await verify(ask(body), settings(), world)).toMatchObject({
      invalidReason: `${STELLAR}_payload_multiple_transfers`,
    })
  })
})

test('the facilitator tells that it pays the fees on Stellar', async () => {
  expect(await supported(settings(), world)).toEqual({
    kinds: [{ x402Version: 2, scheme: 'exact', network: NETWORK, extra: { areFeesSponsored: true } }],
    extensions: ['payment-identifier', 'eip2612GasSponsoring'],
    signers: { 'stellar:*': [MAIN.publicKey()] },
  })
})
