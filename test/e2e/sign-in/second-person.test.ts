import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { APP_ROLE, NAMESPACE, startVault } from '../../../simulators/key-services/vault.ts'
import { personId } from '../../../src/access/principal.ts'
import type { ApiAnswer, WebBrowser } from '../../support/web-browser.ts'
import { type SignInWorld, startSignInWorld } from './sign-in-world.ts'

let world: SignInWorld
let ada: WebBrowser
let alan: WebBrowser
beforeAll(async () => {
  world = await startSignInWorld(
    {},
    {
      rpcUrls: [],
      relayers: [],
      secondPerson: {},
      env: {
        STORAGE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
        RELAYER_ALLOW_PRIVATE_URLS: 'true',
      },
    },
  )
  ada = await world.signedIn('ada')
  alan = await world.signedIn('alan')
})
afterAll(() => world?.stop())

const idOf = (subject: string) => personId({ issuer: world.provider.issuer, subject })

/** Proposes a change, expects that nothing is changed yet, and returns the id of the proposal. */
async function propose(browser: WebBrowser, method: string, path: string, body?: object): Promise<string> {
  const { status, code, error = '' } = await browser.api(method, path, body ? { body } : {})
  expect([status, code]).toEqual([403, 'second_person_required'])
  const [, id = ''] =
    /^Nothing is changed yet: proposal (\S+) waits until \S+ for another person/.exec(error) ?? []
  expect(id).not.toBe('')
  return id
}

const decide = (browser: WebBrowser, id: string, decision = 'approve', reason?: string) =>
  browser.api('POST', `/proposals/${id}/decision`, { body: { decision, ...(reason && { reason }) } })

const outcome = ({ status, code }: ApiAnswer) => [status, code]

test('a change waits for another person, runs exactly as it was proposed, and both are named', async () => {
  const body = { id: 'app', name: 'App', scopes: ['relayers:read'] }
  const id = await propose(ada, 'POST', '/api-keys', body)
  expect((await world.service.api('GET', '/api-keys/app')).status).toBe(404)
  const { data: listed } = await alan.api('GET', '/proposals?state=waiting')
  expect(listed).toMatchObject([
    { id, operation: 'createApiKey', target: 'api_key:app', change: body, proposed_by: idOf('ada') },
  ])
  const { status, data } = await decide(alan, id, 'approve', 'As agreed.')
  expect(status).toBe(200)
  expect(data).toMatchObject({
    proposal: {
      state: 'approved',
      proposed_by_person: { subject: 'ada' },
      decided_by: idOf('alan'),
      decided_by_person: { subject: 'alan' },
      decision_reason: 'As agreed.',
    },
    result: { id: 'app', created_by: idOf('alan'), secret: expect.stringMatching(/^rlk_/) },
  })
  expect((await world.service.api('GET', '/api-keys/app')).status).toBe(200)
  const { body: log } = await world.service.api<{ action: string }[]>('GET', '/audit?limit=3')
  expect(log.data.map(({ action }) => action)).toEqual(['createApiKey', 'decideProposal', 'proposeChange'])
})

test('no one approves their own proposal, in another session neither, and an API key approves none', async () => {
  const id = await propose(ada, 'POST', '/api-keys', { id: 'own', name: 'Own', scopes: ['rpc'] })
  for (const browser of [ada, await world.signedIn('ada')])
    expect(outcome(await decide(browser, id))).toEqual([403, 'own_approval'])
  const byKey = await world.service.api('POST', `/proposals/${id}/decision`, { decision: 'approve' })
  expect([byKey.status, byKey.body.code]).toEqual([403, 'second_person_required'])
  expect(outcome(await decide(await world.signedIn('vera'), id))).toEqual([403, 'insufficient_scope'])
  expect(outcome(await decide(alan, id, 'refuse'))).toEqual([200, undefined])
  expect(outcome(await decide(alan, id))).toEqual([409, 'approval_decided'])
  expect((await world.service.api('GET', '/api-keys/own')).status).toBe(404)
})

test('an API key cannot change what takes two people, whatever its scopes', async () => {
  const { body } = await world.service.api<{ secret: string }>('POST', '/api-keys', {
    name: 'Admin',
    scopes: ['api-keys:admin', 'notifications:write'],
  })
  const headers = { authorization: `Bearer ${body.data.secret}` }
  const made = await world.service.api(
    'POST',
    '/api-keys',
    { name: 'More', scopes: ['api-keys:admin'] },
    headers,
  )
  expect([made.status, made.body.code]).toEqual([403, 'second_person_required'])
})

test('one change of a record waits at a time; the same one again is the same proposal', async () => {
  const change = { name: 'Renamed' }
  const id = await propose(ada, 'PATCH', '/api-keys/app', change)
  expect(await propose(ada, 'PATCH', '/api-keys/app', change)).toBe(id)
  for (const [browser, other] of [
    [ada, { name: 'Another' }],
    [alan, change],
  ] as const) {
    const blocked = await browser.api('PATCH', '/api-keys/app', { body: other })
    expect(blocked.error).toBe(
      `Another change of the same record waits as proposal ${id}; someone has to decide about it first.`,
    )
  }
  await decide(alan, id)
  expect((await world.service.api<{ name: string }>('GET', '/api-keys/app')).body.data.name).toBe('Renamed')
})

