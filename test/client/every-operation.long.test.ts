import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { preimageOf, tokenTransfer } from '../../simulators/stellar/transaction/authorization.ts'
import { loadContract } from '../../src/contract/document.ts'
import { type EveryKind, startEveryKind } from '../support/every-kind.ts'
import { RECEIVER } from '../support/service.ts'
import { MAIN as STELLAR_KEY } from '../support/stellar-scenario.ts'
import { until } from '../support/until.ts'
import { type Called, createContractClient } from './contract-client.ts'

const { operations, document } = await loadContract()
const { version } = document.info as { readonly version: string }
const called: Called[] = []
let world: EveryKind
let client: ReturnType<typeof createContractClient>

beforeAll(async () => {
  const path = join(import.meta.dirname, '../e2e/plugins/fixtures/every-thing.ts')
  const plugins = [{ id: 'echo', path, allow_get_invocation: true }]
  world = await startEveryKind({ anvil: { args: ['--no-mining'] }, plugins })
  client = createContractClient(world.service.url, called)
}, 60_000)
afterAll(() => world.stop())

/** The body of a success; a failure is shown as what it says. */
function bodyOf<Body>({ data, error }: { data?: Body; error?: unknown }): Body {
  if (data === undefined) throw new Error(JSON.stringify(error))
  return data
}

const STELLAR = STELLAR_KEY.publicKey()
const main = { relayer_id: 'main' }
const made = { relayer_id: 'made' }
const ops = { notification_id: 'ops' }
const hook = { notification_id: 'hook' }
/** Wei that a double cannot hold. */
const AMOUNT = 2n ** 70n + 1n

async function send(value: bigint | number) {
  const body = { to: RECEIVER, value: BigInt(value), speed: 'fast' } as const
  const answer = await client.POST('/api/v1/relayers/{relayer_id}/transactions', {
    params: { path: main },
    body,
  })
  const { data } = bodyOf(answer)
  if ('dry_run' in data) throw new Error('no one asked for a dry run')
  return { relayer_id: data.relayer_id, transaction_id: data.id }
}

const read = async (path: { relayer_id: string; transaction_id: string }) =>
  bodyOf(
    await client.GET('/api/v1/relayers/{relayer_id}/transactions/{transaction_id}', { params: { path } }),
  ).data

test('health, readiness and the version are read', async () => {
  expect(bodyOf(await client.GET('/api/v1/health', { parseAs: 'text' }))).toBe('OK')
  expect(bodyOf(await client.GET('/api/v1/ready')).ready).toBe(true)
  expect(bodyOf(await client.GET('/api/v1/version')).data).toEqual({ version })
})

test('metrics are read, all of them and one', async () => {
  const names = await client.GET('/api/v1/metrics', { headers: { accept: 'application/json' } })
  expect(bodyOf(names)).toContain('requests_total')
  const all = bodyOf(await client.GET('/api/v1/debug/metrics/scrape', { parseAs: 'text' }))
  expect(all).toContain('# TYPE requests_total counter')
  const params = { path: { metric_name: 'requests_total' } }
  const one = bodyOf(await client.GET('/api/v1/metrics/{metric_name}', { params, parseAs: 'text' }))
  expect(one).toContain('requests_total{')
  expect(one).not.toContain('# TYPE request_latency_seconds')
})

test('signers are created and read, and networks changed', async () => {
  const signer = { id: 'made', type: 'plain', config: { key: '22'.repeat(32) } } as const
  expect(bodyOf(await client.POST('/api/v1/signers', { body: signer })).data).toMatchObject({ id: 'made' })
  expect(bodyOf(await client.GET('/api/v1/signers')).data.map(({ id }) => id)).toContain('made')
  const one = await client.GET('/api/v1/signers/{signer_id}', { params: { path: { signer_id: 'made' } } })
  expect(bodyOf(one).data.id).toBe('made')

  const config = { address: 'https://vault.example.com:8200', role_id: 'role', secret_id: 'secret' }
  const key = { signer_id: 'kept', type: 'vault_transit', curve: 'secp256k1', config } as const
  expect((await client.POST('/api/v1/key-creations', { body: key })).error?.code).toBe('not_supported')
  expect(bodyOf(await client.GET('/api/v1/key-creations')).data).toEqual([])
  const kept = { params: { path: { signer_id: 'kept' } } }
  const forgotten = await client.DELETE('/api/v1/key-creations/{signer_id}', kept)
  expect(forgotten.error?.code).toBe('signer_not_found')

  const params = { path: { network_id: 'evm:hoodi' } }
  expect(bodyOf(await client.GET('/api/v1/networks')).data.map(({ id }) => id)).toContain('evm:anvil')
  expect(bodyOf(await client.GET('/api/v1/networks/{network_id}', { params })).data.chain_id).toBe(560_048)
  const body = { rpc_urls: [{ url: 'https://rpc.example/v1/key', weight: 7 }] }
  expect(bodyOf(await client.PATCH('/api/v1/networks/{network_id}', { params, body })).data.rpc_urls).toEqual(
    [{ url: 'https://rpc.example/***', weight: 7 }],
  )
  const reset = await client.POST('/api/v1/networks/{network_id}/reset', { params })
  expect(reset.error).toMatchObject({ code: 'chain_not_reset' })
})

