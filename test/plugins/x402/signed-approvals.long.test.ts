import { ExactEvmScheme as PayerScheme } from '@x402/evm'
import { ExactEvmScheme as ShopScheme } from '@x402/evm/exact/server'
import { UptoEvmScheme as UptoPayer } from '@x402/evm/upto/client'
import { UptoEvmScheme as UptoShop } from '@x402/evm/upto/server'
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { createPublicClient, type Hex, http, keccak256, parseAbi } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readSettings } from '../../../plugins/x402/config.ts'
import { PERMIT2 } from '../../../plugins/x402/evm/payment.ts'
import { settle, verify } from '../../../plugins/x402/facilitator.ts'
import { API_KEY, RECEIVER } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { type EvmSite, FUNDS, NETWORK, RELAYER, startEvmSite } from './evm-site.ts'
import { approve, charging, permitBy, placePermit2 } from './permit2-payment.ts'
import { pluginEntry, untilReady } from './plugin-entry.ts'
import { startShop } from './shop.ts'
import { APPROVAL_GAS, type ApprovalParts, approvalBy } from './signed-approval.ts'
import { createWorld, type TestWorld } from './world.ts'

let site: EvmSite
let world: TestWorld
let token: Hex

/** What the plugin asks nodes on EVM chains, with approvals. */
const METHODS = [
  'eth_blockNumber',
  'eth_call',
  'eth_chainId',
  'eth_estimateGas',
  'eth_getBalance',
  'eth_getBlockByNumber',
  'eth_getCode',
  'eth_getLogs',
  'eth_getTransactionByHash',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
  'eth_maxPriorityFeePerGas',
  'eth_sendRawTransaction',
  'eth_simulateV1',
]

/** What a resource server declares. */
const DECLARED = {
  erc20ApprovalGasSponsoring: { info: { description: 'signed approvals', version: '1' }, schema: {} },
}

/** More than an approval needs on anvil: 70000 gas at a few gwei. */
const ENOUGH = '1000000000000000'

const networkWith = (approval_gas: object) => ({
  network: NETWORK,
  relayer_id: 'main',
  assets: [token],
  approval_gas,
})
const GIVEN = { payer: ENOUGH, all: '100000000000000000' }

beforeAll(async () => {
  site = await startEvmSite(
    {
      policies: { allowed_rpc_methods: METHODS },
      // The first contract of anvil's last account.
      plugins: [
        pluginEntry([
          {
            network: NETWORK,
            relayer_id: 'main',
            assets: ['0x700b6A60ce7EaaEa56F065753d8dcB9653dbAD35'],
            approval_gas: GIVEN,
          },
        ]),
      ],
    },
    ['--no-mining'],
  )
  token = site.token
  await placePermit2(site)
  world = createWorld(site.service.url)
  await untilReady(site.service)
}, 120_000)

afterAll(() => site.stop())

const settings = (given: object = GIVEN, more: object = {}) =>
  readSettings({ networks: [networkWith(given)], timeout_seconds: 15, ...more })
const ask = (body: unknown) => ({ body, caller: 'shop' })

/** A payment that brings a signed approval. */
async function bringing(
  payer: PrivateKeyAccount,
  parts: Partial<ApprovalParts> = {},
  scheme: 'exact' | 'upto' = 'exact',
) {
  const body = await permitBy(payer, { ...site, scheme })
  const extensions = await approvalBy(payer, site, parts)
  return { ...body, paymentPayload: { ...body.paymentPayload, extensions } }
}

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

const client = () => createPublicClient({ transport: http(site.anvil.url) })
const balanceOf = (address: Hex) => client().getBalance({ address })

function allowanceOf(owner: Hex): Promise<bigint> {
  const abi = parseAbi(['function allowance(address owner, address spender) view returns (uint256)'])
  return client().readContract({ address: token, abi, functionName: 'allowance', args: [owner, PERMIT2] })
}

interface Sent {
  readonly to: string
  readonly value: string
  readonly status: string
  readonly reference: string
}

/** What the relayer gave a payer. */
async function givenTo({ address }: PrivateKeyAccount): Promise<readonly Sent[]> {
  const { body } = await site.service.api<Sent[]>('GET', `/transactions?to=${address}&limit=100`)
  return body.data
}

