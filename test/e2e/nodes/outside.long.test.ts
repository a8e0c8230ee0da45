import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { createAdjustableClock } from '../../support/clock.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { DEV_ADDRESSES, DEV_KEYS, RECEIVER } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const GWEI = 10n ** 9n
const outsider = privateKeyToAccount(DEV_KEYS[0])

const clock = createAdjustableClock()
let story: Scenario

beforeAll(async () => {
  story = await startScenario({ clock })
  await story.service.api('PATCH', '/relayers/main', { policies: { shared_account: true } })
})
afterEach(() => story.settle())
afterAll(() => story.stop())

/** Signs with the relayer's key, without the service. */
async function sendOutside(nonce: number, value: bigint): Promise<string> {
  const raw = await outsider.signTransaction({
    chainId: 31337,
    type: 'eip1559',
    nonce,
    to: RECEIVER,
    value,
    gas: 21_000n,
    maxFeePerGas: 100n * GWEI,
    maxPriorityFeePerGas: 50n * GWEI,
  })
  return story.anvil.rpc('eth_sendRawTransaction', [raw])
}

const chainNonce = async () =>
  Number(await story.anvil.rpc<string>('eth_getTransactionCount', [DEV_ADDRESSES[0], 'latest']))

describe('a nonce that is used outside the service (R4)', () => {
  test('is skipped when it was used before ours is signed', async () => {
    const used = await chainNonce()
    await sendOutside(used, 1n)
    await story.mine()
    const sent = await story.send({ to: RECEIVER, value: 2 })
    await story.settle()
    expect(await story.get(sent.id)).toMatchObject({ status: 'confirmed', nonce: used + 1 })
  })

  test('is lost for a waiting transaction, which gets another one once that is proven', async () => {
    const nonce = await chainNonce()
    const sent = await story.send({
      to: RECEIVER,
      value: 3,
      max_fee_per_gas: Number(2n * GWEI),
      max_priority_fee_per_gas: 1,
    })
    const first = await story.reach(sent.id, 'submitted')
    expect(first.nonce).toBe(nonce)
    await story.anvil.rpc('anvil_dropTransaction', [first.hash])
    const externallySigned = await sendOutside(nonce, 4n)
    await story.mine(4)
    const final = await until(
      async () => {
        await story.mine()
        // The same answer has to stand for half a minute before a nonce is believed to be lost.
        clock.advance(1_000)
        return story.get(sent.id)
      },
      ({ status }) => status === 'confirmed',
    )
    expect(final.nonce).toBe(nonce + 1)
    expect(final.attempts.map(({ nonce, outcome }) => [Number(nonce), outcome])).toEqual([
      [nonce, 'superseded'],
      [nonce + 1, 'mined'],
    ])
    expect(await story.minedHash(DEV_ADDRESSES[0], nonce)).toBe(externallySigned)
    expect(await story.anvil.rpc('eth_getTransactionReceipt', [first.hash])).toBeNull()
  })
})

test('a nonce that the records do not explain stops the relayer until an operator accepts it', async () => {
  const { service } = story
  const relayer = async () => (await service.api<Schemas['Relayer']>('GET', '/relayers/main')).body.data
  await service.api('PATCH', '/relayers/main', { policies: { shared_account: false } })
  const used = await chainNonce()
  await story.settle()
  await sendOutside(used, 1n)
  await story.mine()
  const waiting = await story.send({ to: RECEIVER, value: 5 })
  const disabled = await until(relayer, ({ system_disabled: isDisabled }) => isDisabled)
  expect(disabled.disabled_reason).toEqual({
    type: 'UnexplainedNonces',
    details: expect.stringContaining(
      `has nonce ${used + 1} next on network anvil, and the records explain those below ${used}`,
    ),
  })
  expect(await story.get(waiting.id)).toMatchObject({ status: 'pending' })
  expect(
    (await service.api('POST', '/relayers/main/transactions', { to: RECEIVER, value: 1 })).body.code,
  ).toBe('relayer_disabled')
  const accepted = await service.api('POST', '/relayers/main/accept-nonces', { reason: 'sent by hand' })
  expect(accepted.body.data).toMatchObject({ id: 'main', system_disabled: false })
  await story.settle()
  expect(await story.get(waiting.id)).toMatchObject({ status: 'confirmed', nonce: used + 1 })
  const { body } = await service.api<object[]>('GET', '/audit?action=acceptNonces')
  expect(body.data[0]).toMatchObject({
    target_type: 'relayer',
    target_id: 'main',
    after: { reason: 'sent by hand', nonces: { [DEV_ADDRESSES[0]]: `${used + 1}` } },
  })
})
