import { encodeFunctionData, type Hex, parseAbi, parseSignature } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { World } from '../../../plugins/shared/host.ts'
import { readSettings } from '../../../plugins/x402/config.ts'
import { settle, verify } from '../../../plugins/x402/facilitator.ts'
import { RECEIVER } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { paymentBy } from './evm-payment.ts'
import { type EvmSite, FUNDS, NETWORK, startEvmSite } from './evm-site.ts'
import { createWorld, type TestWorld } from './world.ts'

let site: EvmSite
let world: TestWorld

beforeAll(async () => {
  // Blocks come only when a test makes them, and stay open to reorganisations.
  site = await startEvmSite({ network: { required_confirmations: 50 } }, ['--no-mining'])
  world = createWorld(site.service.url)
}, 60_000)

afterAll(() => site.stop())

const settings = (more: object = {}) => readSettings({ ...site.config, timeout_seconds: 15, ...more })
const ask = (body: unknown, caller = 'shop') => ({ body, caller })
const mine = () => site.anvil.rpc('evm_mine')

/** Makes blocks until the work is done. */
async function mining<Result>(work: Promise<Result>): Promise<Result> {
  let done = false
  const finished = work.finally(() => {
    done = true
  })
  await Promise.all([
    until(async () => {
      await mine()
      return done
    }, Boolean),
    finished,
  ])
  return finished
}

/** Asks until the transaction is signed, while no block can include it. */
const signed = (body: object) =>
  until(
    () => settle(ask(body), settings({ timeout_seconds: 1 }), world),
    ({ transaction }) => transaction !== '',
  )

const transactionsTo = async (payer: string) => {
  const { body } = await site.service.api<{ data: string }[]>(
    'GET',
    '/relayers/main/transactions?per_page=100',
  )
  return body.data.filter(({ data }) => data.includes(payer.slice(2).toLowerCase()))
}

/**
 * The process of the plugin ends at this moment: what it would have done then never happens. Its lock ends with it, which takes ten seconds
 * in the database; a test of the clients kills real processes.
 */
class Killed extends Error {}

/** The same world for a process that is killed at its nth call of the host, before or after the call takes effect. */
function dying(at: number, when: 'before' | 'after'): { world: World; calls: () => number } {
  let calls = 0
  const step = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    calls += 1
    if (calls > at || (calls === at && when === 'before')) throw new Killed()
    const result = await work()
    if (calls >= at) throw new Killed()
    return result
  }
  return {
    calls: () => calls,
    world: {
      ...world,
      api: { request: (request) => step(() => world.api.request(request)) },
      kv: {
        get: (key) => step(() => world.kv.get(key)),
        set: (key, value) => step(async () => world.kv.set(key, value)),
        del: (key) => step(async () => world.kv.del(key)),
        withLock: (key, work) => world.kv.withLock(key, work),
      },
    },
  }
}