test('notifications are created and changed, and their deliveries are read and repeated', async () => {
  const body = { id: 'hook', type: 'webhook', url: 'https://hooks.example/1' } as const
  expect(bodyOf(await client.POST('/api/v1/notifications', { body })).data.type).toBe('webhook')
  expect(bodyOf(await client.GET('/api/v1/notifications')).pagination.total_items).toBe(2)
  const params = { path: hook }
  expect(bodyOf(await client.GET('/api/v1/notifications/{notification_id}', { params })).data.id).toBe('hook')
  const change = { url: 'https://hooks.example/2' }
  const changed = await client.PATCH('/api/v1/notifications/{notification_id}', { params, body: change })
  expect(bodyOf(changed).data.url).toBe(change.url)

  const { path } = { path: ops }
  bodyOf(await client.POST('/api/v1/notifications/{notification_id}/test', { params: { path } }))
  const deliveries = await until(
    async () =>
      bodyOf(await client.GET('/api/v1/notifications/{notification_id}/deliveries', { params: { path } }))
        .data,
    (list) => list.some(({ tries }) => tries > 0),
  )
  const one = { path: { ...ops, delivery_id: deliveries[0]?.id ?? '' } }
  const of = '/api/v1/notifications/{notification_id}/deliveries/{delivery_id}' as const
  expect(bodyOf(await client.GET(of, { params: one })).data.body).toContain('notification_test')
  expect(bodyOf(await client.POST(`${of}/redeliver`, { params: one })).success).toBe(true)
  const many = await client.POST('/api/v1/notifications/{notification_id}/redeliver', {
    params: { path },
    body: { status: 'dead' },
  })
  expect(bodyOf(many).data.remaining).toBe(0)
  bodyOf(await client.POST('/api/v1/notifications/{notification_id}/pause', { params: { path } }))
  bodyOf(await client.POST('/api/v1/notifications/{notification_id}/resume', { params: { path } }))
  const signing_key = 'another-signing-key-of-32-characters'
  const rotated = await client.POST('/api/v1/notifications/{notification_id}/signing-key', {
    params: { path },
    body: { signing_key },
  })
  expect(JSON.stringify(bodyOf(rotated))).not.toContain(signing_key)
})

test('a relayer is created, read, changed and removed', async () => {
  const body = {
    id: 'made',
    name: 'Made',
    network: 'anvil',
    network_type: 'evm',
    signer_id: 'made',
    policies: { gas_price_cap: AMOUNT, min_balance: 0n },
  } as const
  const created = bodyOf(await client.POST('/api/v1/relayers', { body })).data
  expect(created).toMatchObject({ id: 'made', policies: { gas_price_cap: AMOUNT } })
  expect(bodyOf(await client.GET('/api/v1/relayers')).data.map(({ id }) => id)).toContain('made')
  const params = { path: made }
  expect(bodyOf(await client.GET('/api/v1/relayers/{relayer_id}', { params })).data).toEqual(created)
  const renamed = await client.PATCH('/api/v1/relayers/{relayer_id}', { params, body: { name: 'Renamed' } })
  expect(bodyOf(renamed).data).toEqual({ ...created, name: 'Renamed' })
  expect(bodyOf(await client.GET('/api/v1/relayers/{relayer_id}/status', { params })).data.balance).toBe('0')
  expect(bodyOf(await client.GET('/api/v1/relayers/{relayer_id}/balance', { params })).data.unit).toBe('wei')
  const accepted = await client.POST('/api/v1/relayers/{relayer_id}/accept-nonces', {
    params,
    body: { reason: 'compared with the explorer' },
  })
  expect(bodyOf(accepted).data.id).toBe('made')
  const decided = await client.POST('/api/v1/relayers/{relayer_id}/transactions/{transaction_id}/decision', {
    params: { path: { ...made, transaction_id: 'nothing' } },
    body: { included: true, reason: 'compared' },
  })
  expect([decided.response.status, decided.error?.code]).toEqual([404, 'transaction_not_found'])
  bodyOf(await client.DELETE('/api/v1/relayers/{relayer_id}', { params }))
  expect((await client.GET('/api/v1/relayers/{relayer_id}', { params })).response.status).toBe(404)
  bodyOf(await client.DELETE('/api/v1/signers/{signer_id}', { params: { path: { signer_id: 'made' } } }))
  bodyOf(await client.DELETE('/api/v1/notifications/{notification_id}', { params: { path: hook } }))
})

