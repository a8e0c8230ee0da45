import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import type { Answer } from '../../support/service.ts'
import { RECEIVER } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { create, createFunded, onAnvil, type Relayer, refusalOf, signersWith } from './site.ts'

let story: Scenario

beforeAll(async () => {
  story = await startScenario({ ...signersWith('a', 'b', 'c') })
  await createFunded(
    story.service,
    story.anvil,
    onAnvil('a', {
      id: 'one',
      notification_id: 'ops',
      policies: { gas_price_cap: '100000000000000000001', min_balance: 5 },
    }),
  )
})
afterAll(() => story.stop())

const patch = (
  body: object | string,
  id = 'one',
  headers?: Record<string, string>,
): Promise<Answer<Relayer>> => story.service.api<Relayer>('PATCH', `/relayers/${id}`, body, headers)
const read = async (id = 'one') => (await story.service.api<Relayer>('GET', `/relayers/${id}`)).body.data

describe('a patch', () => {
  test('changes what it names and leaves the rest', async () => {
    const before = await read()
    const { status, body } = await patch({ name: 'Other', policies: { min_balance: '6' } })
    expect(status).toBe(200)
    expect(body.data).toEqual({
      ...before,
      name: 'Other',
      policies: { gas_price_cap: 100000000000000000001n, min_balance: 6 },
    })
    expect(await read()).toEqual(body.data)
  })

  test('that is empty changes nothing', async () => {
    const before = await read()
    expect((await patch({})).body.data).toEqual(before)
  })

  test('takes away what it gives as null', async () => {
    const { body } = await patch({ notification_id: null, policies: { min_balance: null } })
    expect(body.data).not.toHaveProperty('notification_id')
    expect(body.data.policies).toEqual({ gas_price_cap: 100000000000000000001n })
    expect((await patch({ policies: null })).body.data.policies).toEqual({})
    expect((await patch({ notification_id: 'ops' })).body.data.notification_id).toBe('ops')
  })

  test('replaces a list as a whole', async () => {
    const lists = [[RECEIVER], [], [RECEIVER]]
    for (const whitelist_receivers of lists) {
      const { body } = await patch({ policies: { whitelist_receivers } })
      expect(body.data.policies).toMatchObject({
        whitelist_receivers: whitelist_receivers.map((one) => one.toLowerCase()),
      })
    }
    await patch({ policies: null })
  })

  test('is accepted as a merge patch, too', async () => {
    const type = { 'content-type': 'application/merge-patch+json' }
    expect((await patch({ name: 'By patch' }, 'one', type)).body.data.name).toBe('By patch')
    const other = await patch({ name: 'x' }, 'one', { 'content-type': 'application/json-patch+json' })
    expect(refusalOf(other)).toEqual({
      status: 400,
      code: 'unsupported_content_type',
      error: 'Send the header Content-Type: application/merge-patch+json or application/json and UTF-8.',
    })
  })

  test('pauses and resumes immediately', async () => {
    await patch({ paused: true })
    const send = () => story.service.api('POST', '/relayers/one/transactions', { to: RECEIVER, value: 1 })
    expect((await send()).body.code).toBe('relayer_paused')
    await patch({ paused: false })
    expect((await send()).status).toBe(200)
  })

  test('of the endpoints moves what is asked, and takes them back', async () => {
    const url = `${story.anvil.url}/?key=a-secret`
    const { body } = await patch({ custom_rpc_urls: [{ url }, { url: 'http://127.0.0.1:9', weight: 0 }] })
    expect(body.data.custom_rpc_urls).toEqual([
      { url: `${story.anvil.url}/***`, weight: 100 },
      { url: 'http://127.0.0.1:9', weight: 0 },
    ])
    // What it does not name stays, and is not the masked one of an answer.
    await patch({ name: 'Still there' })
    const sent = await story.service.api('POST', '/relayers/one/transactions', { to: RECEIVER, value: 1 })
    await until(
      async () => {
        await story.mine()
        return (await story.service.api('GET', `/relayers/one/transactions/${sent.body.data.id}`)).body.data
      },
      ({ status }) => status === 'confirmed',
    )
    expect((await patch({ custom_rpc_urls: null })).body.data).not.toHaveProperty('custom_rpc_urls')
  })

  test.each<[string, object, number, string, RegExp]>([
    ['no name', { name: null }, 400, 'invalid_request', /^body.name/],
    ['paused null', { paused: null }, 400, 'invalid_request', /^body.paused: expected true or false/],
    ...['id', 'network', 'network_type', 'address', 'channels', 'system_disabled'].map(
      (field): [string, object, number, string, RegExp] => [
        field,
        { [field]: 'x' },
        400,
        'invalid_request',
        new RegExp(`^body.${field}: expected it to be absent, because it cannot be changed\\.$`),
      ],
    ),
    [
      'an unknown field',
      { colour: 1 },
      400,
      'invalid_request',
      /known are name, paused, notification_id, custom_rpc_urls, policies, signer_id, accounts\./,
    ],
    [
      'a policy of another type',
      { policies: { max_fee: 1 } },
      400,
      'invalid_request',
      /^body.policies.max_fee is a policy of stellar networks; this relayer is on one of type evm/,
    ],
    [
      'private transactions on a network without private endpoints',
      { policies: { private_transactions: true } },
      400,
      'invalid_request',
      /^policies.private_transactions: .* has no private_rpc_urls/,
    ],
    [
      'a policy of other networks',
      { policies: { swap_config: {} } },
      400,
      'invalid_request',
      /swap_config is not known/,
    ],
    [
      'an unknown notification',
      { notification_id: 'nobody' },
      404,
      'notification_not_found',
      /^notification_id: /,
    ],
    [
      'a masked url',
      { custom_rpc_urls: [{ url: 'http://a.example/***' }] },
      400,
      'invalid_request',
      /full URL/,
    ],
    [
      'a forbidden address',
      { custom_rpc_urls: [{ url: 'http://[fd00:ec2::254]/' }] },
      400,
      'invalid_request',
      /never allowed/,
    ],
  ])('is refused with %s, and nothing changes', async (_name, body, status, code, error) => {
    const before = await read()
    expect(refusalOf(await patch({ name: 'Not this', ...body }))).toEqual({
      status,
      code,
      error: expect.stringMatching(error),
    })
    expect(await read()).toEqual(before)
  })

  test('of an unknown relayer is Not found', async () => {
    expect(refusalOf(await patch({ name: 'x' }, 'nobody'))).toMatchObject({
      status: 404,
      code: 'relayer_not_found',
    })
  })

  test('that comes together with others is not lost', async () => {
    const policies = {
      gas_price_cap: 1,
      min_balance: 2,
      eip1559_pricing: true,
      gas_limit_estimation: false,
      whitelist_receivers: [],
      allowed_rpc_methods: ['eth_chainId'],
    }
    const answers = await Promise.all([
      ...Object.entries(policies).map(([name, value]) => patch({ policies: { [name]: value } })),
      patch({ name: 'Together' }),
      patch({ paused: true }),
    ])
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
    expect(await read()).toMatchObject({ name: 'Together', paused: true, policies })
  })
})

test('a relayer of the file can be changed, too', async () => {
  expect((await patch({ name: 'Mine' }, 'main')).body.data).toMatchObject({ id: 'main', name: 'Mine' })
  const { status } = await create(story.service, onAnvil('b', { id: 'main' }))
  expect(status).toBe(409)
})