describe('a payment', () => {
  test('is settled once by whichever process, if one is killed at every step', async () => {
    const limits = [{ per: 'payee', window_seconds: 100_000, settlements: 1000 }]
    const extensions = () => ({
      'payment-identifier': {
        info: { required: true, id: `pay_${Math.random().toString(36).slice(2).padEnd(20, '0')}` },
      },
    })
    const rehearsed = await paymentBy(await site.payer(), { ...site, extensions: extensions() })
    const rehearsal = dying(1000, 'before')
    expect(await mining(settle(ask(rehearsed), settings({ limits }), rehearsal.world))).toMatchObject({
      success: true,
    })
    const steps = rehearsal.calls()
    expect(steps).toBeGreaterThan(12)
    for (let at = 1; at <= steps; at += 1) {
      for (const when of ['before', 'after'] as const) {
        const payer = await site.payer()
        const body = await paymentBy(payer, { ...site, extensions: extensions() })
        // A dead process says nothing; what it would have answered reaches no one.
        await settle(ask(body), settings({ limits, timeout_seconds: 1 }), dying(at, when).world).catch(
          () => undefined,
        )
        const answer = await mining(settle(ask(body), settings({ limits }), world))
        expect([at, when, answer]).toEqual([at, when, expect.objectContaining({ success: true })])
        const sent = await transactionsTo(payer.address)
        expect(sent).toMatchObject([{ hash: answer.transaction }])
        expect(await site.balanceOf(payer.address)).toBe(FUNDS - 10_000n)
      }
    }
  }, 120_000)

  test('is settled once by twenty requests at the same moment, with one answer', async () => {
    const payer = await site.payer()
    const body = await paymentBy(payer, site)
    const before = await site.balanceOf(site.payTo)
    const answers = await mining(
      Promise.all(Array.from({ length: 20 }, () => settle(ask(body), settings(), world))),
    )
    expect(new Set(answers.map(({ success, transaction }) => `${success} ${transaction}`)).size).toBe(1)
    expect(
      answers.filter(({ extensions }) => JSON.stringify(extensions) === '{"settlement":{"repeated":false}}'),
    ).toHaveLength(1)
    expect(await transactionsTo(payer.address)).toHaveLength(1)
    expect(await site.balanceOf(site.payTo)).toBe(before + 10_000n)
  })

  test('is refused with the nonce of another one, also while that one waits', async () => {
    const payer = await site.payer()
    const first = await paymentBy(payer, site)
    const { nonce } = first.paymentPayload.payload.authorization
    const second = await paymentBy(payer, { ...site, amount: 20_000n, authorization: { nonce } })
    const brief = settings({ timeout_seconds: 1 })
    const pending = await signed(first)
    expect(pending).toMatchObject({
      success: false,
      errorReason: 'settlement_pending',
      transaction: expect.stringMatching(/^0x/),
    })
    expect(await settle(ask(second), brief, world)).toMatchObject({
      success: false,
      errorReason: 'duplicate_settlement',
    })
    expect(await verify(ask(first), brief, world)).toMatchObject({
      isValid: false,
      invalidReason: 'duplicate_settlement',
    })
    expect(await mining(settle(ask(first), settings(), world))).toMatchObject({
      success: true,
      transaction: pending.transaction,
    })
  })

  test('is pending while its block is reorganised away, until it is included again', async () => {
    const payer = await site.payer()
    const body = await paymentBy(payer, site)
    const brief = settings({ timeout_seconds: 2 })
    const pending = await signed(body)
    const snapshot = await site.anvil.rpc('evm_snapshot')
    const paid = await mining(settle(ask(body), settings(), world))
    expect(paid).toMatchObject({ success: true, transaction: pending.transaction })
    const seen = Number(await site.anvil.rpc<string>('eth_blockNumber'))
    await site.anvil.rpc('evm_revert', [snapshot])
    // Other blocks take the place of those that the service has seen: a node that is behind them would prove nothing.
    await site.anvil.rpc('anvil_dropAllTransactions')
    const left = Number(await site.anvil.rpc<string>('eth_blockNumber'))
    await site.anvil.rpc('anvil_mine', [`0x${(seen - left + 2).toString(16)}`])
    const lost = await until(
      () => settle(ask(body), brief, world),
      ({ errorMessage = '' }) => errorMessage.includes('no longer'),
    )
    expect(lost).toMatchObject({
      errorReason: 'settlement_pending',
      transaction: pending.transaction,
      errorMessage: expect.stringMatching(/Block \d+ that included it is no longer in the chain/),
    })
    expect(await mining(settle(ask(body), settings(), world))).toMatchObject({
      success: true,
      transaction: pending.transaction,
    })
    expect(await site.balanceOf(payer.address)).toBe(FUNDS - 10_000n)
  }, 60_000)

  test('does not fail when someone else sends its authorization first', async () => {
    const payer = await site.payer()
    const body = await paymentBy(payer, site)
    const pending = await signed(body)
    const other = await sendFirst(body.paymentPayload.payload)
    const paid = await mining(settle(ask(body), settings(), world))
    expect(paid).toMatchObject({ success: true, transaction: other })
    expect(other).not.toBe(pending.transaction)
    expect(await site.balanceOf(payer.address)).toBe(FUNDS - 10_000n)
  }, 60_000)
})

