import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { DEV_ADDRESSES, RECEIVER } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const GWEI = 1_000_000_000
const OTHER = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'

let story: Scenario

beforeAll(async () => {
  story = await startScenario({ env: { RELAYER_MAX_IN_FLIGHT: '1' } })
})
afterEach(() => story.settle())
afterAll(() => story.stop())

/** With one transaction in flight the next one has to wait unsigned. */
async function waiting(body: object = {}) {
  const head = await story.send({ to: RECEIVER, value: 1, gas_price: 10 * GWEI })
  await story.reach(head.id, 'submitted')
  const next = await story.send({ to: RECEIVER, value: 2, gas_price: 50 * GWEI, ...body })
  return { head, next }
}

describe('a transaction that nothing was signed for', () => {
  test('is shown as pending, without hash, nonce or attempts', async () => {
    const { next } = await waiting()
    const seen = await story.get(next.id)
    expect(seen).toMatchObject({ status: 'pending', value: '2', attempts: [] })
    expect(seen).not.toHaveProperty('hash')
    expect(seen).not.toHaveProperty('nonce')
  })

  test('is replaced by new content at any price, and only the new content is executed', async () => {
    const { head, next } = await waiting()
    const { status, body } = await story.replace(next.id, { to: OTHER, value: 7, gas_price: 11 * GWEI })
    expect(status).toBe(200)
    expect(body.data).toMatchObject({
      id: next.id,
      status: 'pending',
      to: OTHER,
      value: '7',
      created_at: next.created_at,
    })
    expect(body.metadata?.logs[0]?.message).toContain('Nothing had been signed')
    await story.settle()
    const final = await story.get(next.id)
    expect(final).toMatchObject({ status: 'confirmed', to: OTHER, value: '7', gas_price: String(11 * GWEI) })
    expect(final.attempts).toHaveLength(1)
    expect(BigInt(final.nonce ?? 0)).toBe(BigInt((await story.get(head.id)).nonce ?? 0) + 1n)
  })

  test('is canceled immediately and uses no nonce (R10)', async () => {
    const { head, next } = await waiting()
    const { status, body } = await story.cancel(next.id)
    expect({ status, data: body.data.status, attempts: body.data.attempts }).toEqual({
      status: 200,
      data: 'canceled',
      attempts: [],
    })
    const after = await story.send({ to: RECEIVER, value: 3 })
    await story.settle()
    expect(await story.get(next.id)).not.toHaveProperty('nonce')
    expect(BigInt((await story.get(after.id)).nonce ?? 0)).toBe(
      BigInt((await story.get(head.id)).nonce ?? 0) + 1n,
    )
  })

  test('expires when its time passes before it is signed', async () => {
    const { next } = await waiting({ valid_until: new Date(Date.now() + 1_500).toISOString() })
    await new Promise((resolve) => setTimeout(resolve, 1_600))
    await story.settle()
    expect(await story.get(next.id)).toMatchObject({ status: 'expired', attempts: [] })
  })

  test('waits for money without spending a nonce, and resumes by itself and in order when topped up (R12)', async () => {
    const price = { gas_limit: 21_000, gas_price: 10 * GWEI }
    const head = await story.send({ to: RECEIVER, value: 1, ...price })
    await story.reach(head.id, 'submitted')
    const value = String(10n ** 18n)
    const next = await story.send({ to: RECEIVER, value, ...price })
    const last = await story.send({ to: RECEIVER, value: 1, ...price })
    const setBalance = (wei: bigint) =>
      story.anvil.rpc('anvil_setBalance', [DEV_ADDRESSES[0], `0x${wei.toString(16)}`])
    await setBalance(10n ** 17n)
    await story.mine()
    const waiting = await until(
      () => story.get(next.id),
      (seen) => seen.status_reason?.startsWith('Waiting for funds') === true,
    )
    expect(waiting).toMatchObject({ status: 'pending', attempts: [] })
    expect(waiting).not.toHaveProperty('nonce')
    expect(await story.get(last.id)).toMatchObject({ status: 'pending', attempts: [] })
    await setBalance(10n ** 20n)
    await story.settle()
    const nonces = await Promise.all(
      [head, next, last].map(async ({ id }) => Number((await story.get(id)).nonce)),
    )
    expect(nonces).toEqual([nonces[0], (nonces[0] ?? 0) + 1, (nonces[0] ?? 0) + 2])
    expect((await story.get(next.id)).status).toBe('confirmed')
  })

  test('parallel replacements of it all succeed, and one of them is executed', async () => {
    const { next } = await waiting()
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) => story.replace(next.id, { to: OTHER, value: 100 + index })),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200))
    await story.settle()
    const final = await story.get(next.id)
    expect(final.attempts).toHaveLength(1)
    expect(Number(final.value)).toBeGreaterThanOrEqual(100)
  })
})
