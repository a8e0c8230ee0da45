import { join } from 'node:path'
import {
  Account,
  Address,
  Asset,
  authorizeEntry,
  Networks,
  Operation,
  TransactionBuilder,
  xdr,
} from '@stellar/stellar-sdk'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startLedger, type TestLedger } from '../../../simulators/stellar/start-ledger.ts'
import { tokenTransfer } from '../../../simulators/stellar/transaction/authorization.ts'
import { untilReady } from '../../support/plugins.ts'
import { plainSigner, type Service, startService } from '../../support/service.ts'
import { keypairOf, RECEIVER, XLM } from '../../support/stellar-scenario.ts'

/** A public plugin of OpenZeppelin Relayer, unchanged from npm: it pays the fees of others, through accounts that are relayers here. */

const FUND = keypairOf('fund')
const CHANNEL_IDS = Array.from({ length: 20 }, (_, at) => `channel-${at + 1}`)
const CHANNELS = CHANNEL_IDS.map(keypairOf)
const USER = keypairOf('user')
const ADMIN_SECRET = 'the-secret-of-the-administrator'

let ledger: TestLedger
let service: Service

beforeAll(async () => {
  ledger = await startLedger({ passphrase: Networks.TESTNET, closeEveryMs: 1_000 })
  for (const { publicKey } of [FUND, ...CHANNELS, USER].map((key) => ({ publicKey: key.publicKey() })))
    ledger.fund(publicKey, 1_000n * XLM)
  ledger.fund(RECEIVER, 100n * XLM)
  const signers = [FUND, ...CHANNELS].map((key, at) =>
    plainSigner(at === 0 ? 'fund' : `channel-${at}`, key.secret()),
  )
  const stellar = { network: 'testnet', network_type: 'stellar' }
  service = await startService({
    rpcUrls: [],
    networks: [
      {
        type: 'stellar',
        network: 'testnet',
        passphrase: Networks.TESTNET,
        is_testnet: true,
        average_blocktime_ms: 1_000,
        rpc_urls: [ledger.url],
      },
    ],
    signers,
    relayers: [
      { id: 'fund', name: 'Fund', signer_id: 'fund', ...stellar },
      // The plugin numbers the transactions of these accounts itself.
      ...CHANNEL_IDS.map((id) => ({
        id,
        name: id,
        signer_id: id,
        policies: { shared_account: true },
        ...stellar,
      })),
    ],
    env: {
      STELLAR_NETWORK: 'testnet',
      FUND_RELAYER_ID: 'fund',
      PLUGIN_ADMIN_SECRET: ADMIN_SECRET,
      // Longer than its transactions are valid: however busy the machine is, the plugin knows how each of
      // them ended.
      PLUGIN_GLOBAL_TIMEOUT_MS: '150000',
      PLUGIN_POLLING_TIMEOUT_MS: '140000',
    },
    plugins: [
      {
        id: 'channels',
        path: join(import.meta.dirname, 'fixtures/channels.ts'),
        timeout: 160,
        env: [
          'STELLAR_NETWORK',
          'FUND_RELAYER_ID',
          'PLUGIN_ADMIN_SECRET',
          'PLUGIN_GLOBAL_TIMEOUT_MS',
          'PLUGIN_POLLING_TIMEOUT_MS',
        ],
        forward_headers: ['x-api-key'],
      },
    ],
  })
  await untilReady(service)
  const management = {
    action: 'setChannelAccounts',
    adminSecret: ADMIN_SECRET,
    relayerIds: CHANNEL_IDS,
  }
  const { body } = await call({ management })
  expect(body.data).toMatchObject({ ok: true })
}, 60_000)
afterAll(async () => {
  await service?.stop()
  await ledger?.stop()
})

interface Submitted {
  readonly transactionId: string
  readonly status: string
  readonly hash: string
}

const call = (params: object) => service.api<Submitted>('POST', '/plugins/channels/call', { params })
const balanceOf = (address: string) => ledger.account(address)?.balance ?? 0n

