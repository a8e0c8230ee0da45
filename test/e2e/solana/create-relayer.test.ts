import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import {
  addressOf,
  RECEIVER,
  SOL,
  type SolanaScenario,
  seedOf,
  startSolanaScenario,
  transferBetween,
} from '../../support/solana-scenario.ts'
import { until } from '../../support/until.ts'

let story: SolanaScenario

beforeAll(async () => {
  const plain = (id: string) => ({
    id,
    type: 'plain',
    config: { key: { type: 'plain', value: Buffer.from(seedOf(id)).toString('hex') } },
  })
  story = await startSolanaScenario({
    signers: [plain('main'), plain('new')],
    env: { RELAYER_ALLOW_PRIVATE_URLS: 'true' },
  })
})
afterAll(() => story.stop())

const BODY = { id: 'new', name: 'New', network: 'local', network_type: 'solana', signer_id: 'new' }
const create = (more: object) =>
  story.service.api<Schemas['Relayer']>('POST', '/relayers', { ...BODY, ...more })

describe('a Solana relayer', () => {
  test('is refused with accounts that are both allowed and forbidden', async () => {
    const { body } = await create({
      policies: { allowed_accounts: [RECEIVER], disallowed_accounts: [RECEIVER] },
    })
    expect(body).toMatchObject({
      code: 'invalid_request',
      error: expect.stringMatching(/^body.policies has both/),
    })
  })

  test('with endpoints of another cluster is refused', async () => {
    const { body } = await create({ network: 'devnet', custom_rpc_urls: [{ url: story.solana.url }] })
    expect(body).toMatchObject({ code: 'wrong_chain', error: expect.stringMatching(/genesis hash/) })
  })

  test('is created, and its transactions are included', async () => {
    story.solana.airdrop(addressOf('new'), SOL)
    story.solana.tick()
    const { status, body } = await create({
      policies: { max_allowed_fee_lamports: '50000', max_signatures: 2 },
    })
    expect(status).toBe(201)
    expect(body.data).toMatchObject({
      address: addressOf('new'),
      policies: { max_allowed_fee_lamports: 50_000, max_signatures: 2 },
    })
    const path = '/relayers/new/transactions'
    const sent = await story.service.api(
      'POST',
      path,
      transferBetween(addressOf('new'), RECEIVER, 1_000_000n),
    )
    expect(sent.body.error).toBeUndefined()
    await until(
      async () => {
        story.solana.tick()
        return (await story.service.api('GET', `${path}/${sent.body.data.id}`)).body.data
      },
      (seen) => seen.status === 'confirmed',
    )
  })

  test('tells its balance, and no nonce', async () => {
    const { body } = await story.service.api<Schemas['RelayerStatus']>('GET', '/relayers/new/status')
    // The head is there as soon as a node has told one.
    const { network_head: _head, ...state } = body.data
    expect(Object.keys(state).sort()).toEqual([
      'balance',
      'last_confirmed_transaction_timestamp',
      'network_type',
      'paused',
      'pending_transactions_count',
      'system_disabled',
    ])
    const balance = await story.service.api<Schemas['RelayerBalance']>('GET', '/relayers/new/balance')
    expect(balance.body.data).toEqual({ balance: Number(body.data.balance), unit: 'lamport' })
  })
})
