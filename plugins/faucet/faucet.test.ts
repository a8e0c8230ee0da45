import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../../test/support/anvil.ts'
import { untilReady } from '../../test/support/plugins.ts'
import { type Service, startService } from '../../test/support/service.ts'
import { until } from '../../test/support/until.ts'

const AMOUNT = 10n ** 16n

let anvil: Anvil
let service: Service

beforeAll(async () => {
  anvil = await startAnvil()
  const config = { relayer: 'main', amount: String(AMOUNT), every: 3_600 }
  const scopes = ['transactions:write']
  const rules = { limits: [{ per: 'day', value: String(3n * AMOUNT) }] }
  const path = join(import.meta.dirname, 'faucet.ts')
  service = await startService({
    rpcUrls: [anvil.url],
    plugins: [{ id: 'faucet', path, config, scopes, relayers: ['main'], rules }],
  })
  await untilReady(service)
})
afterAll(async () => {
  await service?.stop()
  await anvil?.stop()
})

interface Paid {
  readonly transaction_id: string
  readonly amount: string
}

const ask = (address: string) => service.api<Paid>('POST', '/plugins/faucet/call', { address })
const addressOf = (digit: string) => `0x${digit.repeat(40)}`
const balanceOf = async (address: string) =>
  BigInt((await anvil.rpc('eth_getBalance', [address, 'latest'])) as string)

test('an address gets its coins, once', async () => {
  const address = addressOf('a')
  const [first, second] = await Promise.all([ask(address), ask(address)])
  expect([first.status, second.status].sort()).toEqual([200, expect.any(Number)])
  await until(
    () => balanceOf(address),
    (balance) => balance > 0n,
  )
  const again = await ask(address)
  expect([again.status, again.body]).toMatchObject([429, { data: { code: 'TOO_EARLY' } }])
  expect(await balanceOf(address)).toBe(AMOUNT)
})

test('what is no address is refused', async () => {
  const { status, body } = await ask('alice')
  expect([status, body.error]).toEqual([400, 'address: expected 0x and 40 hex digits'])
})

test('the budget of the plugin is a bound for all addresses together', async () => {
  expect((await ask(addressOf('b'))).status).toBe(200)
  expect((await ask(addressOf('c'))).status).toBe(200)
  const beyond = await ask(addressOf('d'))
  expect([beyond.status, beyond.body.code]).toEqual([500, 'plugin_failed'])
  expect(await balanceOf(addressOf('d'))).toBe(0n)
})
