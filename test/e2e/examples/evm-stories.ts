import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { type AdjustableClock, createAdjustableClock } from '../../support/clock.ts'
import { startPrivateEndpoint } from '../../support/private-endpoint.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import {
  DEV_KEYS,
  plainSigner,
  RECEIVER,
  type Service,
  startService,
  type Transaction,
} from '../../support/service.ts'
import { until } from '../../support/until.ts'
import type { Heard } from './heard.ts'

const GWEI = 1_000_000_000
const ALL = '/relayers/local-1/transactions'

/** No one listens on this port. */
const DEAD_URL = 'http://127.0.0.1:9'

const EMPTY_KEY = '11'.repeat(32)
const SPARE_KEY = '22'.repeat(32)

interface Stage {
  readonly heard: Heard
  readonly anvil: Anvil
  readonly clock: AdjustableClock
  readonly receiver: Receiver
  /** Its answers are heard. */
  readonly service: Service
}

/** Lets a service on anvil say what the examples of EVM let it say. */
export async function playOnEvm(heard: Heard): Promise<void> {
  const anvil = await startAnvil({ args: ['--no-mining'] })
  const beginning = await anvil.rpc<string>('evm_snapshot')
  const receiver = await startReceiver()
  receiver.behave(() => 503)
  const clock = createAdjustableClock()
  const service = await startService({ rpcUrls: [anvil.url], clock, ...configuration(receiver) })
  const stage: Stage = { heard, anvil, clock, receiver, service: heard.listen(service) }
  try {
    await refuseBodies(stage)
    await refuseRecords(stage)
    await failToReach(stage)
    await overspend(stage)
    await askForApproval(stage)
    await schedule(stage)
    await replaceAndCancel(stage)
    await standStill(stage)
    await keepPrivate(stage)
    await beDisabled(stage)
    await runLow(stage)
    await losesItsChain(stage, beginning)
    for (const { body } of receiver.received) heard.hear(body)
  } finally {
    await service.stop()
    await receiver.stop()
    await anvil.stop()
  }
}

function configuration({ url }: Receiver) {
  const onAnvil = { network: 'anvil', network_type: 'evm' }
  return {
    notificationUrl: url,
    networks: [
      {
        type: 'evm',
        network: 'sepolia',
        chain_id: 11155111,
        symbol: 'ETH',
        average_blocktime_ms: 12000,
        required_confirmations: 6,
        rpc_urls: [DEAD_URL],
      },
    ],
    signers: [
      plainSigner('dev', DEV_KEYS[0]),
      plainSigner('dev-2', EMPTY_KEY),
      plainSigner('dev-3', SPARE_KEY),
    ],
    relayers: [
      {
        id: 'local-1',
        name: 'Local',
        signer_id: 'dev',
        notification_id: 'ops',
        policies: { private_fallback_blocks: 2 },
        ...onAnvil,
      },
      { id: 'local-2', name: 'Second', signer_id: 'dev-2', notification_id: 'ops', ...onAnvil },
      { id: 'far', name: 'Far', signer_id: 'dev', network: 'sepolia', network_type: 'evm' },
    ],
    env: { RELAYER_MAX_IN_FLIGHT: '1', RELAYER_ALLOW_PRIVATE_URLS: 'true' },
  }
}

/** Requests that are refused whatever the service holds. */
async function refuseBodies({ heard, service }: Stage): Promise<void> {
  const url = `${service.url}/api/v1/relayers`
  await heard.fetch(url)
  await heard.fetch(url, { authorization: 'Bearer another-key' })
  await heard.fetch(new URL('/api/v1/events/stream?ticket=another-ticket', url).href)
  await service.api('POST', ALL, { to: RECEIVER, value: -1 })
  await service.api('POST', ALL, '{"value":')
  await service.api('POST', ALL, { value: 0, data: REVERTS })
  await heard.fetchAuthorized(`${url}/local-9`)
  await heard.fetchAuthorized(`${url}/local-1/transactions/0d9ad9d8-3f39-4a39-9a4b-6a8e2c6d1a11`)
  await service.api('POST', '/relayers/local-1/rpc', {
    id: 1,
    method: 'eth_sendRawTransaction',
    params: ['0x'],
  })
  await service.api('PATCH', '/relayers/local-1', { policies: { wallet_rpc: true } })
  await service.api('POST', '/relayers/local-1/rpc', {
    id: 1,
    method: 'eth_sendTransaction',
    params: [{ to: RECEIVER, value: '0x1', nonce: '0x7' }],
  })
  await service.api('POST', '/relayers/local-1/sign-typed-data', {
    domain: { name: 'USD Coin', chainId: 1 },
    types: { Permit: [{ name: 'value', type: 'uint256' }] },
    primaryType: 'Permit',
    message: { value: 1 },
  })
  await service.api('POST', '/relayers/local-1/sign-authorization-entry', { preimage_xdr: 'AAAA' })
}

