import { ExactEvmScheme as PayerScheme } from '@x402/evm'
import { ExactEvmScheme as ShopScheme } from '@x402/evm/exact/server'
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { createPublicClient, type Hex, http, parseAbi } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readSettings } from '../../../plugins/x402/config.ts'
import { PERMIT2 } from '../../../plugins/x402/evm/payment.ts'
import { settle, verify } from '../../../plugins/x402/facilitator.ts'
import { type FaultyNode, startFaultyNode } from '../../support/faulty-node.ts'
import { RECEIVER } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { PERMIT_TOKEN_CODE } from './contract-code.ts'
import { type EvmSite, FUNDS, NETWORK, startEvmSite, TOKEN } from './evm-site.ts'
import { approve, charging, type PermitParts, permitBy, placePermit2 } from './permit2-payment.ts'
import { pluginEntry, untilReady } from './plugin-entry.ts'
import { startShop } from './shop.ts'
import { createWorld, type TestWorld } from './world.ts'

let site: EvmSite
let node: FaultyNode
let world: TestWorld
/** A token with EIP-2612. */
let token: Hex

beforeAll(async () => {
  const plain = await startEvmSite(
    { plugins: [pluginEntry([{ network: NETWORK, relayer_id: 'main' }])] },
    ['--no-mining'],
    async (anvil) => {
      node = await startFaultyNode(anvil.url)
      return node.url
    },
  )
  token = await plain.deploy(PERMIT_TOKEN_CODE, TOKEN, ['Test Dollar', '2', 0n])
  site = { ...plain, token }
  await placePermit2(site)
  world = createWorld(site.service.url)
  await untilReady(site.service)
}, 120_000)

afterAll(async () => {
  await site.stop()
  await node.stop()
})

const settings = (more: object = {}) => readSettings({ ...site.config, timeout_seconds: 15, ...more })
const ask = (body: unknown) => ({ body, caller: 'shop' })

async function payerWith(units = FUNDS): Promise<PrivateKeyAccount> {
  const payer = await site.payer(0n)
  await site.mint(payer.address, units, token)
  return payer
}

/** A payment that brings a permit. */
const bringing = (payer: PrivateKeyAccount, parts: Partial<PermitParts> = {}) =>
  permitBy(payer, { ...site, token, scheme: 'exact', permit: {}, ...parts })

/** Makes blocks until the work is done. */
async function mining<Result>(work: Promise<Result>): Promise<Result> {
  let done = false
  const finished = work.finally(() => {
    done = true
  })
  await Promise.all([
    until(async () => {
      await site.anvil.rpc('evm_mine')
      return done
    }, Boolean),
    finished.catch(() => undefined),
  ])
  return finished
}

const ALLOWANCE = parseAbi(['function allowance(address owner, address spender) view returns (uint256)'])

function allowanceOf(owner: Hex): Promise<bigint> {
  const client = createPublicClient({ transport: http(site.anvil.url) })
  return client.readContract({
    address: token,
    abi: ALLOWANCE,
    functionName: 'allowance',
    args: [owner, PERMIT2],
  })
}

