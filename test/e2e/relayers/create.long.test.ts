import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { DEV_ADDRESSES, RECEIVER } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { create, createFunded, keyOf, onAnvil, type Relayer, refusalOf, signersWith } from './site.ts'

let story: Scenario

beforeAll(async () => {
  story = await startScenario({
    ...signersWith('a', 'b', 'c', 'd', 'e', 'f', 'g'),
    networks: [
      {
        type: 'evm',
        network: 'old',
        chain_id: 7,
        symbol: 'OLD',
        is_testnet: true,
        rpc_urls: ['http://127.0.0.1:9'],
      },
    ],
  })
})
afterAll(() => story.stop())

const list = async () => (await story.service.api<Relayer[]>('GET', '/relayers?per_page=100')).body.data

describe('creating a relayer', () => {
  test('answers with all of it, and it can be used immediately', async () => {
    const body = onAnvil('a', {
      id: 'a.b_c-d',
      notification_id: 'ops',
      policies: {
        gas_price_cap: '340282366920938463463374607431768211455',
        min_balance: 7,
        whitelist_receivers: [RECEIVER],
        include_revert_data: true,
      },
    })
    const relayer = await createFunded(story.service, story.anvil, body)
    expect(relayer).toEqual({
      id: 'a.b_c-d',
      name: 'New',
      network: 'anvil',
      network_type: 'evm',
      address: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
      signer_id: 'a',
      notification_id: 'ops',
      paused: false,
      system_disabled: false,
      policies: {
        gas_price_cap: 340282366920938463463374607431768211455n,
        min_balance: 7,
        whitelist_receivers: [RECEIVER.toLowerCase()],
      },
    })
    expect((await story.service.api('GET', '/relayers/a.b_c-d')).body.data).toEqual(relayer)
    expect((await list()).at(-1)).toEqual(relayer)

    const path = '/relayers/a.b_c-d/transactions'
    const sent = await story.service.api('POST', path, { to: RECEIVER, value: 1 })
    expect(sent.status).toBe(200)
    const confirmed = await until(
      async () => {
        await story.mine()
        return (await story.service.api('GET', `${path}/${sent.body.data.id}`)).body.data
      },
      ({ status }) => status === 'confirmed',
    )
    expect(confirmed).toMatchObject({ from: relayer.address, nonce: 0 })
  })

  test('gives an id of its own, and takes null for what is absent', async () => {
    const { status, body } = await create(
      story.service,
      onAnvil('b', { paused: true, notification_id: null, policies: null, custom_rpc_urls: null }),
    )
    expect(status).toBe(201)
    expect(body.data).toMatchObject({ paused: true, policies: {} })
    expect(body.data.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-/)
    expect(body.data).not.toHaveProperty('notification_id')
    const refused = await story.service.api('POST', `/relayers/${body.data.id}/transactions`, { value: 1 })
    expect(refused.body.code).toBe('relayer_paused')
  })

  test('uses endpoints of its own, and shows their hosts only', async () => {
    const url = `${story.anvil.url}/?key=a-secret`
    const body = onAnvil('c', { id: 'own', custom_rpc_urls: [{ url, weight: 7 }] })
    const relayer = await createFunded(story.service, story.anvil, body)
    expect(relayer.custom_rpc_urls).toEqual([{ url: `${story.anvil.url}/***`, weight: 7 }])
    const sent = await story.service.api('POST', '/relayers/own/transactions', { to: RECEIVER, value: 1 })
    expect(sent.status).toBe(200)
    await until(
      async () =>
        (await story.service.api('GET', `/relayers/own/transactions/${sent.body.data.id}`)).body.data,
      ({ status }) => status === 'submitted',
    )
  })

  test('works with a signer that a caller created', async () => {
    const key = keyOf('theirs')
    const signer = await story.service.api('POST', '/signers', {
      id: 'theirs',
      type: 'plain',
      config: { key },
    })
    expect(signer.status).toBe(201)
    const { id } = await createFunded(story.service, story.anvil, onAnvil('theirs'))
    const sent = await story.service.api('POST', `/relayers/${id}/transactions`, { to: RECEIVER, value: 1 })
    expect(sent.status).toBe(200)
    const refused = await story.service.api('DELETE', '/signers/theirs')
    expect([refused.status, refused.body.code]).toEqual([400, 'in_use'])
  })

  test('goes on when an endpoint does not answer, and says so', async () => {
    const { status, body } = await create(
      story.service,
      onAnvil('d', { custom_rpc_urls: [{ url: 'http://127.0.0.1:9' }] }),
    )
    expect(status).toBe(201)
    expect(body.metadata?.logs).toEqual([
      {
        level: 'log',
        message:
          'custom_rpc_urls: 127.0.0.1:9 did not answer in time, so their chain is not known yet; the service uses the URLs and keeps checking.',
      },
    ])
  })
})

