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
import {
  keypairOf,
  MAIN,
  payment,
  type StellarScenario,
  startStellarScenario,
  XLM,
} from '../../support/stellar-scenario.ts'
import { until } from '../../support/until.ts'

describe('on Stellar', () => {
  const NEW = keypairOf('new')
  const CHANNEL = keypairOf('channel')

  let story: StellarScenario

  beforeAll(async () => {
    const plain = (id: string, value: string) => ({
      id,
      type: 'plain',
      config: { key: { type: 'plain', value } },
    })
    story = await startStellarScenario({
      signers: [plain('main', MAIN.secret()), plain('new', NEW.secret()), plain('channel', CHANNEL.secret())],
      env: { RELAYER_ALLOW_PRIVATE_URLS: 'true' },
    })
  })
  afterAll(() => story.stop())

  const BODY = { name: 'New', network: 'standalone', network_type: 'stellar', signer_id: 'new' }
  const create = (more: object) =>
    story.service.api<Schemas['Relayer']>('POST', '/relayers', { ...BODY, ...more })
  const state = async () =>
    (await story.service.api<Schemas['RelayerStatus']>('GET', '/relayers/new/status')).body

  describe('a Stellar relayer', () => {
    test.each<[string, object, string, RegExp]>([
      ['a signer twice', { channels: ['new'] }, 'invalid_request', /^channels: .*more than once/],
      [
        'an unknown signer of a channel',
        { channels: ['nobody'] },
        'signer_not_found',
        /^channels: .*"nobody"/,
      ],
      [
        'the account of another one as a channel',
        { channels: ['main'] },
        'account_taken',
        /operated by relayer "main"/,
      ],
      ['too many channels', { channels: 101 }, 'invalid_request', /^body.channels/],
      [
        'a policy of EVM',
        { policies: { gas_price_cap: 1 } },
        'invalid_request',
        /^body.policies.gas_price_cap/,
      ],
      [
        'fees that nobody pays',
        { policies: { fee_payment_strategy: 'nobody' } },
        'invalid_request',
        /expected one of user, relayer/,
      ],
    ])('is refused with %s', async (_name, more, code, error) => {
      const { body } = await create(more)
      expect(body).toMatchObject({ code, error: expect.stringMatching(error) })
    })

    test('is created with its channels, and its transactions are included', async () => {
      const { status, body } = await create({
        id: 'new',
        channels: ['channel'],
        policies: { fee_payment_strategy: 'relayer', max_fee: '5000000', concurrent_transactions: true },
        custom_rpc_urls: [{ url: story.ledger.url }],
      })
      expect(status).toBe(201)
      expect(body.data).toMatchObject({
        address: NEW.publicKey(),
        channels: [CHANNEL.publicKey()],
        policies: { max_fee: 5_000_000 },
        system_disabled: true,
        disabled_reason: { type: 'BalanceCheckFailed' },
      })
      expect((await state()).metadata?.logs.map(({ message }) => message)).toEqual([
        `The nonce is not known: Account ${NEW.publicKey()} does not exist on the ledger; the first payment to it creates it.`,
      ])
      expect((await state()).data).toMatchObject({ balance: '0' })

      story.ledger.fund(NEW.publicKey(), 100n * XLM)
      // Looked at again because of the change, and not a while later.
      const policies = { min_balance: 1 }
      const changed = await story.service.api('PATCH', '/relayers/new', { policies })
      expect(changed.body.data).toMatchObject({ system_disabled: false })
      const path = '/relayers/new/transactions'
      const sent = await story.service.api('POST', path, payment(5))
      expect(sent.status).toBe(200)
      await until(
        async () => {
          story.ledger.close()
          return (await story.service.api('GET', `${path}/${sent.body.data.id}`)).body.data
        },
        (seen) => seen.status === 'confirmed',
      )
    })

    test('tells its sequence number and its balance', async () => {
      const { sequence } = story.ledger.account(NEW.publicKey()) ?? {}
      expect((await state()).data).toMatchObject({
        network_type: 'stellar',
        sequence_number: String(sequence),
        // It may be opening its channel still.
        pending_transactions_count: expect.any(Number),
      })
      const { body } = await story.service.api<Schemas['RelayerBalance']>('GET', '/relayers/new/balance')
      expect(body.data).toEqual({ balance: Number((await state()).data.balance), unit: 'stroop' })
    })

    test('keeps its channels when it is changed', async () => {
      const { body } = await story.service.api<Schemas['Relayer']>('PATCH', '/relayers/new', {
        policies: { timeout_seconds: 30 },
      })
      expect(body.data).toMatchObject({
        channels: [CHANNEL.publicKey()],
        policies: { max_fee: 5_000_000, timeout_seconds: 30 },
      })
    })

    test('with endpoints of another network is refused', async () => {
      const { body } = await story.service.api('POST', '/relayers', {
        ...BODY,
        network: 'testnet',
        signer_id: 'channel',
        custom_rpc_urls: [{ url: story.ledger.url }],
      })
      expect(body).toMatchObject({
        code: 'wrong_chain',
        error: expect.stringMatching(/^custom_rpc_urls: .*passphrase/),
      })
    })
  })
})

describe('on Solana', () => {
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

    test('is created and changed, and its transactions are included', async () => {
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
      const allowed_tokens = [{ mint: RECEIVER, price: { sources: [{ type: 'fixed', price: '150' }] } }]
      const policies = { fee_payment_strategy: 'relayer', allowed_tokens }
      const changed = await story.service.api<Schemas['Relayer']>('PATCH', '/relayers/new', { policies })
      expect(changed.body.data).toMatchObject({ policies: { max_signatures: 2, allowed_tokens } })
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
})