describe('transactions', () => {
  test('are sent, replaced, canceled and listed', async () => {
    const path = await send(AMOUNT)
    expect(await read(path)).toMatchObject({ value: String(AMOUNT) })
    await until(
      () => read(path),
      ({ status }) => status === 'submitted',
    )
    const of = '/api/v1/relayers/{relayer_id}/transactions/{transaction_id}' as const
    const replaced = await client.PUT(of, {
      params: { path },
      body: { to: RECEIVER, value: AMOUNT + 1n, speed: 'fastest' },
    })
    expect(bodyOf(replaced).data).toMatchObject({ network_type: 'evm', value: String(AMOUNT + 1n) })
    const diagnosis = await client.GET(`${of}/diagnosis`, { params: { path } })
    expect(bodyOf(diagnosis).data.transaction_id).toBe(path.transaction_id)
    const receipt = await client.GET(`${of}/receipt`, { params: { path } })
    expect(receipt.error).toMatchObject({ code: 'transaction_not_included' })
    expect(bodyOf(await client.DELETE(of, { params: { path } })).data.id).toBe(path.transaction_id)
    const query = { status: 'submitted', per_page: 5 } as const
    const listed = await client.GET('/api/v1/relayers/{relayer_id}/transactions', {
      params: { path: main, query },
    })
    expect(bodyOf(listed).data.map(({ id }) => id)).toEqual([path.transaction_id])
    const found = bodyOf(
      await client.GET('/api/v1/transactions', { params: { query: { to: RECEIVER, limit: 1 } } }),
    )
    expect(found.data.map(({ id }) => id)).toEqual([path.transaction_id])
    expect(found.pagination.next_cursor).toBe(null)
    const byNonce = await client.GET('/api/v1/relayers/{relayer_id}/transactions/by-nonce/{nonce}', {
      params: { path: { ...main, nonce: 0n } },
    })
    expect(bodyOf(byNonce).data.id).toBe(path.transaction_id)
  })

  test('are sent in a batch', async () => {
    const transactions = [1n, 2n].map((value) => ({ to: RECEIVER, value, idempotency_key: `batch-${value}` }))
    const answer = await client.POST('/api/v1/relayers/{relayer_id}/transactions/batch', {
      params: { path: main },
      body: { transactions },
    })
    expect(bodyOf(answer).data).toMatchObject([{ value: '1' }, { value: '2' }])
    const params = { path: main }
    bodyOf(await client.DELETE('/api/v1/relayers/{relayer_id}/transactions/pending', { params }))
  })

  test('that wait are decided together', async () => {
    const answer = await client.POST('/api/v1/relayers/{relayer_id}/transactions/decisions', {
      params: { path: main },
      body: { decisions: [{ transaction_id: 'unknown', included: true, reason: 'seen' }] },
    })
    expect(bodyOf(answer).data).toMatchObject({
      decided_transaction_ids: [],
      failures: [{ transaction_id: 'unknown', code: 'transaction_not_found' }],
    })
  })

  test('that wait are canceled together', async () => {
    const path = await send(1)
    const canceled = await client.DELETE('/api/v1/relayers/{relayer_id}/transactions/pending', {
      params: { path: main },
    })
    expect(bodyOf(canceled).data.queued_for_cancellation_transaction_ids).toEqual([path.transaction_id])
  })
})