describe('a relayer that cannot be is refused, and nothing is stored', () => {
  const urls = (...all: string[]) => ({ custom_rpc_urls: all.map((url) => ({ url })) })

  test.each<[string, object, number, string, string | RegExp]>([
    [
      'an unknown network',
      { network: 'anvill' },
      400,
      'unknown_network',
      /^network: .*"anvill" of type evm \(did you mean "anvil"\?\)/,
    ],
    ['a network of another type', { network_type: 'stellar' }, 400, 'unknown_network', /type stellar/],
    [
      'an unknown type',
      { network_type: 'bitcoin' },
      400,
      'invalid_request',
      /^body.network_type: .*evm, stellar, solana/,
    ],
    ['no type', { network_type: undefined }, 400, 'invalid_request', /^body.network_type/],
    ['no name', { name: undefined }, 400, 'invalid_request', /^body.name: is required/],
    ['an empty name', { name: '' }, 400, 'invalid_request', /^body.name/],
    ['a name of blanks', { name: '\u3000' }, 400, 'invalid_request', /^body.name/],
    ['a name with a zero byte', { name: 'a\u0000b' }, 400, 'invalid_request', /^body.name/],
    ['an id with a dot at the beginning', { id: '.a' }, 400, 'invalid_request', /^body.id/],
    [
      'an unknown signer',
      { signer_id: 'nobody' },
      404,
      'signer_not_found',
      'signer_id: there is no signer "nobody".',
    ],
    [
      'an unknown notification',
      { notification_id: 'nobody' },
      404,
      'notification_not_found',
      /^notification_id: /,
    ],
    ['an id that is taken', { id: 'main' }, 409, 'already_exists', /^id: /],
    [
      'an account that is operated',
      { signer_id: 'dev-0' },
      400,
      'account_taken',
      `signer_id: ${DEV_ADDRESSES[0]} on chain id 31337 is operated by relayer "main" already.`,
    ],
    [
      'pricing that the network lacks',
      { network: 'old', policies: { eip1559_pricing: true } },
      400,
      'invalid_request',
      /^policies.eip1559_pricing: .*"old"/,
    ],
    [
      'private transactions on a network without private endpoints',
      { policies: { private_transactions: true } },
      400,
      'invalid_request',
      /^policies.private_transactions: .* has no private_rpc_urls/,
    ],
    [
      'a policy of another type',
      { policies: { max_fee: 1 } },
      400,
      'invalid_request',
      /^body.policies.max_fee: there is no such field here; known are .*gas_price_cap/,
    ],
    [
      'an amount that is too large',
      { policies: { min_balance: '340282366920938463463374607431768211456' } },
      400,
      'invalid_request',
      /^body.policies.min_balance/,
    ],
    [
      'an address that is none',
      { policies: { whitelist_receivers: ['0x1'] } },
      400,
      'invalid_request',
      /^body.policies.whitelist_receivers\[0\]/,
    ],
    ['channels on EVM', { channels: 2 }, 400, 'invalid_request', /^body.channels: there is no such field/],
    ['an unknown field', { colour: 'red' }, 400, 'invalid_request', /^body.colour/],
    [
      'a WebSocket url',
      urls('ws://127.0.0.1:9'),
      400,
      'invalid_request',
      /^body.custom_rpc_urls\[0\].url: expected an http:\/\/ or https:\/\/ url/,
    ],
    ['a url that is none', urls('http://['), 400, 'invalid_request', /custom_rpc_urls\[0\].url/],
    [
      'a masked url',
      urls('https://rpc.example', 'https://rpc.example/***'),
      400,
      'invalid_request',
      /^custom_rpc_urls\[1\].url: expected the full URL/,
    ],
    [
      'an address where clouds keep their metadata',
      urls('http://169.254.169.254/'),
      400,
      'invalid_request',
      /^custom_rpc_urls\[0\].url: .*never allowed/,
    ],
    [
      'endpoints that are never asked',
      { custom_rpc_urls: [{ url: 'https://rpc.example', weight: 0 }] },
      400,
      'invalid_request',
      /only weight 0 in "custom_rpc_urls"/,
    ],
    [
      'a weight that is too large',
      { custom_rpc_urls: [{ url: 'https://rpc.example', weight: 101 }] },
      400,
      'invalid_request',
      /weight/,
    ],
  ])('%s', async (_name, changes, status, code, error) => {
    const before = await list()
    const answer = await create(story.service, onAnvil('e', changes))
    expect(refusalOf(answer)).toEqual({
      status,
      code,
      error: typeof error === 'string' ? error : expect.stringMatching(error),
    })
    expect(await list()).toEqual(before)
  })

  test.each([
    ['allowed_tokens', [{ asset: 'native' }]],
    ['swap_config', 'jupiter'],
    ['fee_margin_percentage', -1],
    ['fee_payment_strategy', 'nobody'],
  ])('the policy %s', async (policy, value) => {
    const body = { name: 'S', network: 'devnet', network_type: 'solana', signer_id: 'e' }
    const answer = await create(story.service, { ...body, policies: { [policy]: value } })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toMatch(new RegExp(`^body.policies.${policy}`))
  })

  test('an endpoint of another chain', async () => {
    const node = createServer()
    // It answers a batch, or one call, as it was asked.
    node.on('request', async (request, response) => {
      let text = ''
      for await (const chunk of request) text += chunk
      const asked = JSON.parse(text)
      const reply = ({ id }: { id: number }) => ({ jsonrpc: '2.0', id, result: '0x1' })
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(Array.isArray(asked) ? asked.map(reply) : reply(asked)))
    })
    await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve))
    const { port } = node.address() as AddressInfo
    const before = await list()
    const answer = await create(
      story.service,
      onAnvil('e', urls(story.anvil.url, `http://127.0.0.1:${port}`)),
    )
    node.close()
    expect(refusalOf(answer)).toEqual({
      status: 400,
      code: 'wrong_chain',
      error: expect.stringMatching(/^custom_rpc_urls: .*chain_id 31337 .* chain 1\.$/),
    })
    expect(await list()).toEqual(before)
  })

  test('a signer appears in no answer', async () => {
    const { body } = await create(story.service, onAnvil('nobody-has-this'))
    expect(JSON.stringify(body)).not.toContain(keyOf('e'))
  })
})

describe('at the same time', () => {
  test('one id is given once', async () => {
    const answers = await Promise.all(
      ['e', 'f'].map((signer) => create(story.service, onAnvil(signer, { id: 'twice' }))),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
    const [winner] = answers.filter(({ status }) => status === 201)
    expect((await story.service.api('GET', '/relayers/twice')).body.data).toEqual(winner?.body.data)
  })

  test('one account is operated once', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => create(story.service, onAnvil('g'))))
    const refused = answers.filter(({ status }) => status !== 201)
    expect(answers).toHaveLength(refused.length + 1)
    for (const answer of refused)
      expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'account_taken' })
    expect((await list()).filter(({ signer_id }) => signer_id === 'g')).toHaveLength(1)
  })
})
