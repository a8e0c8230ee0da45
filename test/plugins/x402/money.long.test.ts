import { encodeFunctionData, type Hex, parseAbi } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { paymentKey } from '../../../plugins/x402/asked.ts'
import { readSettings } from '../../../plugins/x402/config.ts'
import { settle } from '../../../plugins/x402/facilitator.ts'
import { type FaultyNode, startFaultyNode } from '../../support/faulty-node.ts'
import { issueLimited } from '../../support/limited-key.ts'
import { RECEIVER } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { MULTICALL_CODE, TWO_FACED_TOKEN_CODE, TWO_FACED_WALLET_CODE } from './contract-code.ts'
import { cancelCall, paymentBy, transferCall } from './evm-payment.ts'
import { type EvmSite, FUNDS, NETWORK, startEvmSite, TOKEN } from './evm-site.ts'
import { pluginEntry, untilReady } from './plugin-entry.ts'
import { createWorld, type TestWorld } from './world.ts'

let site: EvmSite
let node: FaultyNode
let world: TestWorld

beforeAll(async () => {
  site = await startEvmSite(
    {
      network: { required_confirmations: 2 },
      plugins: [pluginEntry([{ network: NETWORK, relayer_id: 'main' }])],
    },
    ['--no-mining'],
    async (anvil) => {
      node = await startFaultyNode(anvil.url)
      return node.url
    },
  )
  world = createWorld(site.service.url)
  await untilReady(site.service)
}, 120_000)

afterAll(async () => {
  await site.stop()
  await node.stop()
})

const ask = (body: unknown) => ({ body, caller: 'shop' })
const settings = (more: object = {}) => readSettings({ ...site.config, timeout_seconds: 15, ...more })

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

interface Sent {
  readonly id: string
  readonly status: string
  readonly data: string
  readonly hash?: string
  readonly gas_limit: number
  readonly receipt?: { readonly gas_used: number }
}

/** The relayer's transactions whose content names this account. */
async function transactionsOf(account: string): Promise<readonly Sent[]> {
  const { body } = await site.service.api<Sent[]>('GET', '/relayers/main/transactions?per_page=100')
  return body.data.filter(({ data }) => data.includes(account.slice(2).toLowerCase()))
}

const WALLET = parseAbi(['constructor(bool burns)'])

/** A wallet that has tokens and is honest only where it is simulated. */
async function twoFaced(burns: boolean): Promise<Hex> {
  const wallet = await site.deploy(TWO_FACED_WALLET_CODE, WALLET, [burns])
  await site.mint(wallet, FUNDS)
  return wallet
}

