import { HTTPFacilitatorClient } from '@x402/core/server'
import { BatchSettlementEvmScheme as PayerScheme } from '@x402/evm/batch-settlement/client'
import { BatchSettlementEvmScheme as ShopScheme } from '@x402/evm/batch-settlement/server'
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import {
  encodeAbiParameters,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  hexToBigInt,
  keccak256,
  numberToHex,
  pad,
  parseAbi,
  serializeErc6492Signature,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Rpc } from '../../../plugins/shared/host.ts'
import { readSettings } from '../../../plugins/x402/config.ts'
import { CHANNELS } from '../../../plugins/x402/evm/channels/channel.ts'
import { decodeOperation } from '../../../plugins/x402/evm/channels/operation.ts'
import { operationEffect } from '../../../plugins/x402/evm/channels/outcome.ts'
import { settle, verify } from '../../../plugins/x402/facilitator.ts'
import { supported } from '../../../plugins/x402/supported.ts'
import { readPaymentRequest } from '../../../plugins/x402/wire.ts'
import { API_KEY, RECEIVER } from '../../support/service.ts'
import { RECEIVING_TOKEN_CODE } from './channel-code.ts'
import {
  channelBody,
  channelOf,
  channelState,
  claimBody,
  depositBody,
  managerBody,
  permitDepositBody,
  placeChannels,
  refundBody,
  settleBody,
  type TestChannel,
  voucherOf,
  withdraw,
} from './channel-payment.ts'
import { FACTORY_CODE, MULTICALL_CODE, WALLET_CODE } from './contract-code.ts'
import { type EvmSite, NETWORK, startEvmSite, TOKEN } from './evm-site.ts'
import { approve, placePermit2 } from './permit2-payment.ts'
import { pluginEntry, untilReady } from './plugin-entry.ts'
import { startShop } from './shop.ts'
import { createWorld, type TestWorld } from './world.ts'

// Rows with a number are what scheme_batch_settlement_evm of x402 demands of facilitators, by its "Verification Rules".

let site: EvmSite
let world: TestWorld

beforeAll(async () => {
  const networks = [{ network: NETWORK, relayer_id: 'main', batch_settlement: true }]
  site = await startEvmSite({ plugins: [pluginEntry(networks)] })
  const token = await site.deploy(RECEIVING_TOKEN_CODE, TOKEN, ['Test Dollar', '2', 0n])
  const { mint, balanceOf } = site
  site = {
    ...site,
    token,
    mint: (to, units, at = token) => mint(to, units, at),
    balanceOf: (account, at = token) => balanceOf(account, at),
  }
  await placePermit2(site)
  await placeChannels(site)
  world = createWorld(site.service.url)
  await untilReady(site.service)
}, 120_000)

afterAll(() => site.stop())

const settings = (network: object = {}, more: object = {}) =>
  readSettings({
    networks: [{ network: NETWORK, relayer_id: 'main', batch_settlement: true, ...network }],
    timeout_seconds: 20,
    ...more,
  })
const ask = (body: unknown) => ({ body, caller: 'shop' })
const verified = (body: unknown) => verify(ask(body), settings(), world)
const settled = (body: unknown) => settle(ask(body), settings(), world)
const EVM = 'invalid_batch_settlement_evm'

/** An account of anvil that no relayer uses. */
const STRANGER = '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720'

const newKey = () => privateKeyToAccount(generatePrivateKey())

/** A channel of a new payer with tokens, to a receiver of its own. */
async function newChannel(
  changes: Partial<TestChannel['config']> = {},
  tokens = 100_000n,
): Promise<TestChannel> {
  const payer = newKey()
  await site.mint(payer.address, tokens)
  return channelOf({ token: site.token, payTo: newKey().address }, { payer, authorizer: newKey() }, changes)
}

/** One that has so much. */
async function filled(amount = 10_000n, changes: Partial<TestChannel['config']> = {}): Promise<TestChannel> {
  const channel = await newChannel(changes)
  expect(await settled(await depositBody(channel, amount))).toMatchObject({ success: true })
  return channel
}

