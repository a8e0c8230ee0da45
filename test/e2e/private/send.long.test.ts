import { privateKeyToAccount } from 'viem/accounts'
import { keccak256, parseTransaction } from 'viem/utils'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { DEV_KEYS, RECEIVER } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { type PrivateScenario, startPrivateScenario } from './scenario.ts'

let story: PrivateScenario

beforeEach(async () => {
  story = await startPrivateScenario()
})
afterEach(() => story.stop())

/** Longer than the service waits until it broadcasts accepted bytes again, in ms. */
const REBROADCAST_MS = 31_000

const diagnosis = async (id: string) => {
  const { body } = await story.service.api<{ findings: { code: string; message: string }[] }>(
    'GET',
    `/relayers/main/transactions/${id}/diagnosis`,
  )
  return body.data.findings
}

test('a private transaction reaches the ordinary node in its block only', async () => {
  const { id } = await story.send({ to: RECEIVER, value: 1 })
  const submitted = await story.reach(id, 'submitted')
  expect(submitted).toMatchObject({ private: true })
  await story.mine(4)
  story.clock.advance(REBROADCAST_MS)
  await story.handedOver(2)
  expect(await story.publicCount()).toBe(0)
  expect(await diagnosis(id)).toMatchObject([{ code: 'kept_private' }])
  await story.endpoint.include(story.anvil)
  await story.mine(2)
  const confirmed = await story.reach(id, 'confirmed')
  expect(confirmed.hash).toBe(submitted.hash)
  expect(confirmed.attempts).toHaveLength(1)
  expect(confirmed).not.toHaveProperty('made_public_at')
  expect(story.endpoint.methods()).toEqual(['eth_sendRawTransaction'])
  const { body } = await story.service.api<{ payload: object }[]>('GET', `/events?transaction_id=${id}`)
  expect(body.data.map(({ payload }) => payload)).toMatchObject(body.data.map(() => ({ private: true })))
})

test('a replacement and a cancellation of a private transaction are private', async () => {
  const { id } = await story.send({ to: RECEIVER, value: 1 })
  await story.reach(id, 'submitted')
  expect((await story.replace(id, { to: RECEIVER, value: 2, speed: 'fast' })).status).toBe(200)
  await story.handedOver(2)
  expect((await story.cancel(id)).status).toBe(200)
  await story.handedOver(3)
  expect(await story.publicCount()).toBe(0)
  const nonces = story.endpoint.raws.map((raw) => parseTransaction(raw as `0x${string}`).nonce)
  expect(new Set(nonces).size).toBe(1)
  await story.endpoint.include(story.anvil)
  await story.mine(2)
  expect((await story.reach(id, 'canceled')).attempts).toHaveLength(3)
})

test('a raise of the fee is private, and so is everything behind a transaction that waits', async () => {
  const first = await story.send({ to: RECEIVER, value: 1, speed: 'fastest' })
  const second = await story.send({ to: RECEIVER, value: 2 })
  await story.reach(first.id, 'submitted')
  await story.reach(second.id, 'submitted')
  const raised = await until(
    async () => {
      // A builder's block leaves it out, and asks for more than it offers.
      await story.anvil.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${(50n * 10n ** 9n).toString(16)}`])
      await story.mine()
      story.clock.advance(REBROADCAST_MS)
      return story.get(first.id)
    },
    ({ attempts }) => attempts.length > 1,
  )
  expect(raised.attempts.map(({ kind }) => kind)).toEqual(['send', 'speed_up'])
  expect(await story.publicCount()).toBe(0)
})

test('the policy can change while transactions are open: what was accepted as private stays so', async () => {
  const kept = await story.send({ to: RECEIVER, value: 1 })
  await story.reach(kept.id, 'submitted')
  await setPolicies({ private_transactions: false })
  const open = await story.send({ to: RECEIVER, value: 2 })
  await story.reach(open.id, 'submitted')
  expect(await story.publicCount()).toBe(1)
  expect(await story.get(open.id)).not.toHaveProperty('private')
  story.clock.advance(REBROADCAST_MS)
  await story.handedOver(2)
  expect(await story.publicCount()).toBe(1)
  await setPolicies({ private_transactions: true })
  const { hash } = await story.get(open.id)
  expect((await story.replace(open.id, { to: RECEIVER, value: 3, speed: 'fast' })).status).toBe(200)
  await story.handedOver(3)
  expect(await story.get(open.id)).toMatchObject({ private: true })
  const pool = await story.anvil.rpc('txpool_content')
  expect(JSON.stringify(pool)).toContain(hash)
  expect(await story.publicCount()).toBe(1)
})

test('bytes that a caller passes on go to the private endpoint, and nothing else that can carry bytes goes anywhere', async () => {
  await setPolicies({
    allowed_rpc_methods: ['eth_sendRawTransaction', 'eth_sendPrivateTransaction', 'eth_chainId'],
  })
  const call = async (method: string, params: unknown[]) =>
    (
      await story.service.api<unknown>('POST', '/relayers/main/rpc', {
        jsonrpc: '2.0',
        id: 1,
        method,
        params,
      })
    ).body
  const raw = await signedByAnother()
  expect(await call('eth_sendRawTransaction', [raw])).toMatchObject({ result: keccak256(raw) })
  expect(story.endpoint.raws).toEqual([raw])
  expect(await story.publicCount()).toBe(0)
  expect(await call('eth_sendRawTransaction', [])).toMatchObject({ error: { code: -32602 } })
  expect(await call('eth_sendPrivateTransaction', [{ tx: raw }])).toMatchObject({ error: { code: -32601 } })
  expect(await call('eth_chainId', [])).toMatchObject({ result: '0x7a69' })
  expect(story.endpoint.raws).toEqual([raw])
})

async function setPolicies(policies: object): Promise<void> {
  const { status, body } = await story.service.api('PATCH', '/relayers/main', { policies })
  expect([status, body.error]).toEqual([200, undefined])
}

function signedByAnother(): Promise<`0x${string}`> {
  const fees = { gas: 21_000n, maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1n }
  return privateKeyToAccount(DEV_KEYS[1]).signTransaction({
    chainId: 31_337,
    to: RECEIVER,
    nonce: 0,
    ...fees,
  })
}
