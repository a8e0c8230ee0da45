import { expect, onTestFinished, test } from 'vitest'
import { startFaultProxy } from '../../../simulators/key-services/fault-proxy.ts'
import { createRoutedClient } from '../../../simulators/key-services/http-service.ts'
import { ORGANIZATION, startTurnkey } from '../../../simulators/key-services/turnkey.ts'
import { describeCreation, setUpCreator } from './creation-suite.ts'

describeCreation({
  type: 'turnkey',
  start: async () => {
    const turnkey = await startTurnkey('11'.repeat(32))
    const proxy = await startFaultProxy(turnkey.url)
    const http = createRoutedClient({ 'https://api.turnkey.com': () => proxy.url })
    return {
      proxy,
      http,
      config: {
        api_public_key: turnkey.apiKey.publicKey,
        api_private_key: turnkey.apiKey.privateKey,
        organization_id: ORGANIZATION,
      },
      curves: ['secp256k1', 'ed25519'],
      count: turnkey.created,
      stop: async () => {
        http.close()
        await proxy.stop()
        await turnkey.stop()
      },
    }
  },
  denied: { status: 403, body: '{"code":7,"message":"as Turnkey says it"}' },
  deniedSentence:
    /does not let this API key create keys: a policy must allow ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2/,
  before: 0,
})

test('a key that needs the consent of others in Turnkey is created once they gave it, by the same activity', async () => {
  const turnkey = await startTurnkey('11'.repeat(32))
  onTestFinished(() => turnkey.stop())
  const http = createRoutedClient({ 'https://api.turnkey.com': () => turnkey.url })
  onTestFinished(() => http.close())
  const { clock, create } = await setUpCreator(http)
  const request = {
    signerId: 'treasury',
    type: 'turnkey',
    curve: 'secp256k1',
    config: {
      api_public_key: turnkey.apiKey.publicKey,
      api_private_key: turnkey.apiKey.privateKey,
      organization_id: ORGANIZATION,
    },
  } as const
  turnkey.setStatus('ACTIVITY_STATUS_CONSENSUS_NEEDED')
  for (const _attempt of [1, 2]) {
    const { state, problem } = await create(request)
    expect([state, problem]).toEqual([
      'requested',
      `Turnkey organization ${ORGANIZATION} waits for the consent of others: approve the activity in Turnkey, and then repeat this request (ACTIVITY_STATUS_CONSENSUS_NEEDED).`,
    ])
    clock.advance(86_400_000)
  }
  expect([turnkey.created(), turnkey.activities()]).toEqual([0, 1])
  turnkey.setStatus('ACTIVITY_STATUS_COMPLETED')
  expect(await create(request)).toMatchObject({ state: 'usable' })
  expect([turnkey.created(), turnkey.activities()]).toEqual([1, 1])
})

test.each(['REJECTED', 'FAILED'])('an activity that Turnkey %s leaves nothing behind', async (status) => {
  const turnkey = await startTurnkey('11'.repeat(32))
  onTestFinished(() => turnkey.stop())
  const http = createRoutedClient({ 'https://api.turnkey.com': () => turnkey.url })
  onTestFinished(() => http.close())
  const { create, stored } = await setUpCreator(http)
  const { publicKey, privateKey } = turnkey.apiKey
  const config = { api_public_key: publicKey, api_private_key: privateKey, organization_id: ORGANIZATION }
  turnkey.setStatus(`ACTIVITY_STATUS_${status}`)
  const request = { signerId: 'x', type: 'turnkey', curve: 'ed25519', config } as const
  await expect(create(request)).rejects.toMatchObject({
    code: 'signer_refused',
    detail: expect.stringContaining('the activity failed or was rejected'),
  })
  expect(await stored('x')).toBeUndefined()
})