test('messages are signed, and RPC calls answered', async () => {
  const params = { path: main }
  const signed = await client.POST('/api/v1/relayers/{relayer_id}/sign', {
    params,
    body: { message: 'hello' },
  })
  expect(bodyOf(signed).data.sig).toHaveLength(130)
  const hash = `0x${'ab'.repeat(32)}`
  const typed = await client.POST('/api/v1/relayers/{relayer_id}/sign-typed-data', {
    params,
    body: { domain_separator: hash, hash_struct_message: hash },
  })
  expect(bodyOf(typed).data.v).toBeGreaterThan(26)
  const transaction = await client.POST('/api/v1/relayers/{relayer_id}/sign-transaction', {
    params,
    body: { to: RECEIVER, value: AMOUNT, nonce: 7n, gas_limit: 21_000n, gas_price: 2_000_000_000n },
  })
  expect(bodyOf(transaction).data).toMatchObject({ hash: expect.stringMatching(/^0x[0-9a-f]{64}$/) })
  const answer = await client.POST('/api/v1/relayers/{relayer_id}/rpc', {
    params,
    body: { jsonrpc: '2.0', method: 'eth_chainId', params: [], id: 1 },
  })
  expect(bodyOf(answer)).toMatchObject({ id: 1, result: '0x7a69' })
})

test('an authorization entry is signed on Stellar alone', async () => {
  const { ledger } = world
  const root = tokenTransfer({ token: ledger.nativeContract, from: STELLAR, to: STELLAR, amount: 1n })
  const expirationLedger = (ledger.ledgers.at(-1)?.sequence ?? 0) + 100
  const body = { preimage_xdr: preimageOf({ passphrase: ledger.passphrase, root, expirationLedger }) }
  const sign = (relayer_id: string) =>
    client.POST('/api/v1/relayers/{relayer_id}/sign-authorization-entry', {
      params: { path: { relayer_id } },
      body,
    })
  expect(bodyOf(await sign('stellar')).data).toMatchObject({ v: 0, public_key: STELLAR })
  for (const other of ['main', 'solana'])
    expect(await sign(other)).toMatchObject({
      error: { code: 'not_supported', error: expect.stringContaining('they are for stellar.') },
    })
})

test('alerts are listed', async () => {
  expect(bodyOf(await client.GET('/api/v1/alerts')).data).toEqual([])
})

test('events are read as a log and as a stream', async () => {
  const { data } = bodyOf(await client.GET('/api/v1/events', { params: { query: { relayer_id: 'main' } } }))
  expect(data.length).toBeGreaterThan(0)
  const stream = await client.GET('/api/v1/events/stream', {
    params: { query: { after: '0', duration: 0 } },
    parseAs: 'text',
  })
  expect(bodyOf(stream)).toContain(`id: ${data[0]?.number}\nevent: `)
  const body = { relayer_id: 'main', type: 'transaction_update' } as const
  const { ticket } = bodyOf(await client.POST('/api/v1/events/stream-tickets', { body })).data
  const query = `ticket=${ticket}&after=0&duration=0`
  const asBrowser = await fetch(`${world.service.url}/api/v1/events/stream?${query}`)
  expect(await asBrowser.text()).toContain(`id: ${data[0]?.number}\nevent: `)
})

test('API keys are created, read, rotated, changed and deleted', async () => {
  expect(bodyOf(await client.GET('/api/v1/current-api-key')).data.id).toBe('root')
  const created = await client.POST('/api/v1/api-keys', {
    body: { id: 'reader', name: 'Reader', scopes: ['relayers:read'], relayers: ['main'] },
  })
  const { secret } = bodyOf(created).data
  const reader = createContractClient(world.service.url, called, secret)
  const seen = await reader.GET('/api/v1/relayers')
  expect(bodyOf(seen).data.map(({ id }) => id)).toEqual(['main'])
  const params = { path: { api_key_id: 'reader' } }
  const rotated = await client.POST('/api/v1/api-keys/{api_key_id}/rotate', { params, body: {} })
  expect(bodyOf(rotated).data.secrets).toHaveLength(2)
  const changed = await client.PATCH('/api/v1/api-keys/{api_key_id}', { params, body: { disabled: true } })
  expect(bodyOf(changed).data.disabled).toBe(true)
  expect(bodyOf(await client.GET('/api/v1/api-keys/{api_key_id}', { params })).data.name).toBe('Reader')
  expect(bodyOf(await client.GET('/api/v1/api-keys')).data.map(({ id }) => id)).toEqual([
    'plugin.echo',
    'reader',
  ])
  const limits = [{ per: 'day' as const, value: 10n }]
  await client.PATCH('/api/v1/api-keys/{api_key_id}', { params, body: { rules: { limits } } })
  const usage = await client.GET('/api/v1/api-keys/{api_key_id}/usage', { params })
  expect(bodyOf(usage).data).toEqual({ limits: [], spent: [] })
  const spent = await client.GET('/api/v1/relayers/{relayer_id}/usage', { params: { path: main } })
  expect(bodyOf(spent).data).toEqual({ limits: [], spent: [] })
  const gone = await client.DELETE('/api/v1/api-keys/{api_key_id}', { params })
  expect(bodyOf(gone).data).toBe('API key deleted successfully')
})