const TRANSFER = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
])

/** Sends an authorization at a price that overtakes the relayer's transaction. */
async function sendFirst({
  authorization,
  signature,
}: Awaited<ReturnType<typeof paymentBy>>['paymentPayload']['payload']): Promise<Hex> {
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  const { r, s, yParity } = parseSignature(signature)
  const data = encodeFunctionData({
    abi: TRANSFER,
    functionName: 'transferWithAuthorization',
    args: [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, yParity + 27, r, s],
  })
  return site.anvil.rpc<Hex>('eth_sendTransaction', [
    {
      from: '0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f',
      to: site.token,
      data,
      gas: '0x30d40',
      maxFeePerGas: '0x174876e800',
      maxPriorityFeePerGas: '0x174876e800',
    },
  ])
}

describe('the payment-identifier', () => {
  const named = (id: string, required = false) => ({ 'payment-identifier': { info: { required, id } } })

  test('gives the same answer for the same payment, and 409 for another one', async () => {
    const payer = await site.payer()
    const id = `pay_${payer.address.slice(2)}`
    const body = await paymentBy(payer, { ...site, extensions: named(id) })
    const first = await mining(settle(ask(body), settings(), world))
    expect(await settle(ask(body), settings(), world)).toMatchObject({
      success: true,
      transaction: first.transaction,
    })
    const other = await paymentBy(payer, { ...site, extensions: named(id) })
    for (const call of [settle, verify])
      await expect(call(ask(other), settings(), world)).rejects.toMatchObject({
        status: 409,
        code: 'payment_identifier_reused',
      })
    // Nobody else uses it up.
    const stranger = await paymentBy(await site.payer(), { ...site, extensions: named(id) })
    expect(await mining(settle(ask(stranger), settings(), world))).toMatchObject({ success: true })
    // The ids of other payees are others.
    const elsewhere = await paymentBy(payer, { ...site, payTo: RECEIVER, extensions: named(id) })
    expect(await verify(ask(elsewhere), settings(), world)).toMatchObject({ isValid: true })
  })

  test('lets one of two payments with the same id through if both come at once', async () => {
    const id = `pay_${Math.random().toString(36).slice(2).padEnd(20, '0')}`
    const payer = await site.payer()
    const make = async () => paymentBy(payer, { ...site, extensions: named(id) })
    const bodies = [await make(), await make()]
    const answers = await mining(
      Promise.allSettled(bodies.map((body) => settle(ask(body), settings(), world))),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(answers.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { status: 409 } })
  })

  test('is not used up by a payment that is refused', async () => {
    const id = `pay_${Math.random().toString(36).slice(2).padEnd(20, '0')}`
    const payer = await site.payer(1n)
    const refused = await paymentBy(payer, { ...site, extensions: named(id) })
    expect(await settle(ask(refused), settings(), world)).toMatchObject({ errorReason: 'insufficient_funds' })
    await site.mint(payer.address, FUNDS)
    const body = await paymentBy(payer, { ...site, extensions: named(id) })
    expect(await mining(settle(ask(body), settings(), world))).toMatchObject({ success: true })
  })

  test('that cannot be stored stops its payment before it is sent', async () => {
    const id = `pay_${Math.random().toString(36).slice(2).padEnd(20, '0')}`
    const body = await paymentBy(await site.payer(), { ...site, extensions: named(id) })
    const full = { ...world, kv: { ...world.kv, set: () => Promise.reject(new Error('KV_FULL')) } }
    await expect(settle(ask(body), settings(), full)).rejects.toThrow('KV_FULL')
    expect(await verify(ask(body), settings(), world)).toMatchObject({ isValid: true })
    expect(await mining(settle(ask(body), settings(), world))).toMatchObject({ success: true })
  })

  test.each([
    ['payment_identifier_required', { 'payment-identifier': { info: { required: true } } }],
    ['payment_identifier_invalid', named('too-short')],
    ['payment_identifier_invalid', named('with spaces and more of them')],
  ])('is answered with 400 %s if it is missing or malformed', async (code, extensions) => {
    const body = await paymentBy(await site.payer(), { ...site, extensions })
    await expect(settle(ask(body), settings(), world)).rejects.toMatchObject({
      name: 'PluginError',
      status: 400,
      code,
    })
  })
})