describe('what a payment may cost', () => {
  test('is in the transaction that is signed: a wallet that burns gas in the block runs out of it', async () => {
    const wallet = await twoFaced(true)
    const body = await paymentBy(await site.payer(0n), { ...site, authorization: { from: wallet } })
    const answer = await mining(settle(ask(body), settings({ wait_for: 'confirmed' }), world))
    expect(answer).toMatchObject({ success: false, errorReason: 'invalid_transaction_state' })
    const [sent, ...others] = await transactionsOf(wallet)
    expect(others).toEqual([])
    expect(sent?.gas_limit).toBeLessThanOrEqual(500_000)
    expect(sent?.receipt?.gas_used).toBeLessThanOrEqual(500_000)
    expect(sent?.status).toBe('failed')
  }, 60_000)

  test('is what was checked, although the same call is dear a moment later', async () => {
    const payer = await site.payer()
    const body = await paymentBy(payer, site)
    let estimates = 0
    node.habits = {
      lie: ({ method }, reply) => {
        if (method !== 'eth_estimateGas') return reply
        estimates += 1
        return estimates === 1 ? reply : { ...reply, result: '0x895440' }
      },
    }
    onTestFinished(() => {
      node.habits = undefined
    })
    expect(await mining(settle(ask(body), settings(), world))).toMatchObject({ success: true })
    const [sent] = await transactionsOf(payer.address)
    expect(sent?.gas_limit).toBeLessThanOrEqual(500_000)
  }, 60_000)

  test('is bounded for one payer: the third payment of a wallet that made two fail is refused', async () => {
    const wallet = await twoFaced(false)
    const owner = await site.payer(0n)
    const reasons: unknown[] = []
    for (let count = 0; count < 4; count += 1) {
      const body = await paymentBy(owner, { ...site, authorization: { from: wallet } })
      const answer = await mining(settle(ask(body), settings({ wait_for: 'confirmed' }), world))
      reasons.push(answer.errorReason)
    }
    expect(reasons).toEqual([
      'invalid_transaction_state',
      'invalid_transaction_state',
      'limit_exceeded',
      'limit_exceeded',
    ])
    expect(await transactionsOf(wallet)).toHaveLength(2)
  }, 60_000)

  test('buys a final answer, also from a token that uses the nonce and moves nothing', async () => {
    const token = await site.deploy(TWO_FACED_TOKEN_CODE, TOKEN, ['Test Dollar', '2', 2n])
    const payer = await site.payer(0n)
    await site.mint(payer.address, FUNDS, token)
    const body = await paymentBy(payer, { ...site, token })
    expect(await mining(settle(ask(body), settings({ wait_for: 'confirmed' }), world))).toMatchObject({
      success: false,
      errorReason: 'invalid_transaction_state',
    })
    expect(await site.balanceOf(payer.address, token)).toBe(FUNDS)
  }, 60_000)

  test('is bounded in all: new wallets do not help, and payers with a key in a listed asset are served', async () => {
    const [network] = site.config.networks
    const fresh = createWorld(site.service.url)
    const listed = settings({
      networks: [{ ...network, assets: [site.token] }],
      failures: { all: 3, payee: 3, open: 2 },
      wait_for: 'confirmed',
    })
    const pay = async (from: Hex, owner: PrivateKeyAccount) => {
      const body = await paymentBy(owner, { ...site, authorization: { from } })
      return mining(settle(ask(body), listed, fresh))
    }
    const owner = await site.payer(0n)
    const wallets = await Promise.all(Array.from({ length: 6 }, () => twoFaced(false)))
    const answers = []
    for (const wallet of wallets) answers.push(await pay(wallet, owner))
    expect(answers.filter(({ errorReason }) => errorReason === 'invalid_transaction_state')).toHaveLength(3)
    expect(answers.at(-1)).toMatchObject({ errorReason: 'limit_exceeded' })
    const honest = await site.payer()
    expect(await pay(honest.address, honest)).toMatchObject({ success: true })
  }, 90_000)

  test('is bounded although no caller waits for the outcome', async () => {
    const fresh = createWorld(site.service.url)
    const brief = settings({ failures: { all: 2, payee: 2, open: 2 }, timeout_seconds: 5 })
    const owner = await site.payer(0n)
    const wallets = await Promise.all(Array.from({ length: 6 }, () => twoFaced(false)))
    const bodies = await Promise.all(
      wallets.map((from) => paymentBy(owner, { ...site, authorization: { from } })),
    )
    const answers = await Promise.all(bodies.map((body) => settle(ask(body), brief, fresh)))
    expect(answers.filter(({ errorReason }) => errorReason === 'limit_exceeded')).toHaveLength(4)
    const sent = (await Promise.all(wallets.map(transactionsOf))).flat()
    expect(sent).toHaveLength(2)
    await until(
      async () => {
        await site.anvil.rpc('evm_mine')
        return Promise.all(
          sent.map(
            async ({ id }) => (await site.service.api('GET', `/relayers/main/transactions/${id}`)).body.data,
          ),
        )
      },
      (all) => all.every(({ status }) => status === 'failed'),
    )
    // Two have failed and nobody asked for them; the next one finds that out.
    const later = { ...fresh, now: () => Date.now() + 10_000 }
    const next = await paymentBy(owner, { ...site, authorization: { from: await twoFaced(false) } })
    expect(await settle(ask(next), brief, later)).toMatchObject({
      errorReason: 'limit_exceeded',
      errorMessage: expect.stringContaining('2 payments failed'),
    })
  }, 60_000)

  test('is counted for a payer with funds for one: of forty payments at once one is sent', async () => {
    const payer = await site.payer(10_000n)
    const bodies = await Promise.all(Array.from({ length: 40 }, () => paymentBy(payer, site)))
    const answers = await mining(Promise.all(bodies.map((body) => settle(ask(body), settings(), world))))
    const reasons = answers.map(({ success, errorReason }) => errorReason ?? String(success))
    expect(reasons.filter((reason) => reason === 'true')).toHaveLength(1)
    // One whose simulation met the block with the first payment has a reason of its own.
    expect(reasons.filter((reason) => reason === 'insufficient_funds').length).toBeGreaterThan(35)
    expect(await transactionsOf(payer.address)).toHaveLength(1)
  }, 60_000)

  test('does not keep an honest payer from paying once more when the first payment is in a block', async () => {
    const payer = await site.payer(20_000n)
    for (let count = 0; count < 2; count += 1) {
      const body = await paymentBy(payer, site)
      expect(await mining(settle(ask(body), settings(), world))).toMatchObject({ success: true })
    }
    expect(await site.balanceOf(payer.address)).toBe(0n)
  }, 60_000)
})