/** Records that contradict others. */
async function refuseRecords({ service, anvil }: Stage): Promise<void> {
  const relayer = { name: 'Payouts', network: 'anvil', network_type: 'evm', signer_id: 'dev' }
  await service.api('POST', '/relayers', { ...relayer, signer_id: 'dev-9' })
  await service.api('POST', '/relayers', relayer)
  const elsewhere = { ...relayer, network: 'sepolia', signer_id: 'dev-3' }
  await service.api('POST', '/relayers', { ...elsewhere, custom_rpc_urls: [{ url: anvil.url }] })
  await service.api('POST', '/notifications', { id: 'ops', url: 'https://example.com/hook' })
}

/** A network that no one answers for. */
async function failToReach({ service }: Stage): Promise<void> {
  await service.api('GET', '/relayers/far/status')
  const relayer = { name: 'Payouts', network: 'sepolia', network_type: 'evm', signer_id: 'dev-3' }
  await service.api('POST', '/relayers', { ...relayer, custom_rpc_urls: [{ url: DEAD_URL }] })
}

/** A key that may not spend what it asks for. */
async function overspend({ service }: Stage): Promise<void> {
  const issued = await service.api<{ secret: string }>('POST', '/api-keys', {
    id: 'payouts',
    name: 'Payouts',
    scopes: ['transactions:write'],
    rules: { limits: [{ per: 'day', value: '1' }] },
  })
  const authorization = `Bearer ${issued.body.data.secret}`
  for (const path of [ALL, `${ALL}?dry_run=true`])
    await service.api('POST', path, { to: RECEIVER, value: 2 }, { authorization })
}

/** A payment for later: an operator says too early that it was made, and it is taken back. */
async function schedule({ service, clock }: Stage): Promise<void> {
  const valid_from = new Date(clock.now() + 3_600_000).toISOString()
  const { body } = await service.api('POST', ALL, { to: RECEIVER, value: 1, valid_from })
  const decision = { transaction_id: body.data.id, included: true, reason: 'Paid after the backup.' }
  await service.api('POST', `${ALL}/decisions`, { decisions: [decision] })
  await service.api('DELETE', `${ALL}/${body.data.id}`)
}

/** Payments that a second person decides about. */
async function askForApproval({ service }: Stage): Promise<void> {
  const secretOf = async (path: string, body: object) => {
    const answer = await service.api<{ secret: string }>('POST', path, body)
    return { authorization: `Bearer ${answer.body.data.secret}` }
  }
  const scopes = ['transactions:write', 'transactions:read', 'transactions:approve']
  const rules = { require_approval: { above: [{ value: '1000' }], new_receivers: true } }
  await service.api('PATCH', '/api-keys/payouts', { scopes, rules })
  const sender = await secretOf('/api-keys/payouts/rotate', {})
  const payments = await secretOf('/api-keys', {
    id: 'payments',
    name: 'Payments',
    scopes: scopes.slice(0, 2),
  })
  const treasurer = await secretOf('/api-keys', { id: 'treasurer', name: 'Treasurer', scopes })
  const send = async (headers?: Record<string, string>) =>
    `${ALL}/${(await service.api('POST', ALL, { to: RECEIVER, value: 5_000 }, headers)).body.data.id}/approval`
  const refuse = { decision: 'refuse', reason: 'The supplier does not know this account.' }
  const ofSender = await send(sender)
  await service.api('GET', '/roles')
  await service.api('GET', '/approvals?state=waiting')
  await service.api('POST', ofSender, { decision: 'approve' }, sender)
  await service.api('POST', ofSender, refuse, payments)
  await service.api('POST', ofSender, refuse, treasurer)
  await service.api('POST', ofSender, { decision: 'approve' })
  await service.api('PATCH', '/relayers/local-1', { policies: { rules: { require_approval: {} } } })
  const ofRoot = await send()
  await service.api('POST', ofRoot, refuse, treasurer)
  await service.api('GET', ofRoot)
  await service.api('PATCH', '/relayers/local-1', { policies: { rules: null } })
}