const voucherBody = async (channel: TestChannel, most: bigint) =>
  channelBody(channel, {
    type: 'voucher',
    channelConfig: channel.config,
    voucher: await voucherOf(channel, most),
  })

describe('the client and the server of npm', () => {
  test('fill a channel once, pay from it, claim, settle and refund', async () => {
    const authorizer = newKey()
    const payTo = newKey().address
    const headers = { authorization: `Bearer ${API_KEY}` }
    const scheme = new ShopScheme(payTo, { receiverAuthorizerSigner: authorizer })
    const shop = await startShop({
      facilitator: `${site.service.url}/x402`,
      network: NETWORK,
      asset: site.token,
      payTo,
      amount: '1000',
      extra: { name: 'Test Dollar', version: '2' },
      scheme,
    })
    onTestFinished(shop.stop)
    const payer = newKey()
    await site.mint(payer.address, 100_000n)
    const client = new PayerScheme(payer, { rpcUrl: site.anvil.url })
    const pay = wrapFetchWithPaymentFromConfig(fetch, {
      schemes: [{ network: 'eip155:*', client }],
      spendControls: false,
    })
    for (let count = 0; count < 3; count += 1) expect((await pay(shop.url)).status).toBe(200)
    expect(shop.sales()).toBe(3)
    // One deposit of ten prices, and three vouchers.
    expect(await site.balanceOf(payer.address)).toBe(90_000n)
    const facilitator = new HTTPFacilitatorClient({
      url: `${site.service.url}/x402`,
      createAuthHeaders: async () => ({ verify: headers, settle: headers, supported: headers }),
    })
    const manager = scheme.createChannelManager(facilitator, NETWORK, site.token)
    const { claims, settle: made } = await manager.claimAndSettle()
    expect(claims).toMatchObject([{ vouchers: 1 }])
    expect(made?.transaction).toMatch(/^0x/)
    expect(await site.balanceOf(payTo)).toBe(3_000n)
    expect((await pay(shop.url)).status).toBe(200)
    const refund = await client.refund(shop.url)
    expect(refund).toMatchObject({ success: true, amount: '6000' })
    expect(await site.balanceOf(payer.address)).toBe(96_000n)
    await manager.settle()
    expect(await site.balanceOf(payTo)).toBe(4_000n)
    expect(await site.balanceOf(CHANNELS)).toBe(0n)
  }, 120_000)

  test('tell the buyer the deposit and its hash', async () => {
    const authorizer = newKey()
    const payTo = newKey().address
    const shop = await startShop({
      facilitator: `${site.service.url}/x402`,
      network: NETWORK,
      asset: site.token,
      payTo,
      amount: '1000',
      extra: { name: 'Test Dollar', version: '2' },
      scheme: new ShopScheme(payTo, { receiverAuthorizerSigner: authorizer }),
    })
    onTestFinished(shop.stop)
    const payer = newKey()
    await site.mint(payer.address, 100_000n)
    const pay = wrapFetchWithPaymentFromConfig(fetch, {
      schemes: [{ network: 'eip155:*', client: new PayerScheme(payer, { rpcUrl: site.anvil.url }) }],
      spendControls: false,
    })
    const told = decodePaymentResponseHeader((await pay(shop.url)).headers.get('PAYMENT-RESPONSE') ?? '')
    expect(told).toMatchObject({
      success: true,
      amount: '10000',
      extra: {
        chargedAmount: '1000',
        channelState: { balance: '10000', totalClaimed: '0', refundNonce: '0' },
      },
    })
  }, 60_000)
})