/** A transfer of lumens by their contract, as a function with its authorization. */
async function transfer(amount: bigint) {
  const root = tokenTransfer({ token: ledger.nativeContract, from: USER.publicKey(), to: RECEIVER, amount })
  if (root.function.type !== 'sorobanAuthorizedFunctionTypeContractFn') throw new Error('This is no call.')
  const func = xdr.HostFunction.hostFunctionTypeInvokeContract(root.function.contractFn)
  const unsigned = new xdr.SorobanAuthorizationEntry({
    credentials: xdr.SorobanCredentials.sorobanCredentialsAddress(
      new xdr.SorobanAddressCredentials({
        address: Address.fromString(USER.publicKey()).toScAddress(),
        nonce: amount,
        signatureExpirationLedger: 0,
        signature: xdr.ScVal.scvVoid(),
      }),
    ),
    rootInvocation: root,
  })
  const expiration = (ledger.ledgers.at(-1)?.sequence ?? 0) + 1_000
  const entry = await authorizeEntry(unsigned, USER, expiration, ledger.passphrase)
  return { func: func.toXdr('base64'), auth: [entry.toXdr('base64')] }
}

test('a function with its authorization is paid by the fund, through a channel account', async () => {
  const before = { user: balanceOf(USER.publicKey()), receiver: balanceOf(RECEIVER) }
  const { status, body } = await call(await transfer(3n * XLM))
  expect([status, body.error]).toEqual([200, undefined])
  expect(body.data).toMatchObject({ status: 'confirmed', hash: expect.stringMatching(/^[0-9a-f]{64}$/) })
  expect(balanceOf(RECEIVER) - before.receiver).toBe(3n * XLM)
  // The user paid no fee.
  expect(before.user - balanceOf(USER.publicKey())).toBe(3n * XLM)
  expect(ledger.included(body.data.hash)).toBeDefined()
  const stored = await service.api('GET', `/relayers/fund/transactions/${body.data.transactionId}`)
  expect(stored.body.data).toMatchObject({ status: 'confirmed', hash: body.data.hash })
})

test('several functions at once use several channel accounts', async () => {
  const answers = await Promise.all([4n, 5n].map(async (lumens) => call(await transfer(lumens * XLM))))
  expect(answers.map(({ status, body }) => [status, body.data?.status])).toEqual([
    [200, 'confirmed'],
    [200, 'confirmed'],
  ])
})

test('a signed transaction is paid by the fund', async () => {
  const { sequence = 0n } = ledger.account(USER.publicKey()) ?? {}
  const transaction = new TransactionBuilder(new Account(USER.publicKey(), String(sequence)), {
    fee: '100',
    networkPassphrase: ledger.passphrase,
  })
    .addOperation(Operation.payment({ destination: RECEIVER, asset: Asset.native(), amount: '2' }))
    .setTimeout(60)
    .build()
  transaction.sign(USER)
  const before = balanceOf(USER.publicKey())
  const { status, body } = await call({ xdr: transaction.toXdr() })
  expect([status, body.error]).toEqual([200, undefined])
  expect(body.data.status).toBe('confirmed')
  expect(before - balanceOf(USER.publicKey())).toBe(2n * XLM)
})

test('a hundred calls at once get no wrong answer', async () => {
  const before = balanceOf(RECEIVER)
  const calls = await Promise.all(
    Array.from({ length: 100 }, async (_, at) => ({
      amount: BigInt(at + 1),
      params: await transfer(BigInt(at + 1)),
    })),
  )
  const answers = await Promise.all(
    calls.map(async ({ amount, params }) => ({ amount, ...(await call(params)) })),
  )
  const answered = answers.filter(({ status }) => status === 200)
  // On a busy machine, what waits long for its turn expires; that is final, and nothing was paid.
  expect(answered.map(({ body }) => body.data.status)).toEqual(
    answered.map(() => expect.stringMatching(/^(confirmed|expired)$/)),
  )
  const served = answered.filter(({ body }) => body.data.status === 'confirmed')
  const codeOf = ({ body }: (typeof answers)[number]) =>
    (body.data as unknown as { readonly code: string }).code
  const refused = answers.filter(({ status }) => status !== 200)
  // Twenty accounts may be too few for a hundred calls, and the plugin says so: nothing was sent then.
  expect(refused.map(codeOf)).toEqual(refused.map(() => 'POOL_CAPACITY'))
  expect(served.length).toBeGreaterThan(0)
  expect(balanceOf(RECEIVER) - before).toBe(served.reduce((sum, { amount }) => sum + amount, 0n))
}, 240_000)

test('a failure of the plugin has the status and the code that its clients know', async () => {
  const { status, body } = await call({})
  expect(status).toBe(400)
  expect(body).toMatchObject({ success: false, data: { code: 'INVALID_PARAMS' } })
})
