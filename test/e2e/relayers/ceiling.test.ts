import { rm } from 'node:fs/promises'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createLogger } from '../../../src/log.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { createDataDir } from '../../support/data-dir.ts'
import { type Answer, DEV_ADDRESSES, RECEIVER, type Service, startService } from '../../support/service.ts'
import { create, onAnvil, type Relayer, refusalOf, signersWith } from './site.ts'

const FILE = {
  gas_price_cap: 100,
  min_balance: 10,
  whitelist_receivers: [RECEIVER, DEV_ADDRESSES[0]],
  allowed_rpc_methods: ['eth_chainId', 'eth_sendRawTransaction'],
}

let anvil: Anvil
let service: Service

const relayer = (id: string, signer_id: string, more: object = {}) => ({
  id,
  name: id,
  network: 'anvil',
  network_type: 'evm',
  signer_id,
  ...more,
})
const OPTIONS = {
  ...signersWith('a', 'b', 'c', 'd', 'spare'),
  relayers: [
    relayer('limited', 'a', { policies: FILE }),
    relayer('free', 'b', { policies: FILE, api_may_relax: true }),
    relayer('silent', 'c'),
    relayer('gone', 'd', { policies: { gas_price_cap: 100 } }),
  ],
  network: { extra_rpc_methods: ['debug_traceTransaction'] },
}

beforeAll(async () => {
  anvil = await startAnvil({})
  service = await startService({ rpcUrls: [anvil.url], ...OPTIONS })
})
afterAll(async () => {
  await service.stop()
  await anvil.stop()
})

const patch = (id: string, policies: object | null, more: object = {}): Promise<Answer<Relayer>> =>
  service.api<Relayer>('PATCH', `/relayers/${id}`, { policies, ...more })
const policiesOf = async (id: string, at = service) =>
  (await at.api<Relayer>('GET', `/relayers/${id}`)).body.data.policies
const inFile = { ...FILE, whitelist_receivers: FILE.whitelist_receivers.map((one) => one.toLowerCase()) }

describe('the policies of the file are a ceiling', () => {
  test.each<[object, RegExp]>([
    [{ gas_price_cap: 101 }, /^policies\.gas_price_cap: .*at most 100 is/],
    [{ min_balance: 9 }, /^policies\.min_balance: .*at least 10 is/],
    [{ whitelist_receivers: [RECEIVER, `0x${'11'.repeat(20)}`] }, /^policies\.whitelist_receivers: .*0x3c44/],
    [{ allowed_rpc_methods: ['eth_call'] }, /^policies\.allowed_rpc_methods: .*eth_chainId/],
  ])('%j relaxes them and is refused', async (policies, error) => {
    expect(refusalOf(await patch('limited', policies))).toEqual({
      status: 400,
      code: 'policy_beyond_ceiling',
      error: expect.stringMatching(error),
    })
    expect(await policiesOf('limited')).toEqual(inFile)
  })

  test('a policy that is stricter, or does not limit, can be set by callers', async () => {
    const stricter = {
      gas_price_cap: 99,
      min_balance: 11,
      whitelist_receivers: [],
      allowed_rpc_methods: ['eth_chainId'],
      gas_limit_estimation: false,
    }
    expect((await patch('limited', stricter)).body.data.policies).toEqual(stricter)
    expect((await patch('limited', { gas_price_cap: null, min_balance: 10 })).body.data.policies).toEqual({
      ...stricter,
      gas_price_cap: 100,
      min_balance: 10,
    })
    expect((await patch('limited', null)).body.data.policies).toEqual(inFile)
  })

  test('a policy may be relaxed if the file says api_may_relax, and null means the file even then', async () => {
    const relaxed = { ...inFile, gas_price_cap: 101, allowed_rpc_methods: ['eth_accounts'] }
    expect((await patch('free', relaxed)).body.data.policies).toEqual(relaxed)
    expect((await patch('free', null)).body.data.policies).toEqual(inFile)
  })

  test('a relayer with the same account that a caller creates later is below it, too', async () => {
    expect((await service.api('DELETE', '/relayers/gone')).status).toBe(200)
    const again = (policies: object) => create(service, onAnvil('d', { id: 'again', policies }))
    expect(refusalOf(await again({}))).toMatchObject({ code: 'policy_beyond_ceiling' })
    expect((await again({ gas_price_cap: 100 })).status).toBe(201)
    expect(refusalOf(await patch('again', { gas_price_cap: 101 }))).toMatchObject({ status: 400 })
  })
})