describe('a channel', () => {
  test('is filled once, however often it is asked for', async () => {
    const channel = await newChannel()
    const body = await depositBody(channel, 5_000n)
    expect(await verified(body)).toEqual({
      isValid: true,
      payer: channel.config.payer.toLowerCase(),
      extra: {
        channelId: channel.id,
        balance: '0',
        totalClaimed: '0',
        withdrawRequestedAt: 0,
        refundNonce: '0',
      },
    })
    const answers = await Promise.all([body, body, body].map((each) => settled(each)))
    expect(answers[0]).toMatchObject({
      success: true,
      amount: '5000',
      extra: { channelState: { channelId: channel.id, balance: '5000', totalClaimed: '0' } },
    })
    expect(new Set(answers.map(({ transaction }) => transaction)).size).toBe(1)
    expect(await settled(body)).toMatchObject({
      success: true,
      extensions: { settlement: { repeated: true } },
    })
    // A process that knows nothing of it finds it, too.
    expect(await settle(ask(body), settings(), createWorld(site.service.url))).toMatchObject({
      success: true,
      transaction: answers[0]?.transaction,
    })
    expect(await channelState(site, channel)).toEqual([5_000n, 0n])
    expect(await verified(body)).toMatchObject({ invalidReason: 'duplicate_settlement' })
  }, 60_000)

  test('is filled by Permit2', async () => {
    const channel = await newChannel()
    expect(await settled(await permitDepositBody(channel, 5_000n))).toMatchObject({
      errorReason: `${EVM}_permit2_allowance_required`,
    })
    await approve(site, channel.payer)
    expect(await settled(await permitDepositBody(channel, 5_000n))).toMatchObject({
      success: true,
      amount: '5000',
    })
    expect(await channelState(site, channel)).toEqual([5_000n, 0n])
  }, 60_000)

  test('gives its receiver what is claimed, once', async () => {
    const channel = await filled()
    const { receiver } = channel.config
    expect(await verified(await voucherBody(channel, 3_000n))).toMatchObject({
      isValid: true,
      extra: { channelId: channel.id, balance: '10000', totalClaimed: '0' },
    })
    const claim = await claimBody([{ channel, most: 3_000n, claimed: 2_500n }])
    const [first, second] = await Promise.all([claim, claim].map((each) => settled(each)))
    expect(first).toMatchObject({ success: true, amount: '' })
    expect(second?.transaction).toBe(first?.transaction)
    expect(await channelState(site, channel)).toEqual([10_000n, 2_500n])
    const [paid, again] = await Promise.all([1, 2].map(() => settled(settleBody(channel))))
    expect(paid).toMatchObject({ success: true, amount: '2500' })
    expect(again?.transaction).toBe(paid?.transaction)
    expect(await settled(settleBody(channel))).toMatchObject({
      success: true,
      transaction: paid?.transaction,
      extensions: { settlement: { repeated: true } },
    })
    expect(await site.balanceOf(receiver)).toBe(2_500n)
    const more = await claimBody([{ channel, most: 4_000n, claimed: 4_000n }])
    expect(await settled(more)).toMatchObject({ success: true })
    expect(await settled(settleBody(channel))).toMatchObject({ success: true, amount: '1500' })
    expect(await site.balanceOf(receiver)).toBe(4_000n)
  }, 60_000)

  test('gives its payer back what is left, after a claim', async () => {
    const channel = await filled()
    const refund = await refundBody(channel, {
      amount: 10_000n,
      rows: [{ channel, most: 3_000n, claimed: 3_000n }],
    })
    expect(await settled(refund)).toMatchObject({
      success: true,
      amount: '7000',
      payer: channel.config.payer.toLowerCase(),
      extra: { channelState: { balance: '3000', totalClaimed: '3000', refundNonce: '1' } },
    })
    expect(await settled(refund)).toMatchObject({
      success: true,
      amount: '7000',
      extensions: { settlement: { repeated: true } },
    })
    expect(await site.balanceOf(channel.config.payer)).toBe(97_000n)
    const again = await refundBody(channel, { amount: 1n, nonce: 1n })
    expect(await settled(again)).toMatchObject({ errorReason: `${EVM}_refund_no_balance` })
  }, 60_000)

  test('is one of 32 rows at most', async () => {
    const channel = await filled()
    const row = { channel, most: 1_000n, claimed: 1_000n }
    const rows = Array.from({ length: 31 }, () => row)
    const wide = settings({ max_gas: 3_000_000 })
    expect(await verify(ask(await claimBody([row, ...rows])), wide, world)).toMatchObject({ isValid: true })
    expect(await verify(ask(await claimBody([row, row, ...rows])), wide, world)).toMatchObject({
      invalidReason: `${EVM}_claim_payload`,
    })
  }, 60_000)

  test('is one of twelve that are claimed together', async () => {
    const authorizer = newKey()
    const payTo = newKey().address
    const channels = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const payer = newKey()
        await site.mint(payer.address, 10_000n)
        return channelOf({ token: site.token, payTo }, { payer, authorizer })
      }),
    )
    const answers = await Promise.all(
      channels.map(async (channel) => settled(await depositBody(channel, 10_000n))),
    )
    expect(answers.map(({ success, errorMessage }) => errorMessage ?? success)).toEqual(
      channels.map(() => true),
    )
    const [first, ...others] = channels.map((channel, index) => ({
      channel,
      most: 5_000n,
      claimed: 1_000n + BigInt(index),
    }))
    if (!first) throw new Error('there is no channel')
    const claim = await claimBody([first, ...others])
    const wide = settings({ max_gas: 3_000_000 })
    expect(await settle(ask(claim), wide, world)).toMatchObject({ success: true })
    expect(await settled(settleBody(first.channel))).toMatchObject({ success: true, amount: '12066' })
    expect(await site.balanceOf(payTo)).toBe(12_066n)
  }, 120_000)
})