test('schedules are created, read, changed and deleted, and no other key has to decide about them', async () => {
  const transaction = { to: RECEIVER, value: 1n, speed: 'fast' } as const
  const created = await client.POST('/api/v1/relayers/{relayer_id}/schedules', {
    params: { path: main },
    body: { cron: '0 9 1 1 *', transaction },
  })
  const { data: schedule } = bodyOf(created)
  if ('dry_run' in schedule) throw new Error('no one asked for a dry run')
  const params = { path: { ...main, schedule_id: schedule.id } }
  const one = '/api/v1/relayers/{relayer_id}/schedules/{schedule_id}' as const
  expect(bodyOf(await client.GET(one, { params })).data.state).toBe('active')
  expect(bodyOf(await client.GET('/api/v1/schedules')).data.map(({ id }) => id)).toEqual([schedule.id])
  expect(bodyOf(await client.GET(`${one}/runs`, { params })).data).toEqual([])
  expect(bodyOf(await client.GET(`${one}/next-runs`, { params })).data.length).toBeGreaterThan(0)
  const body = { decision: 'approve', version: schedule.version } as const
  expect((await client.POST(`${one}/approval`, { params, body })).error?.code).toBe('own_approval')
  const paused = await client.PATCH(one, { params, body: { paused: true } })
  expect(bodyOf(paused).data.state).toBe('paused')
  expect((await client.DELETE(one, { params })).error).toBeUndefined()
  expect((await client.GET(one, { params })).error?.code).toBe('schedule_not_found')
})

test('roles and the sessions of people are listed, of whom none can sign in here', async () => {
  expect(bodyOf(await client.GET('/api/v1/roles')).data.map(({ name }) => name)).toContain('approver')
  expect(bodyOf(await client.GET('/api/v1/sessions')).data).toEqual([])
  const params = { path: { session_id: 'none' } }
  const gone = await client.DELETE('/api/v1/sessions/{session_id}', { params })
  expect(gone.error).toMatchObject({ code: 'session_not_found' })
  expect((await client.DELETE('/api/v1/current-session')).error).toMatchObject({ code: 'invalid_request' })
  expect(bodyOf(await client.GET('/api/v1/proposals')).data).toEqual([])
  const decided = await client.POST('/api/v1/proposals/{proposal_id}/decision', {
    params: { path: { proposal_id: 'none' } },
    body: { decision: 'refuse' },
  })
  expect(decided.error).toMatchObject({ code: 'proposal_not_found' })
})

test('plugins are read, changed and called', async () => {
  expect(bodyOf(await client.GET('/api/v1/plugins')).data.map(({ id }) => id)).toEqual(['echo'])
  const params = { path: { plugin_id: 'echo' } }
  const changed = await client.PATCH('/api/v1/plugins/{plugin_id}', { params, body: { timeout: 20 } })
  expect(bodyOf(changed).data.timeout).toBe(20)
  expect(bodyOf(await client.GET('/api/v1/plugins/{plugin_id}', { params })).data.timeout).toBe(20)
  const of = '/api/v1/plugins/{plugin_id}/call' as const
  const body = { params: { n: 1 } }
  expect(bodyOf(await client.POST(of, { params, body }))).toMatchObject({ data: { params: { n: 1 } } })
  expect(bodyOf(await client.GET(of, { params }))).toMatchObject({ data: { method: 'GET' } })
  const route = { path: { plugin_id: 'echo', route: 'kv' } }
  const found = { known: expect.anything(), removed: true, left: 1 }
  expect(bodyOf(await client.POST(`${of}/{route}`, { params: route, body }))).toEqual({
    success: true,
    data: found,
  })
  const { error, response } = await client.GET(`${of}/{route}`, {
    params: { path: { plugin_id: 'echo', route: 'no/such' } },
  })
  expect(response.status).toBe(404)
  expect(error).toMatchObject({ error: 'no route /no/such' })
})