/** Asks the plugin in its own process. */
async function callSettle(body: object) {
  const response = await fetch(`${site.service.url}/x402/settle`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` },
    body: JSON.stringify(body),
  })
  return (await response.json()) as { success: boolean; transaction: string }
}

const KEY = 'an-api-key-for-tests-that-is-long-enough'

test('another API key that takes the name of a payment first takes nothing from the payee', async () => {
  const payer = await site.payer()
  const body = await paymentBy(payer, site)
  const { nonce } = body.paymentPayload.payload.authorization
  const identity = [
    'eip3009',
    site.token.toLowerCase(),
    payer.address.toLowerCase(),
    BigInt(nonce).toString(),
  ]
  const name = paymentKey({
    request: { network: { network: NETWORK } },
    payment: { identity },
  } as unknown as Parameters<typeof paymentKey>[0])
  const thief = await issueLimited(site.service, { limits: [] })
  const headers = { 'Idempotency-Key': name }
  const taken = await thief.send({ to: RECEIVER, value: 1 }, headers)
  expect(taken.status).toBe(200)
  const paid = await mining(callSettle(body))
  expect(paid).toMatchObject({ success: true })
  const [sent] = await transactionsOf(payer.address)
  expect(sent?.hash).toBe(paid.transaction)
  expect(await site.balanceOf(payer.address)).toBe(FUNDS - 10_000n)
  // Each finds under the name what it has sent itself.
  const search = `/transactions?relayer_id=main&idempotency_key=${encodeURIComponent(name)}`
  expect((await thief.call<Sent[]>('GET', search)).body.data).toMatchObject([{ id: taken.body.data.id }])
  expect((await thief.send({ to: RECEIVER, value: 1 }, headers)).body.data.id).toBe(taken.body.data.id)
}, 60_000)

const AGGREGATE = parseAbi([
  'struct Call { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call[] calls) payable returns (Result[] results)',
])

/** Sends at a price that overtakes the relayer's transaction. */
function overtake(to: Hex, data: Hex): Promise<Hex> {
  const from = '0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f'
  const price = { maxFeePerGas: '0x174876e800', maxPriorityFeePerGas: '0x174876e800' }
  return site.anvil.rpc<Hex>('eth_sendTransaction', [{ from, to, data, gas: '0x7a120', ...price }])
}

/** Asks until the transaction is signed, while no block can include it. */
const signed = (body: object) =>
  until(
    () => settle(ask(body), settings({ timeout_seconds: 1 }), world),
    ({ transaction }) => transaction !== '',
  )

describe('an authorization that another account sends first', () => {
  const limitLogs = (blocks: number) => {
    onTestFinished(() => {
      node.habits = undefined
    })
    node.habits = {
      refuse: ({ method, params }) => {
        if (method !== 'eth_getLogs') return undefined
        const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }]
        return BigInt(toBlock) - BigInt(fromBlock) < BigInt(blocks)
          ? undefined
          : { code: -32602, message: `eth_getLogs is limited to a ${blocks} range` }
      },
    }
  }

  test.each([
    [1000, 30],
    [10, 1001],
    [1, 30],
  ])(
    'is a success, also if the node limits a query to %d blocks and the payment is asked for %d blocks later',
    async (blocks, later) => {
      limitLogs(blocks)
      const body = await paymentBy(await site.payer(), site)
      await signed(body)
      const other = await overtake(site.token, transferCall(body.paymentPayload.payload))
      const first = await mining(settle(ask(body), settings(), world))
      expect(first).toMatchObject({ success: true, transaction: other })
      await site.anvil.rpc('anvil_mine', [`0x${later.toString(16)}`])
      expect(await settle(ask(body), settings(), world)).toMatchObject({ success: true, transaction: other })
    },
    60_000,
  )

  test('is pending and never a failure while the node has no logs', async () => {
    limitLogs(0)
    const body = await paymentBy(await site.payer(), site)
    await signed(body)
    const other = await overtake(site.token, transferCall(body.paymentPayload.payload))
    const brief = settings({ timeout_seconds: 3 })
    const silent = await mining(settle(ask(body), brief, world))
    expect(silent).toMatchObject({ success: false, errorReason: 'settlement_pending' })
    node.habits = undefined
    expect(await settle(ask(body), brief, world)).toMatchObject({ success: true, transaction: other })
  }, 60_000)

  test('is a success for who asks after it has expired', async () => {
    const seconds = BigInt(Math.floor(Date.now() / 1000))
    const body = await paymentBy(await site.payer(), {
      ...site,
      authorization: { validBefore: seconds + 4n },
    })
    const other = await overtake(site.token, transferCall(body.paymentPayload.payload))
    await site.anvil.rpc('evm_mine')
    expect(await settle(ask(body), settings(), world)).toMatchObject({ success: true, transaction: other })
    // Nobody has paid this one.
    const unpaid = await paymentBy(await site.payer(), {
      ...site,
      authorization: { validBefore: seconds + 4n },
    })
    expect(await settle(ask(unpaid), settings(), world)).toMatchObject({
      success: false,
      errorReason: 'invalid_exact_evm_payload_authorization_valid_before',
    })
  }, 60_000)

  test('is a failure if what came first was the payer who took the authorization back', async () => {
    const payer = await site.payer()
    const body = await paymentBy(payer, site)
    await signed(body)
    const { nonce } = body.paymentPayload.payload.authorization
    await overtake(site.token, await cancelCall(payer, site.token, nonce))
    const answer = await mining(settle(ask(body), settings(), world))
    expect(answer).toMatchObject({ success: false, errorReason: 'invalid_transaction_state' })
    expect(await site.balanceOf(payer.address)).toBe(FUNDS)
  }, 60_000)

  test('is no success if the nonce was used for the payer himself, beside another payment to the same payee', async () => {
    const multicall = '0xcA11bde05977b3631167028862bE2a173976CA11'
    await site.anvil.rpc('anvil_setCode', [multicall, MULTICALL_CODE])
    const payer = await site.payer()
    const asked = await paymentBy(payer, site)
    const { nonce } = asked.paymentPayload.payload.authorization
    const toSelf = await paymentBy(payer, { ...site, payTo: RECEIVER, authorization: { nonce } })
    const another = await paymentBy(payer, site)
    await signed(asked)
    const calls = [toSelf, another].map(({ paymentPayload: { payload } }) => ({
      target: site.token,
      allowFailure: false,
      callData: transferCall(payload),
    }))
    await overtake(
      multicall,
      encodeFunctionData({ abi: AGGREGATE, functionName: 'aggregate3', args: [calls] }),
    )
    expect(await mining(settle(ask(asked), settings(), world))).toMatchObject({
      success: false,
      errorReason: 'invalid_transaction_state',
    })
    expect(await site.balanceOf(payer.address)).toBe(FUNDS - 20_000n)
  }, 60_000)
})

test('a payment asks to be refused at once if it cannot be included in time', async () => {
  const paths: string[] = []
  const { request } = world.api
  const watched = {
    ...world,
    api: {
      request: (asked: Parameters<typeof request>[0]) => {
        if (asked.method === 'POST') paths.push(asked.path)
        return request(asked)
      },
    },
  }
  const body = await paymentBy(await site.payer(), site)
  expect(await mining(settle(ask(body), settings({ timeout_seconds: 15 }), watched))).toMatchObject({
    success: true,
  })
  expect(paths).toContain('/api/v1/relayers/main/transactions?max_queue_seconds=15')
}, 60_000)

test('a payment that cannot be signed in time is withdrawn, and its buyer is told so', async () => {
  const payer = await site.payer()
  // The account has as many in flight as it may, and no block comes.
  const waiting = await Promise.all(
    Array.from({ length: 16 }, () =>
      site.service.api('POST', '/relayers/main/transactions', { to: RECEIVER, value: 1 }),
    ),
  )
  await until(
    async () =>
      Promise.all(
        waiting.map(async ({ body }) => {
          const { data } = await site.service
            .api('GET', `/relayers/main/transactions/${body.data.id}`)
            .then(({ body: read }) => read)
          return data.status
        }),
      ),
    (all) => all.every((status) => status === 'submitted'),
  )
  const body = await paymentBy(payer, site)
  const refused = { success: false, errorReason: 'invalid_transaction_state', transaction: '' }
  const brief = settings({ timeout_seconds: 1 })
  const first = await settle(ask(body), brief, world)
  expect(first).toMatchObject({ success: false, transaction: '' })
  // A block later it is certain that nobody else has paid.
  for (let count = 0; count < 4; count += 1) await site.anvil.rpc('evm_mine')
  expect(await settle(ask(body), brief, world)).toMatchObject(refused)
  expect(await site.balanceOf(payer.address)).toBe(FUNDS)
}, 60_000)