const WALLETS = parseAbi([
  'constructor(address owner)',
  'function create(address owner, bytes32 salt) returns (address)',
])

describe('a payer whose wallet is a contract', () => {
  test('signs vouchers and deposits by ERC-1271', async () => {
    const owner = newKey()
    const wallet = await site.deploy(WALLET_CODE, WALLETS, [owner.address])
    await site.mint(wallet, 10_000n)
    const channel = channelOf(
      { token: site.token, payTo: newKey().address },
      { payer: owner, authorizer: newKey() },
      { payer: wallet, payerAuthorizer: '0x0000000000000000000000000000000000000000' },
    )
    expect(await settled(await depositBody(channel, 5_000n))).toMatchObject({ success: true })
    expect(await verified(await voucherBody(channel, 3_000n))).toMatchObject({ isValid: true })
    expect(await settled(await claimBody([{ channel, most: 3_000n, claimed: 3_000n }]))).toMatchObject({
      success: true,
    })
    const voucher = await voucherOf(channel, 4_000n, { by: newKey() })
    expect(await settled(await depositBody(channel, 1_000n, { voucher }))).toMatchObject({
      errorReason: `${EVM}_voucher_signature`,
    })
    const forged = channelBody(channel, {
      type: 'voucher',
      channelConfig: channel.config,
      voucher: await voucherOf(channel, 4_000n, { by: newKey() }),
    })
    expect(await verified(forged)).toMatchObject({ invalidReason: `${EVM}_voucher_signature` })
  }, 60_000)

  test('has it created with the deposit by a listed factory (ERC-6492)', async () => {
    await site.anvil.rpc('anvil_setCode', ['0xcA11bde05977b3631167028862bE2a173976CA11', MULTICALL_CODE])
    const factory = await site.deploy(FACTORY_CODE)
    const owner = newKey()
    const salt = keccak256(owner.address)
    const bytecode: Hex = `${WALLET_CODE}${encodeAbiParameters([{ type: 'address' }], [owner.address]).slice(2)}`
    const wallet = getContractAddress({ opcode: 'CREATE2', from: factory, salt, bytecode })
    const data = encodeFunctionData({ abi: WALLETS, functionName: 'create', args: [owner.address, salt] })
    await site.mint(wallet, 10_000n)
    const channel = channelOf(
      { token: site.token, payTo: newKey().address },
      { payer: owner, authorizer: newKey() },
      { payer: wallet, payerAuthorizer: '0x0000000000000000000000000000000000000000' },
    )
    const wrap = (signature: Hex) => serializeErc6492Signature({ address: factory, data, signature })
    const body = await depositBody(channel, 5_000n, { wrap })
    expect(await settled(body)).toMatchObject({ errorReason: `${EVM}_eip6492_factory_not_allowed` })
    const listed = settings({ wallet_factories: [factory] })
    expect(await settle(ask(body), listed, world)).toMatchObject({ success: true, amount: '5000' })
    expect(await channelState(site, channel)).toEqual([5_000n, 0n])
  }, 60_000)
})