/** One transaction in flight, and another that waits for it. */
async function replaceAndCancel({ service, anvil, clock }: Stage): Promise<void> {
  const key = { 'Idempotency-Key': 'one' }
  const request = { to: RECEIVER, value: 1, speed: 'safeLow' }
  const { id } = (await service.api('POST', ALL, request, key)).body.data
  await reach(service, id, 'submitted')
  await service.api('POST', ALL, { ...request, value: 2 }, key)
  await service.api('POST', `${ALL}/batch`, { transactions: [{ ...request, idempotency_key: 'one' }] })
  const low = { max_fee_per_gas: GWEI, max_priority_fee_per_gas: GWEI }
  await service.api('PUT', `${ALL}/${id}`, { to: RECEIVER, value: 2, ...low })
  const waiting = (await service.api('POST', ALL, { to: RECEIVER, value: 3 })).body.data
  await service.api('DELETE', `${ALL}/${waiting.id}`)
  await anvil.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${(50 * GWEI).toString(16)}`])
  await anvil.rpc('evm_mine')
  // The service looks at the market again.
  clock.advance(15_000)
  await service.api('GET', `${ALL}/${id}/diagnosis`)
  const high = { max_fee_per_gas: 200 * GWEI, max_priority_fee_per_gas: 30 * GWEI }
  await service.api('PUT', `${ALL}/${id}`, { to: RECEIVER, value: 2, ...high })
  await service.api('PUT', `${ALL}/${id}`, { to: RECEIVER, value: 2, speed: 'safeLow' })
  await reach(service, id, 'confirmed', () => anvil.rpc('evm_mine'))
  await service.api('PUT', `${ALL}/${id}`, { to: RECEIVER, value: 2 })
  const unwanted = (await service.api('POST', ALL, { to: RECEIVER, value: 4 })).body.data
  await reach(service, unwanted.id, 'submitted')
  await service.api('DELETE', `${ALL}/${unwanted.id}`)
  await reach(service, unwanted.id, 'canceled', () => anvil.rpc('evm_mine'))
}

/** A network that makes no block for as long as the transaction waits. */
async function standStill({ service, anvil, clock }: Stage): Promise<void> {
  const { id } = (await service.api('POST', ALL, { to: RECEIVER, value: 4 })).body.data
  await reach(service, id, 'submitted')
  await until(
    () => {
      clock.advance(5_000)
      return service.api<{ findings: { code: string }[] }>('GET', `${ALL}/${id}/diagnosis`)
    },
    ({ body }) => body.data.findings[0]?.code === 'chain_halted',
  )
  await reach(service, id, 'confirmed', () => anvil.rpc('evm_mine'))
}

/** A private transaction that its endpoint does not get included. */
async function keepPrivate({ service, anvil }: Stage): Promise<void> {
  const setPrivate = (isPrivate: boolean) =>
    service.api('PATCH', '/relayers/local-1', { policies: { private_transactions: isPrivate } })
  await setPrivate(true)
  const endpoint = await startPrivateEndpoint()
  try {
    await service.api('PATCH', '/networks/evm:anvil', { private_rpc_urls: [endpoint.url] })
    await setPrivate(true)
    const { id } = (await service.api('POST', ALL, { to: RECEIVER, value: 1 })).body.data
    await reach(service, id, 'submitted')
    await anvil.rpc('anvil_mine', ['0x2'])
    await until(
      async () => (await service.api('GET', `${ALL}/${id}`)).body.data,
      (seen) => 'made_public_at' in seen,
    )
    await service.api('GET', `${ALL}/${id}/diagnosis`)
    await reach(service, id, 'confirmed', () => anvil.rpc('evm_mine'))
    await setPrivate(false)
  } finally {
    await endpoint.stop()
  }
}

/** A relayer without money, and what the service tells of it. */
async function beDisabled({ heard, service, clock, receiver }: Stage): Promise<void> {
  await service.api('GET', '/relayers')
  clock.advance(2_000)
  await heard.fetch(`${service.url}/api/v1/ready`)
  await receiver.arrived(1)
  await until(
    () => service.api<{ error?: string }[]>('GET', '/notifications/ops/deliveries'),
    ({ body }) => body.data.some(({ error }) => error !== undefined),
  )
}

/** An account with too little, until it has enough. */
async function runLow({ service, anvil, clock }: Stage): Promise<void> {
  const { body } = await service.api<{ address: string }>('PATCH', '/relayers/local-2', {
    policies: { warn_balance: '1000' },
  })
  const isLow = async () => {
    clock.advance(5_000)
    const alerts = await service.api<{ alert: string }[]>('GET', '/alerts')
    return alerts.body.data.some(({ alert }) => alert === 'balance_low')
  }
  await until(isLow, (low) => low)
  await anvil.rpc('anvil_setBalance', [body.data.address, '0x1388'])
  await until(isLow, (low) => !low)
  await service.api('GET', '/events?type=alert')
}

/** The chain begins again after its first block, so nonces that were used are unused. */
async function losesItsChain({ service, anvil, clock }: Stage, beginning: string): Promise<void> {
  await anvil.rpc('evm_revert', [beginning])
  await until(
    () => {
      clock.advance(5_000)
      return service.api<{ disabled_reason?: { type: string } }>('GET', '/relayers/local-1')
    },
    ({ body }) => body.data.disabled_reason?.type === 'NonceSyncFailed',
  )
}

function reach(
  service: Service,
  id: string,
  status: Transaction['status'],
  meanwhile: () => Promise<unknown> = async () => {},
): Promise<unknown> {
  return until(
    async () => {
      await meanwhile()
      return service.api('GET', `${ALL}/${id}`)
    },
    ({ body }) => body.data.status === status,
  )
}

/** Creation code that ends with Error("no!"). */
const REVERTS = `0x6064600c60003960646000fd${[
  '08c379a0',
  '20'.padStart(64, '0'),
  '3'.padStart(64, '0'),
  '6e6f21'.padEnd(64, '0'),
].join('')}`
