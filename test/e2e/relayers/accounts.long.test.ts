import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { API_KEY, RECEIVER, type Service, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

/** The phrase of anvil's own accounts, which have money on its chain and nowhere else. */
const PHRASE = 'test test test test test test test test test test test junk'
const SEED = {
  id: 'seed',
  type: 'mnemonic',
  config: { mnemonic: { type: 'plain', value: PHRASE }, index: 4 },
}
const POOL = { id: 'pool', network: 'anvil', network_type: 'evm', signer_id: 'seed', policies: {} }
const ALL = '/relayers/pool/transactions'

type Relayer = Schemas['EvmRelayer']

let anvil: Anvil
beforeAll(async () => {
  anvil = await startAnvil({ args: ['--no-mining'] })
})
afterAll(() => anvil.stop())

async function startPool(count: number, policies: object = {}): Promise<Service> {
  const relayer = { ...POOL, policies, accounts: [{ signer_id: 'seed', count }] }
  const service = await startService({ rpcUrls: [anvil.url], signers: [SEED], relayers: [relayer] })
  onTestFinished(async () => {
    await settle(service)
    await service.stop()
  })
  return service
}

async function settle(service: Service): Promise<void> {
  await until(
    async () => {
      await anvil.rpc('evm_mine')
      const { body } = await service.api<{ status: string }[]>('GET', `${ALL}?per_page=100`)
      return body.data
    },
    (all) => all.every(({ status }) => ['confirmed', 'failed', 'canceled'].includes(status)),
  )
}

const accountsOf = async (service: Service) =>
  (await service.api<Relayer>('GET', '/relayers/pool')).body.data.accounts ?? []
const payment = (value: number, rest: object = {}) => ({ to: RECEIVER, value, ...rest })
const send = async (service: Service, body: object, headers?: Record<string, string>) =>
  (await service.api('POST', ALL, body, headers)).body.data

test('a relayer with several accounts of a seed phrase shows them, its own first', async () => {
  const service = await startPool(3)
  const { body } = await service.api<Relayer>('GET', '/relayers/pool')
  const accounts = body.data.accounts ?? []
  expect(accounts.map(({ index, state, signer_id }) => [index, state, signer_id])).toEqual([
    [0, 'active', 'seed'],
    [1, 'active', 'seed'],
    [2, 'active', 'seed'],
  ])
  expect(accounts[0]?.address).toBe(body.data.address)
  const listed = await service.api<Relayer[]>('GET', '/relayers')
  expect(listed.body.data.map(({ id }) => id)).toEqual(['pool'])
  expect(listed.body.data[0]?.accounts).toEqual(accounts)
  const status = await service.api<Schemas['RelayerStatus']>('GET', '/relayers/pool/status')
  expect(status.body.data.accounts?.map(({ address, balance }) => [address, balance !== undefined])).toEqual(
    accounts.map(({ address }) => [address, true]),
  )
  const balance = await service.api<Schemas['RelayerBalance']>('GET', '/relayers/pool/balance')
  expect(balance.body.data.accounts?.map(({ address }) => address)).toEqual(
    accounts.map(({ address }) => address),
  )
})

test('sends take the account with the most room, and the record says which', async () => {
  const service = await startPool(3)
  const sent = []
  for (let value = 0; value < 9; value += 1) sent.push(await send(service, payment(value)))
  const counts = Map.groupBy(sent, ({ from }) => from)
  expect([...counts.values()].map((those) => those.length)).toEqual([3, 3, 3])
  expect(sent.every(({ relayer_id }) => relayer_id === 'pool')).toBe(true)
  await settle(service)
  const { body } = await service.api<{ from: string; nonce: number; status: string }[]>(
    'GET',
    `${ALL}?per_page=100`,
  )
  expect(body.pagination?.total_items).toBe(9)
  expect(new Set(body.data.map(({ from, nonce }) => `${from} ${nonce}`)).size).toBe(9)
  expect(body.data.every(({ status }) => status === 'confirmed')).toBe(true)
})

test('transactions of a lane are of one account, in their order', async () => {
  const service = await startPool(4)
  const lanes = ['a', 'b', 'c', 'd', 'e']
  const sent = await Promise.all(
    Array.from({ length: 25 }, (_, value) => send(service, payment(value, { lane: lanes[value % 5] }))),
  )
  for (const lane of lanes) {
    const those = sent.filter((transaction) => transaction.lane === lane)
    expect(those).toHaveLength(5)
    expect(new Set(those.map(({ from }) => from)).size).toBe(1)
  }
})

test('replace, cancel, diagnosis and lists know the transactions of every account', async () => {
  const service = await startPool(2)
  const [one, other] = [await send(service, payment(1)), await send(service, payment(2))]
  expect(one.from).not.toBe(other.from)
  for (const { id, from } of [one, other]) {
    await until(
      () => service.api('GET', `${ALL}/${id}`),
      ({ body }) => body.data.status === 'submitted',
    )
    const replaced = await service.api('PUT', `${ALL}/${id}`, payment(7, { speed: 'fastest' }))
    expect(replaced.body.data).toMatchObject({ id, from, value: '7', relayer_id: 'pool' })
    const diagnosis = await service.api<{ summary: string }>('GET', `${ALL}/${id}/diagnosis`)
    expect(diagnosis.status).toBe(200)
    const found = await service.api<{ id: string }[]>('GET', `/transactions?hash=${replaced.body.data.hash}`)
    expect(found.body.data.map((item) => item.id)).toEqual([id])
  }
  const canceled = await service.api<Schemas['PendingCancellation']>('DELETE', `${ALL}/pending`)
  expect(canceled.body.data.queued_for_cancellation_transaction_ids.toSorted()).toEqual(
    [one.id, other.id].toSorted(),
  )
  await settle(service)
  const { body } = await service.api<{ status: string }[]>('GET', `${ALL}?status=canceled`)
  expect(body.data).toHaveLength(2)
  const replacement = await service.api('PUT', `${ALL}/${one.id}`, payment(7, { lane: 'a' }))
  expect(replacement.body.error).toContain('body.lane: ')
})

test('an idempotency key belongs to the relayer, whichever account has its transaction', async () => {
  const service = await startPool(4)
  const headers = { 'idempotency-key': 'once' }
  const sent = await Promise.all(Array.from({ length: 12 }, () => send(service, payment(5), headers)))
  expect(new Set(sent.map(({ id }) => id)).size).toBe(1)
  const reused = await service.api('POST', ALL, payment(6), headers)
  expect([reused.status, reused.body.code]).toEqual([409, 'idempotency_key_reused'])
})

test('a budget of the relayer counts all of its accounts', async () => {
  const service = await startPool(3, { rules: { limits: [{ per: 'day', value: '10' }] } })
  const sent = await Promise.all(Array.from({ length: 6 }, () => service.api('POST', ALL, payment(4))))
  expect(sent.map(({ status }) => status).toSorted()).toEqual([200, 200, 400, 400, 400, 400])
})

test('an account without money takes nothing, and the others go on', async () => {
  const service = await startPool(3)
  const [, poor] = await accountsOf(service)
  const before = await anvil.rpc<string>('eth_getBalance', [poor?.address, 'latest'])
  await anvil.rpc('anvil_setBalance', [poor?.address, '0x0'])
  onTestFinished(async () => void (await anvil.rpc('anvil_setBalance', [poor?.address, before])))
  await anvil.rpc('evm_mine')
  const sent = await Promise.all(Array.from({ length: 6 }, (_, value) => send(service, payment(value + 1))))
  expect(sent.map(({ from }) => from)).not.toContain(poor?.address)
  expect(sent.every(({ status }) => status === 'pending')).toBe(true)
})

describe('accounts change while the service runs', () => {
  test('an added account takes work at once', async () => {
    const service = await startPool(1)
    expect(await accountsOf(service)).toHaveLength(1)
    const changed = await service.api<Relayer>('PATCH', '/relayers/pool', {
      accounts: [{ signer_id: 'seed', count: 3 }],
    })
    expect(changed.body.data.accounts?.map(({ state }) => state)).toEqual(['active', 'active', 'active'])
    const sent = await Promise.all(Array.from({ length: 6 }, (_, value) => send(service, payment(value))))
    expect(new Set(sent.map(({ from }) => from)).size).toBe(3)
  })

  test('an account that leaves finishes its work, and takes no other', async () => {
    const service = await startPool(2)
    const sent = await Promise.all([send(service, payment(1)), send(service, payment(2))])
    const [own, leaving] = await accountsOf(service)
    const changed = await service.api<Relayer>('PATCH', '/relayers/pool', {
      accounts: [{ signer_id: 'seed' }],
    })
    expect(changed.body.data.accounts?.map(({ state }) => state)).toEqual(['active', 'draining'])
    const later = await Promise.all([send(service, payment(3)), send(service, payment(4))])
    expect(later.map(({ from }) => from)).toEqual([own?.address, own?.address])
    await settle(service)
    // A reorganisation could still take back what it sent.
    expect((await accountsOf(service)).map(({ state }) => state)).toEqual(['active', 'draining'])
    const old = sent.find(({ from }) => from === leaving?.address)
    const { body } = await service.api('GET', `${ALL}/${old?.id}`)
    expect(body.data).toMatchObject({ status: 'confirmed', from: leaving?.address })
  })

  test('an account that has sent nothing leaves at once', async () => {
    const service = await startPool(2)
    const changed = await service.api<Relayer>('PATCH', '/relayers/pool', {
      accounts: [{ signer_id: 'seed' }],
    })
    expect(changed.body.data.accounts).toHaveLength(1)
  })

  test('the own account of the relayer cannot leave', async () => {
    const service = await startPool(2)
    const refused = await service.api('PATCH', '/relayers/pool', { accounts: [{ signer_id: 'other' }] })
    expect([refused.status, refused.body.error]).toEqual([
      400,
      'body.accounts must begin with the account of the relayer itself: { "signer_id": "seed" }.',
    ])
  })
})

test('events and webhooks name the relayer', async () => {
  const service = await startPool(2)
  await Promise.all([send(service, payment(1)), send(service, payment(2))])
  const { body } = await service.api<{ relayer_id: string; payload: { relayer_id: string; from: string } }[]>(
    'GET',
    '/events?relayer_id=pool',
  )
  expect(new Set(body.data.map(({ relayer_id, payload }) => `${relayer_id} ${payload.relayer_id}`))).toEqual(
    new Set(['pool pool']),
  )
  expect(new Set(body.data.map(({ payload }) => payload.from)).size).toBe(2)
})

test('the audit log names the account of each transaction, page by page', async () => {
  const service = await startPool(2)
  await Promise.all([send(service, payment(1)), send(service, payment(2))])
  const [, further] = await accountsOf(service)
  const entries: Schemas['AuditEntry'][] = []
  const read = async (query: string) => {
    const { status, body } = await service.api<Schemas['AuditEntry'][]>(
      'GET',
      `/audit?action=sendTransaction&limit=1${query}`,
    )
    expect(status, body.error).toBe(200)
    entries.push(...body.data)
    return body.data.at(-1)?.id
  }
  await read(`&before=${encodeURIComponent((await read('')) ?? '')}`)
  expect(entries.map(({ chain }) => chain).toSorted()).toEqual([
    'relayer:pool',
    `relayer:pool/${further?.address}`,
  ])
})

test('a key that sees the relayer sees what its accounts send', async () => {
  const service = await startPool(2)
  await Promise.all([send(service, payment(1)), send(service, payment(2))])
  const { body } = await service.api<{ secret: string }>('POST', '/api-keys', {
    name: 'Limited',
    scopes: ['transactions:read', 'events:read'],
    relayers: ['pool'],
  })
  const authorization = `Bearer ${body.data.secret}`
  expect(authorization).not.toContain(API_KEY)
  const found = await service.api<{ id: string }[]>('GET', '/transactions', undefined, { authorization })
  expect(found.body.data).toHaveLength(2)
  const events = await service.api<unknown[]>('GET', '/events', undefined, { authorization })
  expect(events.body.data.length).toBeGreaterThan(1)
})

test('a relayer with open transactions of a further account is not deleted', async () => {
  const service = await startPool(2)
  await Promise.all([send(service, payment(1)), send(service, payment(2))])
  const refused = await service.api('DELETE', '/relayers/pool')
  expect(refused.body.code).toBe('relayer_has_transactions')
  await settle(service)
  // The test ends with its relayer there, because its end reads the list.
  const { body } = await service.api<Relayer>('GET', '/relayers/pool')
  expect(body.data.accounts).toHaveLength(2)
})

test.each([
  [
    'two accounts of a signer with one',
    [{ signer_id: 'seed' }, { signer_id: 'dev-0', count: 2 }],
    'accounts: ',
  ],
  ['a signer twice', [{ signer_id: 'seed' }, { signer_id: 'seed' }], 'must name each signer once'],
  ['too many', [{ signer_id: 'seed', count: 100 }, { signer_id: 'dev-0' }], 'at most 100'],
  [
    'a signer that does not exist',
    [{ signer_id: 'seed' }, { signer_id: 'nothing' }],
    'accounts: there is no signer',
    404,
  ],
])('%s are refused', async (_what, accounts, error, status = 400) => {
  const service = await startService({
    rpcUrls: [anvil.url],
    signers: [
      SEED,
      { id: 'dev-0', type: 'plain', config: { key: { type: 'plain', value: `${'0'.repeat(63)}9` } } },
    ],
    relayers: [],
  })
  onTestFinished(() => service.stop())
  const { id: _id, ...body } = POOL
  const answer = await service.api('POST', '/relayers', { ...body, name: 'Pool', accounts })
  expect([answer.status, answer.body.error]).toEqual([status, expect.stringContaining(error)])
})

test('an account belongs to one relayer, which the refusal of another one names', async () => {
  const same = { ...SEED, id: 'same', config: { ...SEED.config, index: 5 } }
  const relayer = { ...POOL, accounts: [{ signer_id: 'seed', count: 2 }] }
  const service = await startService({ rpcUrls: [anvil.url], signers: [SEED, same], relayers: [relayer] })
  onTestFinished(() => service.stop())
  const body = { ...POOL, id: 'another', name: 'Another', signer_id: 'same' }
  const refused = await service.api('POST', '/relayers', body)
  expect([refused.status, refused.body.code, refused.body.error]).toEqual([
    400,
    'account_taken',
    expect.stringContaining('is operated by relayer "pool" already.'),
  ])
})

test('a relayer that is created again lists what its accounts sent before', async () => {
  const other = { ...SEED, id: 'other', config: { ...SEED.config, index: 7 } }
  const service = await startService({ rpcUrls: [anvil.url], signers: [other], relayers: [] })
  onTestFinished(() => service.stop())
  const body = { ...POOL, id: 'again', name: 'Again', signer_id: 'other' }
  const list = '/relayers/again/transactions'
  const created = await service.api('POST', '/relayers', {
    ...body,
    accounts: [{ signer_id: 'other', count: 2 }],
  })
  expect(created.status, created.body.error).toBe(201)
  const listed = async () => (await service.api<{ id: string; status: string }[]>('GET', list)).body.data
  for (const value of [1, 2]) await service.api('POST', list, payment(value))
  const before = await until(
    async () => {
      await anvil.rpc('evm_mine')
      return listed()
    },
    (all) => all.length === 2 && all.every(({ status }) => status === 'confirmed'),
  )
  expect((await service.api('DELETE', '/relayers/again')).status).toBe(200)
  expect((await service.api('POST', '/relayers', body)).status).toBe(201)
  expect((await listed()).map(({ id }) => id)).toEqual(before.map(({ id }) => id))
})