describe('a payer without ether who never approved Permit2, with a token without permits', () => {
  test('pays with the clients of npm, which sign an approval; the relayer gives the gas for it', async () => {
    expect(token).toBe('0x700b6A60ce7EaaEa56F065753d8dcB9653dbAD35'.toLowerCase())
    const shop = await startShop({
      facilitator: `${site.service.url}/x402`,
      network: NETWORK,
      asset: token,
      payTo: site.payTo,
      extra: { name: 'Test Dollar', version: '2', assetTransferMethod: 'permit2' },
      scheme: new ShopScheme(),
      extensions: DECLARED,
    })
    onTestFinished(shop.stop)
    const payer = await site.payer()
    const pay = wrapFetchWithPaymentFromConfig(fetch, {
      schemes: [{ network: 'eip155:*', client: new PayerScheme(payer, { rpcUrl: site.anvil.url }) }],
      spendControls: false,
    })
    const response = await mining(pay(shop.url))
    expect([response.status, shop.sales()]).toEqual([200, 1])
    expect(await site.balanceOf(payer.address)).toBe(FUNDS - 10_000n)
    const given = await givenTo(payer)
    expect(given).toMatchObject([{ reference: `x402-approval:${site.payTo.toLowerCase()}` }])
    // What was left of the gas stays with the payer, and is less than what he was given.
    expect(await balanceOf(payer.address)).toBeLessThan(BigInt(given[0]?.value ?? 0))
    // The next payment needs nothing.
    const again = await mining(pay(shop.url))
    expect([again.status, (await givenTo(payer)).length]).toEqual([200, 1])
  }, 90_000)

  test('pays a part of what he signed with upto, by the clients of npm', async () => {
    const shop = await startShop({
      facilitator: `${site.service.url}/x402`,
      network: NETWORK,
      asset: token,
      payTo: site.payTo,
      extra: { name: 'Test Dollar', version: '2', assetTransferMethod: 'permit2' },
      scheme: new UptoShop(),
      charge: '3000',
      extensions: DECLARED,
    })
    onTestFinished(shop.stop)
    const payer = await site.payer()
    const pay = wrapFetchWithPaymentFromConfig(fetch, {
      schemes: [{ network: 'eip155:*', client: new UptoPayer(payer, { rpcUrl: site.anvil.url }) }],
      spendControls: false,
    })
    const response = await mining(pay(shop.url))
    expect(response.status).toBe(200)
    expect(await site.balanceOf(payer.address)).toBe(FUNDS - 3_000n)
  }, 90_000)

  test('is told in GET /supported', async () => {
    const headers = { authorization: `Bearer ${API_KEY}` }
    const response = await fetch(`${site.service.url}/x402/supported`, { headers })
    const { extensions } = (await response.json()) as { extensions: string[] }
    expect(extensions).toContain('erc20ApprovalGasSponsoring')
  })

  test('gets nothing at the verification, and nothing for a charge of 0', async () => {
    const payer = await site.payer()
    const body = await bringing(payer, {}, 'upto')
    expect(await verify(ask(body), settings(), world)).toMatchObject({ isValid: true })
    expect(await settle(ask(charging(body, 0n)), settings(), world)).toMatchObject({ success: true })
    expect(await givenTo(payer)).toEqual([])
  }, 60_000)

  test('gets only what is missing', async () => {
    const payer = await site.payer()
    await site.anvil.rpc('anvil_setBalance', [payer.address, '0x3e8'])
    const body = await bringing(payer, { maxFeePerGas: 3_000_000_000n })
    expect(await mining(settle(ask(body), settings(), world))).toMatchObject({ success: true })
    expect(await givenTo(payer)).toMatchObject([
      { value: (APPROVAL_GAS * 3_000_000_000n - 1_000n).toString() },
    ])
  }, 60_000)

  test('gets nothing if he has the gas', async () => {
    const payer = await site.payer()
    await site.anvil.rpc('anvil_setBalance', [payer.address, '0xde0b6b3a7640000'])
    const body = await bringing(payer)
    expect(await mining(settle(ask(body), settings(), world))).toMatchObject({ success: true })
    expect(await givenTo(payer)).toEqual([])
    expect(await site.balanceOf(payer.address)).toBe(FUNDS - 10_000n)
  }, 60_000)

  test('gets it once of ten requests at the same moment, which have one answer', async () => {
    const payer = await site.payer()
    const body = await bringing(payer)
    const answers = await mining(
      Promise.all(Array.from({ length: 10 }, () => settle(ask(body), settings(), world))),
    )
    expect(new Set(answers.map(({ success, transaction }) => `${success} ${transaction}`)).size).toBe(1)
    expect(answers[0]).toMatchObject({ success: true })
    expect(await givenTo(payer)).toHaveLength(1)
    expect(await site.balanceOf(payer.address)).toBe(FUNDS - 10_000n)
  }, 90_000)

  test('gets it once if the process dies right after it was sent, and the payment is made later', async () => {
    const payer = await site.payer()
    const body = await bringing(payer)
    const dying: TestWorld = {
      ...world,
      memory: new Map(),
      api: {
        request: async (request) => {
          const answer = await world.api.request(request)
          if (request.method === 'POST' && request.path.includes('/transactions')) throw new Error('killed')
          return answer
        },
      },
    }
    expect(await settle(ask(body), settings(), dying)).toMatchObject({ success: false })
    expect(await givenTo(payer)).toHaveLength(1)
    expect(await mining(settle(ask(body), settings(), world))).toMatchObject({ success: true })
    expect(await givenTo(payer)).toHaveLength(1)
  }, 60_000)
})