describe('a payer who never allowed Permit2 to spend', () => {
  test('pays with the clients of npm where the shop declares the extension, and owns no ether', async () => {
    const shop = await startShop({
      facilitator: `${site.service.url}/x402`,
      network: NETWORK,
      asset: token,
      payTo: site.payTo,
      extra: { name: 'Test Dollar', version: '2', assetTransferMethod: 'permit2' },
      scheme: new ShopScheme(),
      extensions: { eip2612GasSponsoring: { info: { description: 'permits', version: '1' }, schema: {} } },
    })
    onTestFinished(shop.stop)
    const payer = await payerWith()
    const client = new PayerScheme(payer, { rpcUrl: site.anvil.url })
    const pay = wrapFetchWithPaymentFromConfig(fetch, {
      schemes: [{ network: 'eip155:*', client }],
      spendControls: false,
    })
    const response = await mining(pay(shop.url))
    expect([response.status, shop.sales()]).toEqual([200, 1])
    expect(await site.balanceOf(payer.address, token)).toBe(FUNDS - 10_000n)
    expect(await site.anvil.rpc('eth_getBalance', [payer.address, 'latest'])).toBe('0x0')
    expect(await allowanceOf(payer.address)).toBe(0n)
  }, 60_000)

  test('pays a part of what he signed, and no more stays allowed than the rest', async () => {
    const payer = await payerWith()
    const body = await bringing(payer, { scheme: 'upto' })
    expect(await verify(ask(body), settings(), world)).toMatchObject({ isValid: true })
    const answer = await mining(settle(ask(charging(body, 3_000n)), settings(), world))
    expect(answer).toMatchObject({ success: true, amount: '3000' })
    expect(await site.balanceOf(payer.address, token)).toBe(FUNDS - 3_000n)
    expect(await allowanceOf(payer.address)).toBe(7_000n)
  }, 60_000)

  test('has one answer for a repeated request, also for one without the permit', async () => {
    const payer = await payerWith()
    const body = await bringing(payer)
    const first = await mining(settle(ask(body), settings(), world))
    expect(first).toMatchObject({ success: true })
    const { extensions: _, ...paymentPayload } = body.paymentPayload as typeof body.paymentPayload & {
      extensions?: object
    }
    for (const again of [body, { ...body, paymentPayload }])
      expect(await settle(ask(again), settings(), world)).toMatchObject({
        success: true,
        transaction: first.transaction,
      })
  }, 60_000)

  test.each<[string, string, Partial<PermitParts>]>([
    ['is for another amount', 'permit2_2612_amount_mismatch', { permit: { value: 2n ** 256n - 1n } }],
    ['lets someone else spend', 'eip2612_spender_not_permit2', { permit: { spender: RECEIVER } }],
    ['is of someone else', 'eip2612_from_mismatch', { permit: { from: RECEIVER } }],
    ['is for another token', 'eip2612_asset_mismatch', { permit: { asset: RECEIVER } }],
    ['has a nonce that is not next', 'permit2_allowance_required', { permit: { nonce: 7n } }],
    ['has expired', 'permit2_deadline_expired', { permit: { deadline: 1n } }],
  ])('is refused if the permit %s: %s', async (_, reason, parts) => {
    const payer = await payerWith()
    const body = await bringing(payer, parts)
    expect(await verify(ask(body), settings(), world)).toMatchObject({
      isValid: false,
      invalidReason: reason,
    })
    expect(await settle(ask(body), settings(), world)).toMatchObject({
      success: false,
      errorReason: reason,
      transaction: '',
    })
  })

  test('is refused with a permit of a stranger', async () => {
    const [payer, other] = [await payerWith(), await payerWith()]
    const body = await bringing(payer)
    const { paymentPayload } = await bringing(other)
    const info = (paymentPayload as { extensions?: { eip2612GasSponsoring: { info: object } } }).extensions
      ?.eip2612GasSponsoring.info
    Object.assign(body.paymentPayload, {
      extensions: { eip2612GasSponsoring: { info: { ...info, from: payer.address } } },
    })
    expect(await settle(ask(body), settings(), world)).toMatchObject({
      errorReason: 'permit2_allowance_required',
    })
  })
})

/** The transactions of the relayer that failed. */
async function failures(): Promise<readonly unknown[]> {
  return (await site.service.api<unknown[]>('GET', '/transactions?status=failed')).body.data
}

/** Settles all, and makes no block before each is sent or refused. */
async function settleTogether(payer: PrivateKeyAccount, bodies: readonly object[]) {
  let refused = 0
  const patient = settings({ timeout_seconds: 60 })
  const answers = bodies.map(async (body) => {
    const answer = await settle(ask(body), patient, world)
    refused += answer.success ? 0 : 1
    return answer
  })
  const account = payer.address.slice(2).toLowerCase()
  await until(
    async () => {
      const { body } = await site.service.api<{ data: string }[]>(
        'GET',
        '/relayers/main/transactions?per_page=100',
      )
      return refused + body.data.filter(({ data }) => data.includes(account)).length
    },
    (known) => known >= bodies.length,
    { timeoutMs: 60_000 },
  )
  return mining(Promise.all(answers))
}

describe('no payer makes the relayer pay for what cannot succeed', () => {
  test('with twenty payments that bring the same permit: one waits for its block, and no other is sent', async () => {
    const payer = await payerWith()
    const bodies = await Promise.all(Array.from({ length: 20 }, () => bringing(payer)))
    const answers = await settleTogether(payer, bodies)
    const reasons = answers.map(({ success, errorReason }) => (success ? 'paid' : errorReason))
    expect(reasons.toSorted()).toEqual([...Array.from({ length: 19 }, () => 'limit_exceeded'), 'paid'])
    expect(await failures()).toEqual([])
    expect(await site.balanceOf(payer.address, token)).toBe(FUNDS - 10_000n)
  }, 120_000)

  test('with twenty payments and an allowance for one', async () => {
    const payer = await payerWith()
    await approve({ ...site, token }, payer, 10_000n)
    await site.anvil.rpc('evm_mine')
    expect(await allowanceOf(payer.address)).toBe(10_000n)
    // Unlike anvil, many nodes estimate gas without what waits for its block.
    node.habits = {
      lie: ({ method }, reply) =>
        method === 'eth_estimateGas' ? { jsonrpc: '2.0', id: reply.id, result: '0x30d40' } : reply,
    }
    onTestFinished(() => {
      node.habits = undefined
    })
    const bodies = await Promise.all(
      Array.from({ length: 20 }, () => permitBy(payer, { ...site, token, scheme: 'exact' })),
    )
    const answers = await settleTogether(payer, bodies)
    const reasons = answers.map(({ success, errorReason }) => (success ? 'paid' : errorReason))
    expect(reasons.toSorted()).toEqual([...Array.from({ length: 19 }, () => 'insufficient_funds'), 'paid'])
    expect(await failures()).toEqual([])
    expect(await site.balanceOf(payer.address, token)).toBe(FUNDS - 10_000n)
  }, 120_000)
})