test('approvals are read and decided', async () => {
  const scopes = ['transactions:read', 'transactions:write'] as const
  const created = await client.POST('/api/v1/api-keys', {
    body: {
      id: 'asks',
      name: 'Asks',
      scopes: [...scopes],
      rules: { require_approval: { above: [{ value: 0n }] } },
    },
  })
  const asking = createContractClient(world.service.url, called, bodyOf(created).data.secret)
  const sent = await asking.POST('/api/v1/relayers/{relayer_id}/transactions', {
    params: { path: main },
    body: { to: RECEIVER, value: AMOUNT, speed: 'fast' },
  })
  const { data } = bodyOf(sent)
  if ('dry_run' in data) throw new Error('no one asked for a dry run')
  expect(data.awaits_approval).toBe(true)
  const params = { path: { relayer_id: 'main', transaction_id: data.id } }
  const of = '/api/v1/relayers/{relayer_id}/transactions/{transaction_id}/approval' as const
  expect(bodyOf(await asking.GET(of, { params })).data.state).toBe('waiting')
  const query = { state: 'waiting' } as const
  const waiting = await client.GET('/api/v1/approvals', { params: { query } })
  expect(bodyOf(waiting).data.map(({ transaction_id }) => transaction_id)).toEqual([data.id])
  const refused = await client.POST(of, { params, body: { decision: 'refuse', reason: 'No.' } })
  expect(bodyOf(refused).data).toMatchObject({ state: 'refused', decided_by: 'root', decision_reason: 'No.' })
})

test('the ABIs of a relayer are registered, read and deleted', async () => {
  const address = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
  const one = '/api/v1/relayers/{relayer_id}/abis/{address}' as const
  const params = { path: { ...main, address } }
  const abi = [{ type: 'function', name: 'mint', inputs: [{ type: 'uint256', name: 'amount' }] }]
  const registered = await client.PUT(one, { params, body: { abi, name: 'Token' } })
  expect(bodyOf(registered).data).toMatchObject({ address, name: 'Token', function_count: 1, abi })
  expect(bodyOf(await client.GET(one, { params })).data.abi).toEqual(abi)
  const all = await client.GET('/api/v1/relayers/{relayer_id}/abis', { params: { path: main } })
  expect(bodyOf(all).data.map(({ name }) => name)).toEqual(['Token'])
  expect(bodyOf(await client.DELETE(one, { params })).data).toBe('ABI deleted successfully')
  const stellar = { path: { relayer_id: 'stellar', address } }
  expect(await client.PUT(one, { params: stellar, body: { abi } })).toMatchObject({
    error: { code: 'not_supported', error: expect.stringContaining('only contracts on evm have an ABI') },
  })
})

test('sponsored transactions are refused on EVM, which does not have them', async () => {
  const of = '/api/v1/relayers/{relayer_id}/transactions/sponsored' as const
  const content = { params: { path: main }, body: { transaction: 'AQ==', fee_token: RECEIVER } }
  for (const answer of [await client.POST(`${of}/quote`, content), await client.POST(`${of}/build`, content)])
    expect(answer).toMatchObject({ error: { code: 'not_supported' } })
})

test('the audit log is read', async () => {
  const query = { action: 'createRelayer', limit: 1 } as const
  const { data } = bodyOf(await client.GET('/api/v1/audit', { params: { query } }))
  expect(data).toMatchObject([
    { actor: 'root', target_type: 'relayer', target_id: 'made', after: { id: 'made' } },
  ])
  const before = data[0]?.id ?? ''
  const rest = await client.GET('/api/v1/audit', { params: { query: { ...query, before } } })
  expect(bodyOf(rest).data).toEqual([])
})

test('a report of the spending is read', async () => {
  const query = { from: '2026-11-01T00:00:00Z', to: '2026-11-02T00:00:00Z' }
  const activity = { from: '2020-01-01T00:00:00Z', to: '2020-01-02T00:00:00Z', by: 'relayer' } as const
  const counted = await client.GET('/api/v1/reports/activity', { params: { query: activity } })
  expect(bodyOf(counted).data.rows).toEqual([])
  expect(bodyOf(await client.GET('/api/v1/reports/spending', { params: { query } }))).toEqual({
    success: true,
    data: [],
  })
})

test('an export', async () => {
  const query = { reference: 'of-none' }
  const { data } = await client.GET('/api/v1/reports/transactions', { params: { query }, parseAs: 'text' })
  expect(data).toMatch(/^created_at,.*,transaction_id\r\n$/)
})

test('every operation of the contract was called', () => {
  const wanted = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`)
  const made = new Set(called.map(({ method, path }) => `${method} ${path}`))
  expect(wanted.filter((operation) => !made.has(operation))).toEqual([])
})