describe('an approval is refused, and nothing is given, if', () => {
  const GWEI = 1_000_000_000n
  test.each<[string, string, Partial<ApprovalParts>]>([
    ['it calls another contract', 'erc20_approval_tx_wrong_target', { to: RECEIVER }],
    ['it approves someone else', 'erc20_approval_tx_wrong_spender', { spender: RECEIVER }],
    ['it calls another function', 'erc20_approval_tx_wrong_selector', { data: '0xa9059cbb' }],
    ['its data are cut', 'erc20_approval_tx_invalid_calldata', { data: '0x095ea7b300' }],
    ['it moves ether', 'erc20_approval_tx_invalid_calldata', { value: 1n }],
    ['it is for another chain', 'erc20_approval_tx_wrong_chain', { chainId: 1 }],
    ['it is of another type', 'erc20_approval_tx_parse_failed', { type: 'legacy' }],
    ['its nonce is not next', 'erc20_approval_tx_wrong_nonce', { nonce: 1 }],
    ['its gas is too much', 'erc20_approval_tx_gas_out_of_range', { gas: 100_001n }],
    ['its gas is too little', 'erc20_approval_tx_failed', { gas: 30_000n }],
    [
      'its price is far above the market',
      'erc20_approval_tx_fee_out_of_range',
      { maxFeePerGas: 900n * GWEI },
    ],
    ['its price is below the base fee', 'erc20_approval_tx_fee_out_of_range', { maxFeePerGas: 1n }],
    ['it approves less than is paid', 'permit2_allowance_required', { amount: 9_999n }],
    ['the payer is said to be someone else', 'erc20_approval_from_mismatch', { info: { from: RECEIVER } }],
    ['the token is said to be another', 'erc20_approval_asset_mismatch', { info: { asset: RECEIVER } }],
    [
      'the spender is said to be another',
      'erc20_approval_spender_not_permit2',
      { info: { spender: RECEIVER } },
    ],
    ['the amount is said to be another', 'erc20_approval_tx_invalid_calldata', { info: { amount: '1' } }],
    ['it is no transaction', 'erc20_approval_tx_parse_failed', { info: { signedTransaction: '0x02aa' } }],
    ['it is no text', 'invalid_erc20_approval_extension_format', { info: { signedTransaction: 7 } }],
  ])(
    '%s: %s',
    async (_, reason, parts) => {
      const payer = await site.payer()
      const body = await bringing(payer, parts)
      expect(await verify(ask(body), settings(), world)).toMatchObject({
        isValid: false,
        invalidReason: reason,
      })
      expect(await settle(ask(body), settings(), world)).toMatchObject({
        success: false,
        errorReason: reason,
      })
      expect(await givenTo(payer)).toEqual([])
    },
    60_000,
  )

  test('someone else has signed it', async () => {
    const [payer, other] = [await site.payer(), await site.payer()]
    const body = await bringing(payer)
    const { erc20ApprovalGasSponsoring: extension } = await approvalBy(other, site)
    Object.assign(body.paymentPayload.extensions.erc20ApprovalGasSponsoring.info, {
      signedTransaction: extension.info.signedTransaction,
    })
    expect(await settle(ask(body), settings(), world)).toMatchObject({
      errorReason: 'erc20_approval_tx_signer_mismatch',
    })
  }, 60_000)

  test('the payer has not the tokens that he wants to pay with', async () => {
    const payer = await site.payer(9_999n)
    expect(await settle(ask(await bringing(payer)), settings(), world)).toMatchObject({
      errorReason: 'insufficient_funds',
    })
    expect(await givenTo(payer)).toEqual([])
  }, 60_000)

  test('the account of the payer has code, which could spend what it is given', async () => {
    const payer = await site.payer()
    const body = await bringing(payer)
    await site.anvil.rpc('anvil_setCode', [payer.address, `0xef0100${token.slice(2)}`])
    expect(await settle(ask(body), settings(), world)).toMatchObject({ success: false })
    expect(await givenTo(payer)).toEqual([])
  }, 60_000)

  test('the operator pays for none', async () => {
    const payer = await site.payer()
    const none = readSettings({ networks: [{ network: NETWORK, relayer_id: 'main', assets: [token] }] })
    expect(await settle(ask(await bringing(payer)), none, world)).toMatchObject({
      errorReason: 'permit2_allowance_required',
    })
    expect(await givenTo(payer)).toEqual([])
  }, 60_000)
})