describe('a limit of the operator', () => {
  const pay = async (more: object, caller = 'shop', payTo = site.payTo) => {
    const body = await paymentBy(await site.payer(), { ...site, payTo })
    return mining(settle(ask(body, caller), settings(more), world))
  }

  test('per API key counts the payments that each key settles', async () => {
    const more = { limits: [{ per: 'key', window_seconds: 1_000_000, settlements: 2 }] }
    const answers = [await pay(more, 'a'), await pay(more, 'a'), await pay(more, 'a'), await pay(more, 'b')]
    expect(answers.map(({ success, errorReason }) => errorReason ?? success)).toEqual([
      true,
      true,
      'limit_exceeded',
      true,
    ])
  }, 30_000)

  test('per payee counts amounts of an asset', async () => {
    const more = { limits: [{ per: 'payee', window_seconds: 2_000_000, amount: 15_000, asset: site.token }] }
    const answers = [await pay(more), await pay(more), await pay(more, 'shop', RECEIVER)]
    expect(answers.map(({ success, errorReason }) => errorReason ?? success)).toEqual([
      true,
      'limit_exceeded',
      true,
    ])
  }, 30_000)

  test('counts payments that are settled at the same moment one by one', async () => {
    const more = { limits: [{ per: 'all', window_seconds: 3_000_000, settlements: 3 }] }
    const bodies = await Promise.all(
      Array.from({ length: 10 }, async () => paymentBy(await site.payer(), site)),
    )
    const answers = await mining(Promise.all(bodies.map((body) => settle(ask(body), settings(more), world))))
    const reasons = answers.map(({ success, errorReason }) => errorReason ?? String(success)).sort()
    expect(reasons).toEqual([...Array(7).fill('limit_exceeded'), ...Array(3).fill('true')])
    // A payment that was accepted counts once, however often it is requested.
    const accepted = bodies.filter((_, index) => answers[index]?.success)
    for (const body of accepted)
      expect(await settle(ask(body), settings(more), world)).toMatchObject({ success: true })
  }, 30_000)

  test('on repeated requests gives the answer for a while, and refuses the payment then', async () => {
    const body = await paymentBy(await site.payer(), site)
    const paid = await mining(settle(ask(body), settings({ repeat_seconds: 60 }), world))
    expect(await settle(ask(body), settings({ repeat_seconds: 60 }), world)).toMatchObject({
      success: true,
      transaction: paid.transaction,
    })
    const later = { ...world, now: () => Date.now() + 61_000 }
    expect(await settle(ask(body), settings({ repeat_seconds: 60 }), later)).toMatchObject({
      errorReason: 'duplicate_settlement',
      errorMessage: expect.stringContaining(paid.transaction),
    })
  })
})

test('a relayer of another network than the operator names stops the payment, and says so in the log', async () => {
  const body = await paymentBy(await site.payer(), { ...site, requirements: { network: 'eip155:8453' } })
  const [network] = site.config.networks
  const wrong = readSettings({ networks: [{ ...network, network: 'eip155:8453' }] })
  await expect(verify(ask(body), wrong, world)).rejects.toThrow(
    `relayer main is on ${NETWORK}, not on eip155:8453`,
  )
})