test('the ceiling of an account is that of every relayer which has it among several', async () => {
  await service.api('DELETE', '/relayers/again')
  onTestFinished(async () => {
    await service.api('DELETE', '/relayers/several')
  })
  const accounts = [{ signer_id: 'spare' }, { signer_id: 'd' }]
  const several = (policies: object) =>
    create(service, onAnvil('spare', { id: 'several', accounts, policies }))
  expect(refusalOf(await several({ gas_price_cap: 101 }))).toMatchObject({ code: 'policy_beyond_ceiling' })
  expect((await several({ gas_price_cap: 99 })).status).toBe(201)
  expect(refusalOf(await patch('several', { gas_price_cap: 101 }))).toMatchObject({
    code: 'policy_beyond_ceiling',
  })
  expect(
    (await patch('several', { gas_price_cap: 101 }, { accounts: [{ signer_id: 'spare' }] })).status,
  ).toBe(200)
})

describe('the methods that callers may let a relayer pass on', () => {
  const ask = (id: string, method: string) =>
    fetch(`${service.url}/api/v1/relayers/${id}/rpc`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer an-api-key-for-tests-that-is-long-enough',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ method, params: [] }),
    }).then((answer) => answer.json())

  test('to the endpoints of the operator are those that read, and those that the network names', async () => {
    for (const id of ['silent', 'api']) {
      if (id === 'api') expect((await create(service, onAnvil('spare', { id }))).status).toBe(201)
      expect(
        refusalOf(await patch(id, { allowed_rpc_methods: ['eth_call', 'eth_sendTransaction'] })),
      ).toEqual({
        status: 400,
        code: 'policy_beyond_ceiling',
        error: expect.stringMatching(/^policies\.allowed_rpc_methods: eth_sendTransaction .*eth_call/),
      })
      const allowed = { allowed_rpc_methods: ['eth_call', 'debug_traceTransaction'] }
      expect((await patch(id, allowed)).body.data.policies).toEqual(allowed)
      expect(await ask(id, 'debug_traceTransaction')).not.toMatchObject({ error: { code: -32601 } })
    }
  })

  test('to endpoints of their own are any, and the other endpoints do not come back with them', async () => {
    const own = { custom_rpc_urls: [{ url: anvil.url }] }
    const methods = { allowed_rpc_methods: ['eth_accounts'] }
    expect((await patch('silent', methods, own)).body.data.policies).toEqual(methods)
    const back = await service.api('PATCH', '/relayers/silent', { custom_rpc_urls: null })
    expect(refusalOf(back)).toMatchObject({ status: 400, code: 'policy_beyond_ceiling' })
    expect((await patch('silent', null, { custom_rpc_urls: null })).body.data.policies).toEqual({})
  })
})

test('a start lowers what was relaxed while the file allowed it', async () => {
  const dataDir = await createDataDir()
  onTestFinished(() => rm(dataDir, { recursive: true }))
  const before = await startService({ rpcUrls: [anvil.url], dataDir, ...OPTIONS })
  const relaxed = { ...FILE, gas_price_cap: 1_000, min_balance: 11, allowed_rpc_methods: ['eth_accounts'] }
  expect((await before.api('PATCH', '/relayers/free', { policies: relaxed })).status).toBe(200)
  await before.stop()
  const lines = new PassThrough()
  const after = await startService({
    rpcUrls: [anvil.url],
    dataDir,
    ...OPTIONS,
    relayers: OPTIONS.relayers.map((one) => ({ ...one, api_may_relax: false })),
    log: createLogger({ level: 'warn' }, lines),
  })
  onTestFinished(after.stop)
  expect(await policiesOf('free', after)).toEqual({ ...inFile, min_balance: 11 })
  const warning = String(lines.read())
    .split('\n')
    .find((line) => line.includes('policies lowered'))
  expect(JSON.parse(warning ?? '{}')).toMatchObject({
    relayer: 'free',
    policies: ['gas_price_cap', 'allowed_rpc_methods'],
  })
})
