import { expect, onTestFinished, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { RECEIVER, type Service, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const PHRASE = 'test test test test test test test test test test test junk'
const SEED = {
  id: 'seed',
  type: 'mnemonic',
  config: { mnemonic: { type: 'plain', value: PHRASE }, index: 4 },
}
const ALL = '/relayers/pool/transactions'

type Relayer = Schemas['EvmRelayer']

let anvil: Anvil

async function startPool({
  policies = {},
  env = {},
}: {
  policies?: object
  env?: Record<string, string>
} = {}) {
  anvil = await startAnvil({ args: ['--no-mining'] })
  onTestFinished(() => anvil.stop())
  const relayer = { id: 'pool', network: 'anvil', network_type: 'evm', signer_id: 'seed' }
  const service = await startService({
    rpcUrls: [anvil.url],
    signers: [SEED],
    relayers: [{ ...relayer, policies, accounts: [{ signer_id: 'seed', count: 2 }] }],
    env: { RELAYER_HEALTH_INTERVAL_SECONDS: '5', ...env },
  })
  onTestFinished(() => service.stop())
  const [own, further] = (await accountsOf(service)).map(({ address }) => address)
  if (own === undefined || further === undefined) throw new Error('the relayer has too few accounts')
  return { service, own, further }
}

const accountsOf = async (service: Service) =>
  (await service.api<Relayer>('GET', '/relayers/pool')).body.data.accounts ?? []
const payment = (value: number, rest: object = {}) => ({ to: RECEIVER, value, ...rest })

async function setBalance(address: string, balance: string): Promise<void> {
  await anvil.rpc('anvil_setBalance', [address, balance])
  await anvil.rpc('evm_mine')
}

/** Sends until a lane has an open transaction of this account, and returns the lane. */
async function laneOf(service: Service, address: string): Promise<{ lane: string; id: string }> {
  for (let count = 0; count < 50; count += 1) {
    const lane = `lane-${count}`
    const { body } = await service.api('POST', ALL, payment(1, { lane }))
    if (body.data.from === address) return { lane, id: body.data.id }
  }
  throw new Error('no lane has this account')
}

async function becomes(service: Service, address: string, state: string): Promise<void> {
  await until(
    async () => {
      await anvil.rpc('evm_mine')
      return accountsOf(service)
    },
    (accounts) => accounts.some((account) => account.address === address && account.state === state),
  )
}

test('refusals about an account that the service has disabled name it and the relayer', async () => {
  const { service, further } = await startPool({
    policies: { min_balance: '1' },
    env: { RELAYER_MAX_IN_FLIGHT: '1' },
  })
  const { lane, id } = await laneOf(service, further)
  const waiting = await service.api('POST', ALL, payment(2, { lane }))
  await setBalance(further, '0x0')
  await until(
    () => accountsOf(service),
    (accounts) => accounts.some(({ address, state }) => address === further && state === 'disabled'),
  )
  const name = `Account ${further} of relayer pool`
  const sent = await service.api('POST', ALL, payment(3, { lane }))
  expect([sent.body.code, sent.body.error]).toEqual([
    'relayer_disabled',
    expect.stringContaining(`${name} was disabled by the service. `),
  ])
  const replaced = await service.api('PUT', `${ALL}/${id}`, payment(4))
  expect(replaced.body.error ?? '').not.toContain('pool/')
  const diagnosis = await service.api<Schemas['Diagnosis']>('GET', `${ALL}/${waiting.body.data.id}/diagnosis`)
  expect(JSON.stringify(diagnosis.body.data)).not.toContain('pool/')
  expect(diagnosis.body.data.findings[0]?.message).toContain('The service has disabled account 0x')
})

test('a repeated batch returns its transactions although the relayer is paused', async () => {
  const { service } = await startPool()
  const batch = {
    transactions: [payment(1, { idempotency_key: 'one' }), payment(2, { idempotency_key: 'two' })],
  }
  type Batch = { id: string }[]
  const sent = await service.api<Batch>('POST', `${ALL}/batch`, batch)
  expect(sent.status).toBe(200)
  await service.api('PATCH', '/relayers/pool', { paused: true })
  const repeated = await service.api<Batch>('POST', `${ALL}/batch`, batch)
  expect(repeated.body.data?.map(({ id }) => id)).toEqual(sent.body.data.map(({ id }) => id))
})

test('a dry run tells what a send would do: the next account takes what an empty one cannot', async () => {
  const { service, own, further } = await startPool()
  await setBalance(own, '0x0')
  const dry = await service.api<Schemas['DryRun']>('POST', `${ALL}?dry_run=true`, payment(1))
  expect(dry.body.data).toMatchObject({ accepted: true })
  const sent = await service.api('POST', ALL, payment(1))
  expect(sent.body.data.from).toBe(further)
  await setBalance(further, '0x0')
  const refused = await service.api<Schemas['DryRun']>('POST', `${ALL}?dry_run=true`, payment(1))
  expect([refused.status, refused.body.data]).toEqual([200, expect.objectContaining({ accepted: false })])
  await service.api('PATCH', '/relayers/pool', { paused: true })
  const paused = await service.api<Schemas['DryRun']>('POST', `${ALL}?dry_run=true`, payment(1))
  expect([paused.status, paused.body.data]).toEqual([200, expect.objectContaining({ accepted: false })])
})

test('a lane of an account that leaves waits until its transactions are final', async () => {
  const { service, further } = await startPool()
  const { lane } = await laneOf(service, further)
  await service.api('PATCH', '/relayers/pool', { accounts: [{ signer_id: 'seed' }] })
  const refused = await service.api('POST', ALL, payment(1, { lane }))
  expect([refused.status, refused.body.code, refused.body.error]).toEqual([
    429,
    'rate_limited',
    `body.lane: the account of lane "${lane}" leaves relayer pool. Nothing was stored; try again when the open transactions of the lane are final.`,
  ])
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
  await until(
    async () => {
      await anvil.rpc('evm_mine')
      return service.api('POST', ALL, payment(1, { lane }))
    },
    ({ status }) => status === 200,
  )
})

test('nonces that another program used on a further account are accepted with those of the relayer', async () => {
  const { service, further } = await startPool()
  await service.api('POST', ALL, payment(1))
  await service.api('POST', ALL, payment(1))
  await until(
    async () => {
      await anvil.rpc('evm_mine')
      return (await service.api<{ status: string }[]>('GET', `${ALL}?per_page=100`)).body.data
    },
    (all) => all.every(({ status }) => status === 'confirmed'),
  )
  const nonce = Number(await anvil.rpc<string>('eth_getTransactionCount', [further, 'latest']))
  await anvil.rpc('anvil_setNonce', [further, `0x${(nonce + 3).toString(16)}`])
  await becomes(service, further, 'disabled')
  await service.api('POST', '/relayers/pool/accept-nonces', { reason: 'compared' })
  await becomes(service, further, 'active')
})

test('no path finds a further account', async () => {
  const { service, further } = await startPool()
  for (const path of [`/relayers/pool%2F${further}`, `/relayers/pool%2F${further}/transactions`])
    expect((await service.api('GET', path)).status, path).toBeGreaterThanOrEqual(400)
  const events = await service.api<unknown[]>('GET', `/events?relayer_id=pool%2F${further}`)
  expect(events.body.data ?? []).toEqual([])
  const found = await service.api<unknown[]>('GET', `/transactions?relayer_id=pool%2F${further}`)
  expect(found.body.data ?? []).toEqual([])
})

test('an account that left disabled takes work as soon as it comes back', async () => {
  const { service, further } = await startPool({ policies: { min_balance: '1' } })
  const balance = await anvil.rpc<string>('eth_getBalance', [further, 'latest'])
  await setBalance(further, '0x0')
  await becomes(service, further, 'disabled')
  const change = (count: number) =>
    service.api<Relayer>('PATCH', '/relayers/pool', { accounts: [{ signer_id: 'seed', count }] })
  expect((await change(1)).body.data.accounts).toHaveLength(1)
  await setBalance(further, balance)
  expect((await change(2)).body.data.accounts?.map(({ state }) => state)).toEqual(['active', 'active'])
})
