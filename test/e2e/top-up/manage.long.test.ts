import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Anvil, ON_ANVIL, startAnvil } from '../../support/anvil.ts'
import { plainSigner, type Service, startService } from '../../support/service.ts'
import { RULE, topUpConfig } from './scenario.ts'

let anvil: Anvil
let service: Service

beforeAll(async () => {
  anvil = await startAnvil()
  const { relayers, signers } = topUpConfig({})
  service = await startService({
    rpcUrls: [anvil.url],
    relayers,
    signers: [
      ...signers,
      plainSigner('spare', `0x${'33'.repeat(32)}`),
      plainSigner('more', `0x${'44'.repeat(32)}`),
    ],
    env: { RELAYER_HEALTH_INTERVAL_SECONDS: '3600' },
  })
}, 60_000)
afterAll(async () => {
  await service.stop()
  await anvil.stop()
})

const topUp = (change: object = {}) => ({ policies: { top_up: { ...RULE, ...change } } })
const create = (id: string, signer: string, more: object = {}) =>
  service.api('POST', '/relayers', { id, name: id, signer_id: signer, ...ON_ANVIL, ...more })

/** Calls with a new key of these rights. */
async function keyWith(rights: object) {
  const { body } = await service.api<{ secret: string }>('POST', '/api-keys', { name: 'Narrow', ...rights })
  if (!body.success) throw new Error(`the key was refused: ${body.error}`)
  const authorization = `Bearer ${body.data.secret}`
  return (method: string, path: string, content: object) =>
    service.api(method, path, content, { authorization })
}

describe('a top_up over the API', () => {
  test('is created, shown, changed and ended', async () => {
    const created = await create('filled', 'spare', topUp())
    expect(created.status).toBe(201)
    const rule = { from: 'treasury', below: 10n ** 18n, to: 2n * 10n ** 18n, max_per_day: 5n * 10n ** 18n }
    expect(created.body.data).toMatchObject({ policies: { top_up: rule } })
    const changed = await service.api('PATCH', '/relayers/filled', {
      policies: { top_up: { ...RULE, below: 5 } },
    })
    expect(changed.body.data).toMatchObject({ policies: { top_up: { ...rule, below: 5 } } })
    const ended = await service.api<{ policies: object }>('PATCH', '/relayers/filled', {
      policies: { top_up: null },
    })
    expect(ended.body.data.policies).not.toHaveProperty('top_up')
    expect((await service.api('DELETE', '/relayers/filled')).status).toBe(200)
  })

  test.each([
    ['a treasury that is not there', { from: 'nobody' }, 'policies.top_up: there is no relayer "nobody"'],
    ['itself', { from: 'wrong' }, 'cannot refill itself'],
    ['a goal that is not above the threshold', { to: RULE.below }, 'top_up.to must be more than below'],
    ['a threshold of 0', { below: 0 }, 'top_up.below must be more than 0'],
    ['a limit of 0', { max_per_day: 0 }, 'top_up.max_per_day must be more than 0'],
    ['a negative amount', { below: -1 }, 'below'],
    ['an unknown field', { upto: 1 }, 'upto'],
  ])('is refused with %s', async (_title, change, sentence) => {
    const { status, body } = await create('wrong', 'spare', topUp(change))
    expect(status).toBe(400)
    expect(body.error).toContain(sentence)
  })

  test('is refused when relayers would fill each other in a circle', async () => {
    await create('first', 'spare', topUp({ from: 'treasury' }))
    await create('second', 'more', topUp({ from: 'first' }))
    const { status, body } = await service.api('PATCH', '/relayers/first', topUp({ from: 'second' }))
    expect(status).toBe(400)
    expect(body.error).toContain('in a circle: first from second from first')
    await service.api('DELETE', '/relayers/second')
    await service.api('DELETE', '/relayers/first')
  })

  test('of two changes at the same time that would close a circle, one is refused', async () => {
    await create('first', 'spare')
    await create('second', 'more')
    const answers = await Promise.all([
      service.api('PATCH', '/relayers/first', topUp({ from: 'second' })),
      service.api('PATCH', '/relayers/second', topUp({ from: 'first' })),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
    await service.api('PATCH', '/relayers/first', { policies: { top_up: null } })
    await service.api('PATCH', '/relayers/second', { policies: { top_up: null } })
    await service.api('DELETE', '/relayers/second')
    await service.api('DELETE', '/relayers/first')
  })

  test('keeps its treasury from being deleted', async () => {
    await create('first', 'spare')
    await create('second', 'more', topUp({ from: 'first' }))
    const { status, body } = await service.api('DELETE', '/relayers/first')
    expect([status, body.code]).toEqual([400, 'in_use'])
    expect(body.error).toContain('Relayer first fills second')
    expect((await service.api('DELETE', '/relayers/second')).status).toBe(200)
    expect((await service.api('DELETE', '/relayers/first')).status).toBe(200)
  })

  test('of a relayer of the file is refused, because the file sets none', async () => {
    const { status, body } = await service.api('PATCH', '/relayers/hot', topUp())
    expect([status, body.code]).toEqual([400, 'policy_beyond_ceiling'])
  })
})

describe('a key that may not spend the money of the treasury', () => {
  test.each([
    [
      'sees only the relayer',
      { scopes: ['relayers:read', 'relayers:write', 'transactions:write'], relayers: ['mine'] },
    ],
    ['lacks relayers:admin', { scopes: ['relayers:read', 'relayers:write', 'transactions:write'] }],
    ['lacks transactions:write', { scopes: ['relayers:read', 'relayers:write', 'relayers:admin'] }],
    [
      'is limited by rules',
      {
        scopes: ['relayers:read', 'relayers:write', 'relayers:admin', 'transactions:write'],
        rules: { limits: [{ per: 'day', asset: 'native', value: 1 }] },
      },
    ],
  ])('cannot set a top_up when it %s, and can end one', async (_title, rights) => {
    await create('mine', 'spare')
    const call = await keyWith(rights)
    const refused = await call('PATCH', '/relayers/mine', topUp())
    expect([refused.status, refused.body.code]).toEqual([403, 'insufficient_scope'])
    expect(refused.body.error).toContain('policies.top_up')
    await service.api('PATCH', '/relayers/mine', topUp({ max_per_day: 1 }))
    const raised = await call('PATCH', '/relayers/mine', topUp())
    expect(raised.status).toBe(403)
    expect((await call('PATCH', '/relayers/mine', { name: 'Renamed' })).status).toBe(200)
    expect((await call('PATCH', '/relayers/mine', { policies: { top_up: null } })).status).toBe(200)
    await service.api('DELETE', '/relayers/mine')
  })

  test('cannot create a relayer with a top_up', async () => {
    const call = await keyWith({ scopes: ['relayers:admin'] })
    const body = { id: 'new', name: 'New', signer_id: 'spare', ...ON_ANVIL, ...topUp() }
    expect((await call('POST', '/relayers', body)).status).toBe(403)
  })
})