type Row = readonly [number: string, demands: string, make: () => Promise<unknown>, reason: string]

const other = newKey()

/** What `/verify` and `/settle` say of each. */
const ROWS: readonly Row[] = [
  [
    '1',
    'the channel must be the one of the voucher',
    async () => {
      const [channel, another] = [await newChannel(), await newChannel()]
      return depositBody(channel, 5_000n, { voucher: await voucherOf(another, 1000n) })
    },
    'channel_id_mismatch',
  ],
  [
    '1',
    'a voucher for another chain is another one',
    async () => {
      const channel = await newChannel()
      return depositBody(channel, 5_000n, {
        voucher: await voucherOf(channel, 1000n, { on: { chainId: 1 } }),
      })
    },
    'voucher_signature',
  ],
  [
    '1',
    'a voucher for another contract is another one',
    async () => {
      const channel = await newChannel()
      return depositBody(channel, 5_000n, {
        voucher: await voucherOf(channel, 1000n, { on: { verifyingContract: RECEIVER } }),
      })
    },
    'voucher_signature',
  ],
  [
    '2',
    'the token must be the one of the requirements',
    async () => {
      const body = await depositBody(await newChannel({ token: RECEIVER }), 5_000n)
      const change = { asset: site.token }
      return requiring(body, change)
    },
    'token_mismatch',
  ],
  [
    '3',
    'the receiver must be payTo',
    async () => requiring(await depositBody(await newChannel(), 5_000n), { payTo: RECEIVER }),
    'receiver_mismatch',
  ],
  [
    '4',
    'the receiver’s authorizer must be the one of the requirements',
    async () =>
      requiring(await depositBody(await newChannel(), 5_000n), {
        extra: { name: 'Test Dollar', version: '2', receiverAuthorizer: RECEIVER },
      }),
    'receiver_authorizer_mismatch',
  ],
  [
    '5',
    'the delay must be the one of the requirements',
    async () => {
      const body = await depositBody(await newChannel(), 5_000n)
      return requiring(body, { extra: { ...body.paymentRequirements.extra, withdrawDelay: 1000 } })
    },
    'withdraw_delay_mismatch',
  ],
  [
    '5',
    'it must be one that the contract takes',
    async () => depositBody(await newChannel({ withdrawDelay: 60 }), 5_000n),
    'withdraw_delay_out_of_range',
  ],
  [
    '6',
    'the voucher must be signed by the payer’s key for it',
    async () => {
      const channel = await newChannel()
      return depositBody(channel, 5_000n, { voucher: await voucherOf(channel, 1000n, { by: other }) })
    },
    'voucher_signature',
  ],
  [
    '6',
    'the deposit must be signed by the payer',
    async () => depositBody(await newChannel(), 5_000n, { by: other }),
    'receive_authorization_signature',
  ],
  [
    '6',
    'a deposit for another channel is not one for this',
    async () => depositBody(await newChannel(), 5_000n, { channelId: (await newChannel()).id }),
    'receive_authorization_signature',
  ],
  [
    '8',
    'the payer must have as much as he deposits',
    async () => depositBody(await newChannel({}, 4_999n), 5_000n),
    'insufficient_balance',
  ],
  [
    '9',
    'the voucher must be within the channel and the deposit',
    async () => depositBody(await newChannel(), 5_000n, { most: 5_001n }),
    'cumulative_exceeds_balance',
  ],
  [
    '10',
    'it must be above what is claimed',
    async () => depositBody(await newChannel(), 5_000n, { most: 0n }),
    'cumulative_below_claimed',
  ],
  [
    'C3',
    'the authorization must be valid long enough',
    async () =>
      depositBody(await newChannel(), 5_000n, { validBefore: BigInt(Math.floor(Date.now() / 1000)) }),
    'payload_authorization_valid_before',
  ],
  [
    'C4',
    'a permit must name the collector',
    async () => permitDepositBody(await newChannel(), 5_000n, { spender: RECEIVER }),
    'permit2_invalid_spender',
  ],
  [
    'C4',
    'and the channel',
    async () => permitDepositBody(await newChannel(), 5_000n, { channelId: (await newChannel()).id }),
    'channel_id_mismatch',
  ],
  [
    'settle',
    'a claim needs the authorizer’s signature',
    async () => {
      const channel = await filled()
      return claimBody([{ channel, most: 1000n, claimed: 1000n }], { by: other })
    },
    'claim_simulation_failed',
  ],
  [
    'settle',
    'the facilitator signs none for it',
    async () => {
      const channel = await filled()
      return claimBody([{ channel, most: 1000n, claimed: 1000n }], {
        changed: { claimAuthorizerSignature: undefined },
      })
    },
    'authorizer_not_configured',
  ],
  [
    'settle',
    'a claim may not be above its voucher',
    async () => claimBody([{ channel: await filled(), most: 1000n, claimed: 1001n }]),
    'claim_payload',
  ],
  [
    'settle',
    'nor above the channel',
    async () => claimBody([{ channel: await filled(), most: 10_001n, claimed: 10_001n }]),
    'claim_simulation_failed',
  ],
  [
    'settle',
    'one that claims less than is claimed already is not sent',
    async () => {
      const channel = await filled()
      expect(await settled(await claimBody([{ channel, most: 3_000n, claimed: 3_000n }]))).toMatchObject({
        success: true,
      })
      return claimBody([{ channel, most: 2_000n, claimed: 2_000n }])
    },
    'cumulative_below_claimed',
  ],
  [
    'settle',
    'claims are to the payee of the requirements alone',
    async () =>
      requiring(await claimBody([{ channel: await filled(), most: 1000n, claimed: 1000n }]), {
        payTo: RECEIVER,
      }),
    'receiver_mismatch',
  ],
  [
    'settle',
    'without a claim there is nothing to settle',
    async () => settleBody(await filled()),
    'nothing_to_settle',
  ],
  [
    'settle',
    'a settlement is to the payee of the requirements alone',
    async () => requiring(settleBody(await filled()), { payTo: RECEIVER }),
    'receiver_mismatch',
  ],
  [
    '11',
    'a refund needs the nonce of the channel',
    async () => refundBody(await filled(), { amount: 1n, nonce: 1n }),
    'refund_simulation_failed',
  ],
  [
    '11',
    'and the authorizer’s signature',
    async () => refundBody(await filled(), { amount: 1n, by: other }),
    'refund_simulation_failed',
  ],
  [
    'settle',
    'other payloads are refused',
    async () => managerBody(await newChannel(), { type: 'close' }),
    'payload_type',
  ],
]

