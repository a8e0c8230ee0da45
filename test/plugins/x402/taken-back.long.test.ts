import { createPublicClient, encodeFunctionData, type Hex, http, parseAbi, parseAbiItem } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readSettings } from '../../../plugins/x402/config.ts'
import { settle } from '../../../plugins/x402/facilitator.ts'
import { type PaymentReport, payments } from '../../../plugins/x402/payments.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { RECEIVER } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { paymentBy } from './evm-payment.ts'
import { type EvmSite, FUNDS, startEvmSite } from './evm-site.ts'
import { createWorld, type TestWorld } from './world.ts'

let site: EvmSite
let world: TestWorld
let seller: Receiver

beforeAll(async () => {
  seller = await startReceiver()
  site = await startEvmSite(
    // More than a test makes before it takes blocks back.
    { network: { required_confirmations: 400 }, env: { RELAYER_ALLOW_PRIVATE_URLS: 'true' } },
    ['--no-mining'],
  )
  world = createWorld(site.service.url)
  const { status } = await site.service.api('POST', '/notifications', {
    url: seller.url,
    transactions: { reference: `x402:${site.payTo.toLowerCase()}`, requested_by: 'root' },
  })
  expect(status).toBe(201)
}, 60_000)

afterAll(async () => {
  await site.stop()
  await seller.stop()
})

const settings = () =>
  readSettings({ ...site.config, timeout_seconds: 30, readers: [{ key: 'shop', payees: [site.payTo] }] })
const mine = () => site.anvil.rpc('evm_mine')

/** Settles, and makes blocks meanwhile. */
async function settled(body: object) {
  let done = false
  const answer = settle({ body, caller: 'shop' }, settings(), world).finally(() => {
    done = true
  })
  await until(async () => {
    await mine()
    return done
  }, Boolean)
  return answer
}

function report(): Promise<PaymentReport> {
  const query = { payee: [site.payTo], day: [new Date().toISOString().slice(0, 10)] }
  return payments({ query, caller: 'shop' }, settings(), world)
}

/** What the payee got by the events of the chain as it is now. */
async function onChain(): Promise<bigint> {
  const logs = await createPublicClient({ transport: http(site.anvil.url) }).getLogs({
    address: site.token,
    event: parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)'),
    args: { to: site.payTo },
    fromBlock: 0n,
  })
  return logs.reduce((sum, { args }) => sum + (args.value ?? 0n), 0n)
}

/** Takes back every block since the snapshot, and makes one more than were taken back. */
async function takeBack(snapshot: unknown, meanwhile: () => Promise<unknown>): Promise<void> {
  const seen = Number(await site.anvil.rpc<string>('eth_blockNumber'))
  await site.anvil.rpc('evm_revert', [snapshot])
  await site.anvil.rpc('anvil_dropAllTransactions')
  await meanwhile()
  const left = Number(await site.anvil.rpc<string>('eth_blockNumber'))
  await site.anvil.rpc('anvil_mine', [`0x${(seen - left + 1).toString(16)}`])
}

/** The payer moves his tokens to someone else. */
async function spend(payer: PrivateKeyAccount): Promise<void> {
  const abi = parseAbi(['function transfer(address to, uint256 value) returns (bool)'])
  const data = encodeFunctionData({ abi, functionName: 'transfer', args: [RECEIVER, FUNDS] })
  await site.anvil.rpc('anvil_impersonateAccount', [payer.address])
  await site.anvil.rpc('anvil_setBalance', [payer.address, '0xde0b6b3a7640000'])
  await site.anvil.rpc('eth_sendTransaction', [{ from: payer.address, to: site.token, data }])
  await mine()
}

const eventsAbout = (hash: string) =>
  seller.received.flatMap(({ text, body }) =>
    text.includes(hash) ? [`${body.event} ${body.payload.status}`] : [],
  )

/** Makes blocks until nothing of the day waits. */
const complete = () =>
  until(
    async () => {
      await site.anvil.rpc('anvil_mine', ['0x64'])
      return report()
    },
    ({ waiting }) => waiting === 0,
    { timeoutMs: 60_000 },
  )

test('the report of a day adds up to the chain after blocks with payments were taken back, and the seller is told', async () => {
  const [stays, spends] = [await site.payer(), await site.payer()]
  const bodies = [await paymentBy(stays, { ...site, amount: 700n }), await paymentBy(spends, site)]
  const snapshot = await site.anvil.rpc('evm_snapshot')
  const [first, second] = [await settled(bodies[0] as object), await settled(bodies[1] as object)]
  expect([first.success, second.success]).toEqual([true, true])

  // In the blocks that replace those, one payer has nothing left.
  await takeBack(snapshot, () => spend(spends))
  expect(await report()).toMatchObject({ settled: [], waiting: 2 })

  const found = await complete()
  expect(found).toMatchObject({
    settled: [{ asset: site.token.toLowerCase(), payments: 1, amount: '700' }],
    failed: 1,
    unknown_fees: 0,
  })
  expect(await onChain()).toBe(700n)

  const hashes = [first.transaction, second.transaction] as Hex[]
  await until(
    async () => hashes.map((hash) => eventsAbout(hash).at(-1)),
    ([one, other]) => one === 'transaction_update confirmed' && other === 'transaction_update failed',
    { timeoutMs: 30_000 },
  )
  for (const hash of hashes)
    expect(eventsAbout(hash).join()).toContain('transaction_update mined,transaction_update submitted')
}, 150_000)
