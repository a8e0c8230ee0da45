import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { createLogger } from '../../../src/log.ts'
import { type Anvil, ON_ANVIL, startAnvil } from '../../support/anvil.ts'
import { RECEIVER, type Service, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { issue, post } from './wallet-site.ts'

/** The phrase of anvil's own accounts, which have money on its chain and nowhere else. */
const PHRASE = 'test test test test test test test test test test test junk'
const BUCKET = { RATE_LIMIT_REQUESTS_PER_SECOND: '1', RATE_LIMIT_BURST_SIZE: '100' }
const PAYMENT = { to: RECEIVER, value: '0x1' }
const ALL = '/relayers/pool/transactions'

const lines = new PassThrough()
let anvil: Anvil
let service: Service

/** A wallet with three accounts, whose callers may not ask nodes for receipts. */
beforeAll(async () => {
  anvil = await startAnvil()
  service = await startService({
    rpcUrls: [anvil.url],
    signers: [{ id: 'seed', type: 'mnemonic', config: { mnemonic: { type: 'plain', value: PHRASE } } }],
    relayers: [
      {
        id: 'pool',
        name: 'Pool',
        signer_id: 'seed',
        ...ON_ANVIL,
        policies: { wallet_rpc: true, allowed_rpc_methods: ['eth_chainId'] },
        accounts: [{ signer_id: 'seed', count: 3 }],
      },
    ],
    env: BUCKET,
    log: createLogger({ level: 'info' }, lines),
  })
}, 60_000)
afterAll(async () => {
  await service.stop()
  await anvil.stop()
})

async function ask(secret: string, method: string, ...params: unknown[]) {
  const reply = await post(service, { id: 1, method, params }, { secret, relayer: 'pool' })
  if (reply.error) throw new Error(`${reply.error.code} ${reply.error.message}`)
  return reply.result
}

const bundleOf = (count: number) => ({
  version: '2.0.0',
  chainId: '0x7a69',
  atomicRequired: false,
  calls: Array.from({ length: count }, () => PAYMENT),
})

test('a wallet sends from the account of its relayer, whichever others it has, and finds its bundle', async () => {
  const secret = await issue(service, { scopes: ['rpc', 'transactions:write', 'transactions:read'] })
  for (let count = 0; count < 4; count += 1) await ask(secret, 'eth_sendTransaction', PAYMENT)
  const bundle = await ask(secret, 'wallet_sendCalls', bundleOf(4))
  const { body } = await service.api<Schemas['Transaction'][]>('GET', ALL)
  const relayer = await service.api<Schemas['EvmRelayer']>('GET', '/relayers/pool')
  expect(relayer.body.data.accounts).toHaveLength(3)
  expect(body.data.map(({ from }) => from)).toEqual(Array(8).fill(relayer.body.data.address))
  // The policy is for callers: the bundle has receipts all the same.
  const shown = await until(
    () => ask(secret, 'wallet_getCallsStatus', (bundle as { id: string }).id),
    (answer) => (answer as { status: number }).status === 200,
  )
  expect(shown).toMatchObject({ receipts: Array(4).fill({ status: '0x1' }) })
})

test('eth_sendRawTransaction is for callers who may send, also without the right to read', async () => {
  const secret = await issue(service, { scopes: ['rpc', 'transactions:write'] })
  const hash = await ask(secret, 'eth_sendTransaction', PAYMENT)
  const raw = await until(
    () => anvil.rpc<string | null>('eth_getRawTransactionByHash', [hash]),
    (bytes) => bytes !== null,
  )
  expect(await ask(secret, 'eth_sendRawTransaction', raw)).toBe(hash)
})

test('what a wallet does for a call counts as one request: its units, its line in the log, its audit entry', async () => {
  const secret = await issue(service, { scopes: ['rpc', 'transactions:write', 'sign'] })
  const audited = async () => (await service.api<Schemas['AuditEntry'][]>('GET', '/audit?limit=10')).body.data
  const [newest] = await audited()
  lines.read()
  const quota = await fetch(`${service.url}/api/v1/relayers/pool/rpc`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify([
      { id: 1, method: 'eth_sendTransaction', params: [PAYMENT] },
      { id: 2, method: 'wallet_sendCalls', params: [bundleOf(3)] },
      { id: 3, method: 'eth_accounts' },
    ]),
  })
  expect((await quota.json()) as object[]).toMatchObject([{ id: 1 }, { id: 2 }, { id: 3 }])
  // One unit for each call, and for each call of the bundle.
  expect(quota.headers.get('ratelimit')).toContain('r=95;')
  const logged = String(lines.read() ?? '')
    .split('\n')
    .filter((line) => line.includes('"msg":"request"'))
  expect(logged).toHaveLength(1)
  const entries = await audited()
  const further = entries.slice(
    0,
    entries.findIndex(({ id }) => id === newest?.id),
  )
  expect(further.map(({ action }) => action)).toEqual(Array(4).fill('sendTransaction'))
})