/** The same request with other requirements, accepted and required. */
function requiring<
  Body extends {
    readonly paymentPayload: { readonly accepted: object }
    readonly paymentRequirements: object
  },
>(body: Body, change: object) {
  const { paymentPayload, paymentRequirements } = body
  return {
    ...body,
    paymentPayload: { ...paymentPayload, accepted: { ...paymentPayload.accepted, ...change } },
    paymentRequirements: { ...paymentRequirements, ...change },
  }
}

describe('batch-settlement', () => {
  test.each(ROWS)(
    '%s: %s',
    async (_number, _demands, make, reason) => {
      const body = await make()
      expect(await verified(body)).toMatchObject({ isValid: false, invalidReason: `${EVM}_${reason}` })
      expect(await settled(body)).toMatchObject({
        success: false,
        errorReason: `${EVM}_${reason}`,
        transaction: '',
      })
    },
    60_000,
  )

  test('7, 9, 10: a voucher counts for what its channel has, and above what is claimed', async () => {
    expect(await verified(await voucherBody(await newChannel(), 1000n))).toMatchObject({
      invalidReason: `${EVM}_channel_not_found`,
    })
    const channel = await filled()
    expect(await verified(await voucherBody(channel, 10_000n))).toMatchObject({ isValid: true })
    expect(await verified(await voucherBody(channel, 10_001n))).toMatchObject({
      invalidReason: `${EVM}_cumulative_exceeds_balance`,
    })
    expect(await settled(await claimBody([{ channel, most: 3_000n, claimed: 3_000n }]))).toMatchObject({
      success: true,
    })
    // An old voucher, again.
    expect(await verified(await voucherBody(channel, 3_000n))).toMatchObject({
      invalidReason: `${EVM}_cumulative_below_claimed`,
    })
    // A refund charges nothing, so it may name exactly what is claimed.
    const voucher = await voucherOf(channel, 3_000n)
    const refund = channelBody(channel, { type: 'refund', channelConfig: channel.config, voucher })
    expect(await verified(refund)).toMatchObject({ isValid: true })
    expect(await settled(await voucherBody(channel, 4_000n))).toMatchObject({
      errorReason: `${EVM}_payload_type`,
    })
  }, 60_000)

  test('two deposits of one payer with funds for one are one', async () => {
    const channel = await newChannel({}, 5_000n)
    const bodies = await Promise.all([depositBody(channel, 5_000n), depositBody(channel, 5_000n)])
    const answers = await Promise.all(bodies.map((body) => settled(body)))
    expect(answers.map(({ success }) => success).sort()).toEqual([false, true])
    expect(await channelState(site, channel)).toEqual([5_000n, 0n])
  }, 60_000)

  test('a deposit that someone else has sent is told with his transaction', async () => {
    const channel = await newChannel()
    const body = await depositBody(channel, 5_000n)
    const { data } = await callIn(body)
    const hash = await site.anvil.rpc<Hex>('eth_sendTransaction', [
      { from: STRANGER, to: CHANNELS, data, gas: '0x7a120' },
    ])
    expect(await settled(body)).toMatchObject({
      success: true,
      transaction: hash,
      extra: { channelState: { balance: '5000' } },
    })
    expect(await channelState(site, channel)).toEqual([5_000n, 0n])
  }, 60_000)

  test('is served where the operator wants it, and where the contract is', async () => {
    expect(await supported(settings(), world)).toMatchObject({
      kinds: expect.arrayContaining([{ x402Version: 2, scheme: 'batch-settlement', network: NETWORK }]),
    })
    const without = settings({ batch_settlement: false })
    expect(JSON.stringify(await supported(without, world))).not.toContain('batch-settlement')
    const body = await voucherBody(await newChannel(), 1000n)
    expect(await verify(ask(body), without, world)).toMatchObject({ invalidReason: 'unsupported_scheme' })
    await site.anvil.rpc('anvil_setCode', [CHANNELS, '0x'])
    onTestFinished(() => placeChannels(site))
    const fresh = createWorld(site.service.url)
    expect(await supported(settings(), fresh)).toMatchObject({
      unavailable: [
        {
          network: NETWORK,
          scheme: 'batch-settlement',
          reason: 'x402’s contract for batch-settlement is not on this chain.',
        },
      ],
    })
    expect(await verify(ask(body), settings(), fresh)).toMatchObject({ invalidReason: 'unsupported_scheme' })
  }, 60_000)

  test('what a transaction did is what the chain shows as of its block, and not what it was sent for', async () => {
    const rpc: Rpc = (method, params) => site.anvil.rpc(method, params as unknown[])
    /** A node that has the receipt, and the state of the block before. */
    const late: Rpc = (method, params) =>
      method === 'eth_call' && Array.isArray(params)
        ? rpc(method, [params[0], numberToHex(hexToBigInt(params[1]) - 1n), ...params.slice(2)])
        : rpc(method, params)
    const outcomeOf = async (body: object, hash: string, { target = 0n, on = rpc } = {}) => {
      const made = await decodeOperation(readPaymentRequest(body, 'settle', settings()))
      if (made.kind === 'voucher') throw new Error('it is no transaction')
      return (await operationEffect(made, { hash, target }, on)).outcome
    }
    const channel = await newChannel()
    const deposit = await depositBody(channel, 10_000n)
    const [filling, claim] = [await settled(deposit), await claimBody([{ channel, most: 9n, claimed: 9n }])]
    const claiming = await settled(claim)
    const settling = await settled(settleBody(channel))
    const refund = await refundBody(channel, { amount: 10_000n })
    const refunding = await settled(refund)
    expect(await outcomeOf(deposit, filling.transaction)).toBe('paid')
    expect(await outcomeOf(deposit, claiming.transaction)).toBe('failed')
    expect(await outcomeOf(claim, claiming.transaction)).toBe('paid')
    expect(await outcomeOf(claim, claiming.transaction, { on: late })).toBe('unknown')
    expect(await outcomeOf(settleBody(channel), settling.transaction, { target: 9n })).toBe('paid')
    expect(await outcomeOf(settleBody(channel), settling.transaction, { target: 9n, on: late })).toBe(
      'unknown',
    )
    expect(await outcomeOf(refund, refunding.transaction)).toBe('paid')
    expect(await outcomeOf(refund, refunding.transaction, { on: late })).toBe('unknown')
    // Its nonce is used up by then, and this one gave nothing back.
    const [empty] = [await site.anvil.rpc<string>('eth_sendTransaction', [{ from: STRANGER, to: STRANGER }])]
    expect(await outcomeOf(refund, empty)).toBe('failed')
  }, 60_000)

  test('a token that begins to tax is not settled', async () => {
    const token = await site.deploy(RECEIVING_TOKEN_CODE, TOKEN, ['Test Dollar', '2', 0n])
    const payer = newKey()
    await site.mint(payer.address, 10_000n, token)
    const channel = channelOf({ token, payTo: newKey().address }, { payer, authorizer: newKey() })
    expect(await settled(await depositBody(channel, 10_000n))).toMatchObject({ success: true })
    expect(await settled(await claimBody([{ channel, most: 5_000n, claimed: 5_000n }]))).toMatchObject({
      success: true,
    })
    // The sixth variable is `feePercent`.
    await site.anvil.rpc('anvil_setStorageAt', [token, '0x5', pad('0x0a')])
    expect(await settled(settleBody(channel))).toMatchObject({
      success: false,
      errorReason: `${EVM}_settle_simulation_failed`,
    })
  }, 60_000)

  // The last one: the clock of the chain is a quarter of an hour ahead afterwards.
  test('tells when the payer wants to withdraw, and claims nothing that he has withdrawn', async () => {
    const channel = await filled()
    const claim = await claimBody([{ channel, most: 3_000n, claimed: 3_000n }])
    expect(await verified(await voucherBody(channel, 3_000n))).toMatchObject({ isValid: true })
    await withdraw(site, channel, 10_000n)
    expect(await verified(await voucherBody(channel, 3_000n))).toMatchObject({
      invalidReason: `${EVM}_channel_not_found`,
    })
    expect(await settled(claim)).toMatchObject({
      success: false,
      errorReason: `${EVM}_claim_simulation_failed`,
    })
    expect(await site.balanceOf(channel.config.payer)).toBe(100_000n)
  }, 60_000)
})

/** The call of a deposit, as anyone can send it. */
async function callIn(body: {
  readonly paymentPayload: { readonly payload: object }
}): Promise<{ readonly data: Hex }> {
  const operation = await decodeOperation(readPaymentRequest(body, 'settle', settings()))
  if (operation.kind !== 'deposit') throw new Error('it is no deposit')
  return operation
}