/** Waits until the relayer's gas has arrived and the approval waits for its block, and takes the gas elsewhere. */
async function takeGas(payer: PrivateKeyAccount, nonce: number): Promise<void> {
  const before = await balanceOf(payer.address)
  await until(
    async () => {
      await site.anvil.rpc('evm_mine')
      return balanceOf(payer.address)
    },
    (balance) => balance > before,
  )
  const waits = await until(
    () => site.anvil.rpc<{ pending: Record<string, Record<string, { gas: Hex }>> }>('txpool_content'),
    ({ pending }) => Object.keys(pending).some((key) => key.toLowerCase() === payer.address.toLowerCase()),
  )
  expect(Object.keys(waits.pending)).not.toEqual([])
  const fees = await client().estimateFeesPerGas()
  const price = fees.maxFeePerGas * 2n
  const all = await balanceOf(payer.address)
  const stolen = await payer.signTransaction({
    type: 'eip1559',
    chainId: 31337,
    nonce,
    to: RECEIVER,
    gas: 21_000n,
    value: all - 21_000n * price,
    maxFeePerGas: price,
    maxPriorityFeePerGas: price,
  })
  await site.anvil.rpc('eth_sendRawTransaction', [stolen])
  await site.anvil.rpc('evm_mine')
  expect(await client().getTransactionReceipt({ hash: keccak256(stolen) })).toMatchObject({
    status: 'success',
  })
}

describe('a payer who takes the gas and approves nothing', () => {
  test('is told so within seconds, can do it twice, and then gets nothing for a day', async () => {
    const payer = await site.payer()
    const given = { payer: '1000000000000000000', all: '10000000000000000000' }
    for (const nonce of [0, 1]) {
      const settled = settle(ask(await bringing(payer)), settings(given), world)
      await takeGas(payer, nonce)
      expect(await mining(settled)).toMatchObject({
        success: false,
        errorReason: 'erc20_approval_broadcast_failed',
        transaction: '',
      })
    }
    expect(await settle(ask(await bringing(payer)), settings(given), world)).toMatchObject({
      errorReason: 'limit_exceeded',
    })
    expect(await givenTo(payer)).toHaveLength(2)
    expect(await allowanceOf(payer.address)).toBe(0n)
    expect(await site.balanceOf(payer.address)).toBe(FUNDS)
    // He cannot pay in another way, either.
    await approve(site, payer)
    await site.anvil.rpc('evm_mine')
    const usual = await permitBy(payer, { ...site, scheme: 'exact' })
    expect(await settle(ask(usual), settings(given), world)).toMatchObject({ errorReason: 'limit_exceeded' })
  }, 120_000)

  test('gets no more than what one payer may get within a day', async () => {
    const payer = await site.payer()
    const body = await bringing(payer, { maxFeePerGas: 3_000_000_000n })
    const cost = APPROVAL_GAS * 3_000_000_000n
    const less = { payer: (cost - 1n).toString(), all: ENOUGH }
    expect(await settle(ask(body), settings(less), world)).toMatchObject({ errorReason: 'limit_exceeded' })
    expect(await givenTo(payer)).toEqual([])
    const enough = { payer: cost.toString(), all: '100000000000000000' }
    expect(await mining(settle(ask(body), settings(enough), world))).toMatchObject({ success: true })
  }, 60_000)

  test('gets no more than what all may get within a day, with as many accounts as he likes', async () => {
    const fresh = { ...createWorld(site.service.url), sleep: world.sleep }
    const cost = APPROVAL_GAS * 3_000_000_000n
    const given = { payer: cost.toString(), all: (2n * cost).toString() }
    const answers = []
    for (const payer of [await site.payer(), await site.payer(), await site.payer()]) {
      const body = await bringing(payer, { maxFeePerGas: 3_000_000_000n })
      answers.push(await mining(settle(ask(body), settings(given), fresh)))
    }
    expect(answers.map(({ success, errorReason }) => (success ? 'paid' : errorReason))).toEqual([
      'paid',
      'paid',
      'limit_exceeded',
    ])
  }, 90_000)

  test('has one gift that waits at a time, also with twenty approvals at once', async () => {
    const payer = await site.payer()
    const bodies = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        bringing(payer, { maxFeePerGas: 3_000_000_000n + BigInt(index) }),
      ),
    )
    const answers = await mining(Promise.all(bodies.map((body) => settle(ask(body), settings(), world))))
    expect(await givenTo(payer)).toHaveLength(1)
    expect(answers.filter(({ success }) => success).length).toBeGreaterThanOrEqual(1)
    expect((await balanceOf(RELAYER)) > 0n).toBe(true)
  }, 90_000)
})
