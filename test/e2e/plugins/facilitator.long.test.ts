import { join } from 'node:path'
import { Networks } from '@stellar/stellar-sdk'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startLedger, type TestLedger } from '../../../simulators/stellar/start-ledger.ts'
import { stellarPayment } from '../../plugins/x402/stellar-payment.ts'
import { untilReady } from '../../support/plugins.ts'
import { plainSigner, type Service, startService } from '../../support/service.ts'
import { keypairOf, RECEIVER, XLM } from '../../support/stellar-scenario.ts'

/** A public plugin of OpenZeppelin Relayer, unchanged from npm: it verifies and settles payments of x402 on Stellar. */

const MAIN = keypairOf('main')
const PAYER = keypairOf('user')
const NETWORK = 'stellar:testnet'

let ledger: TestLedger
let service: Service

beforeAll(async () => {
  ledger = await startLedger({ passphrase: Networks.TESTNET, closeEveryMs: 1_000 })
  for (const key of [MAIN, PAYER]) ledger.fund(key.publicKey(), 1_000n * XLM)
  ledger.fund(RECEIVER, 100n * XLM)
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
    signers: [plainSigner('main', MAIN.secret())],
    relayers: [{ id: 'main', name: 'Main', signer_id: 'main', ...stellar }],
    plugins: [
      {
        id: 'facilitator',
        path: join(import.meta.dirname, 'fixtures/facilitator.ts'),
        timeout: 60,
        config: {
          networks: [
            { network: NETWORK, type: 'stellar', relayer_id: 'main', assets: [ledger.nativeContract] },
          ],
        },
      },
    ],
  })
  await untilReady(service)
}, 60_000)
afterAll(async () => {
  await service?.stop()
  await ledger?.stop()
})

interface Answer {
  readonly isValid?: boolean
  readonly success?: boolean
  readonly payer?: string
  readonly transaction: string
}

const call = (route: string, params: object) =>
  service.api<Answer>('POST', `/plugins/facilitator/call/${route}`, { params })
const balanceOf = (address: string) => ledger.account(address)?.balance ?? 0n
const payment = async () => {
  const parts = { ledger, payer: PAYER, payTo: RECEIVER, passphrase: ledger.passphrase, fee: '1000000' }
  return (await stellarPayment(parts)).body
}

test('the facilitator tells what it supports, with the address of the relayer', async () => {
  const { status, body } = await call('supported', {})
  expect([status, body.data]).toMatchObject([
    200,
    { kinds: [{ scheme: 'exact', network: NETWORK }], signers: { [NETWORK]: [MAIN.publicKey()] } },
  ])
})

test('a payment is verified without moving anything, and settled once', async () => {
  const body = await payment()
  const before = { payer: balanceOf(PAYER.publicKey()), receiver: balanceOf(RECEIVER) }
  const verified = await call('verify', body)
  expect([verified.status, verified.body.data]).toEqual([200, { isValid: true, payer: PAYER.publicKey() }])
  expect(balanceOf(RECEIVER)).toBe(before.receiver)
  const settled = await call('settle', body)
  expect([settled.status, settled.body.data]).toMatchObject([
    200,
    { success: true, payer: PAYER.publicKey(), network: NETWORK },
  ])
  expect(ledger.included(settled.body.data.transaction)).toBeDefined()
  expect(balanceOf(RECEIVER) - before.receiver).toBe(10_000n)
  // The payer paid no fee.
  expect(before.payer - balanceOf(PAYER.publicKey())).toBe(10_000n)
  const again = await call('settle', body)
  expect(again.body.data).toMatchObject({ success: false })
  expect(balanceOf(RECEIVER) - before.receiver).toBe(10_000n)
}, 60_000)

test('a payment to someone else is refused in the words of x402', async () => {
  const body = await payment()
  const paymentRequirements = { ...body.paymentRequirements, payTo: MAIN.publicKey() }
  const { body: answer } = await call('verify', { ...body, paymentRequirements })
  expect(answer.data).toMatchObject({
    isValid: false,
    invalidReason: 'invalid_exact_stellar_payload_wrong_recipient',
  })
})
