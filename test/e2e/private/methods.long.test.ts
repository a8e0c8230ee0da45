import { afterEach, expect, test } from 'vitest'
import { RECEIVER } from '../../support/service.ts'
import { request } from '../wallet/wallet-site.ts'
import { type PrivateScenario, startPrivateScenario } from './scenario.ts'

let story: PrivateScenario

afterEach(() => story.stop())

test('an endpoint for eth_sendPrivateTransaction gets an object with the bytes, and nothing else is asked of it', async () => {
  story = await startPrivateScenario({
    privateRpcUrls: ({ url }) => [{ url, method: 'eth_sendPrivateTransaction' }],
  })
  const { id } = await story.send({ to: RECEIVER, value: 1 })
  const { hash } = await story.reach(id, 'submitted')
  expect(story.endpoint.methods()).toEqual(['eth_sendPrivateTransaction'])
  expect(await story.publicCount()).toBe(0)
  await story.endpoint.include(story.anvil)
  await story.mine(2)
  expect(await story.reach(id, 'confirmed')).toMatchObject({ hash, private: true })
})

test('what a wallet sends through a private relayer is private', async () => {
  story = await startPrivateScenario({ policies: { wallet_rpc: true } })
  const hash = await request(story.service, 'eth_sendTransaction', { to: RECEIVER, value: '0x1' })
  await story.handedOver(1)
  expect(await story.anvil.rpc('eth_getTransactionByHash', [hash])).toBeNull()
  expect(await story.publicCount()).toBe(0)
  const { body } = await story.service.api<{ hash: string; private: boolean }[]>(
    'GET',
    '/relayers/main/transactions',
  )
  expect(body.data).toMatchObject([{ hash, private: true }])
})