test('two people who approve at the same time run the change once', async () => {
  const amy = await world.signedIn('amy')
  const id = await propose(ada, 'POST', '/api-keys', { name: 'Twice', scopes: ['rpc'] })
  const answers = await Promise.all([decide(alan, id), decide(amy, id)])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  const { body } = await world.service.api<{ name: string }[]>('GET', '/api-keys?per_page=100')
  expect(body.data.filter(({ name }) => name === 'Twice')).toHaveLength(1)
})

test('a change that the service refuses when it is approved changes nothing, and waits again', async () => {
  const id = await propose(ada, 'PATCH', '/api-keys/absent', { name: 'X' })
  expect(outcome(await decide(alan, id))).toEqual([404, 'api_key_not_found'])
  const { data } = await alan.api('GET', '/proposals?state=waiting')
  expect(data).toMatchObject([{ id, state: 'waiting' }])
  expect(outcome(await decide(alan, id, 'refuse'))).toEqual([200, undefined])
})

test('secrets of a change are shown to no one, and its url only as answers show it', async () => {
  const secret = 'a-signing-key-that-no-one-may-read-123'
  const id = await propose(ada, 'POST', '/notifications', {
    id: 'hook',
    type: 'webhook',
    url: 'https://user:pass@hooks.example/path?token=hidden',
    signing_key: secret,
  })
  const { data } = await alan.api('GET', '/proposals?state=waiting')
  const text = JSON.stringify([data, (await world.service.api('GET', '/audit?limit=5')).body])
  for (const hidden of [secret, 'user:pass', 'token=hidden']) expect(text).not.toContain(hidden)
  expect(text).toContain('hooks.example')
  expect(outcome(await decide(alan, id))).toEqual([200, undefined])
  const made = await world.service.api<{ has_signing_key: boolean }>('GET', '/notifications/hook')
  expect(made.body.data.has_signing_key).toBe(true)
})

test('what only takes rights away needs no one: a key is disabled and deleted at once', async () => {
  await world.service.api('POST', '/api-keys', { id: 'leaked', name: 'Leaked', scopes: ['rpc'] })
  expect((await ada.api('PATCH', '/api-keys/leaked', { body: { disabled: true } })).status).toBe(200)
  for (const body of [{ disabled: false }, { disabled: true, scopes: ['api-keys:admin'] }]) {
    const { code } = await ada.api('PATCH', '/api-keys/leaked', { body })
    expect(code).toBe('second_person_required')
  }
  expect((await ada.api('DELETE', '/api-keys/leaked')).status).toBe(200)
})

test('the key of the environment needs no one, and the audit log says that it did without', async () => {
  await world.service.api('POST', '/api-keys', { id: 'urgent', name: 'Urgent', scopes: ['rpc'] })
  const { body } = await world.service.api('GET', '/audit?limit=2')
  expect(body.data).toMatchObject([
    { action: 'createApiKey', actor: 'root' },
    {
      action: 'bypassSecondPerson',
      actor: 'root',
      target_id: 'second_person',
      after: { operation: 'createApiKey', target: 'api_key:urgent' },
    },
  ])
})

test('someone sees the proposals of operations whose scope they have, and no others', async () => {
  const viewer = await world.signedIn('vera')
  expect((await viewer.api('GET', '/proposals')).data).toEqual([])
  expect(outcome(await decide(ada, 'none'))).toEqual([404, 'proposal_not_found'])
})

test('a person has at most twenty changes that wait', async () => {
  const eve = await world.signedIn('eve')
  for (let count = 0; count < 20; count += 1)
    await propose(eve, 'POST', '/api-keys', { name: 'Many', scopes: ['rpc'] })
  const { error } = await eve.api('POST', '/api-keys', { body: { name: 'Many', scopes: ['rpc'] } })
  expect(error).toBe('20 of your proposals wait already; others have to decide about them first.')
})

test('a key of a key service is created after an approval, and one that the service refused can be approved again', async () => {
  const vault = await startVault({ secrets: {}, transit: {} })
  onTestFinished(() => vault.stop())
  const body = {
    ...{ signer_id: 'payouts', type: 'vault_transit', curve: 'ed25519' },
    config: { address: vault.url, namespace: NAMESPACE, ...APP_ROLE },
  }
  const id = await propose(ada, 'POST', '/key-creations', body)
  expect(vault.keys()).toBe(0)
  const { data: listed } = await alan.api('GET', '/proposals?state=waiting')
  const proposed = {
    ...{ id, operation: 'createKey', target: 'signer:payouts' },
    change: { signer_id: 'payouts', curve: 'ed25519', config: { role_id: '***', secret_id: '***' } },
  }
  expect(listed).toEqual(expect.arrayContaining([expect.objectContaining({ id })]))
  expect(listed.find((one: { readonly id: string }) => one.id === id)).toMatchObject(proposed)
  vault.setCreating(false)
  expect(outcome(await decide(alan, id))).toEqual([400, 'signer_refused'])
  vault.setCreating(true)
  const { status, data } = await decide(alan, id)
  expect(status).toBe(200)
  expect(data).toMatchObject({
    proposal: { state: 'approved' },
    result: { state: 'usable', addresses: { solana: expect.any(String), stellar: expect.any(String) } },
  })
  expect(vault.keys()).toBe(1)
})
