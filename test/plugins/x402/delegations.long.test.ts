import type { Delegation } from '@metamask/smart-accounts-kit'
import { DelegationManager } from '@metamask/smart-accounts-kit/contracts'
import { createx402DelegationProvider } from '@metamask/smart-accounts-kit/experimental'
import { hashDelegation } from '@metamask/smart-accounts-kit/utils'
import { x402Erc7710Client, x402ExactEvmErc7710ServerScheme } from '@metamask/x402'
import { decodePaymentSignatureHeader } from '@x402/core/http'
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import {
  decodeFunctionData,
  encodeFunctionData,
  encodePacked,
  getAddress,
  getContractAddress,
  type Hex,
  parseAbi,
  toEventSelector,
  toFunctionSelector,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ANY_DELEGATE, MANAGER_ABI, SINGLE_CALL } from '../../../plugins/shared/delegations.ts'
import { readSettings } from '../../../plugins/x402/config.ts'
import { settle, verify } from '../../../plugins/x402/facilitator.ts'
import { payments } from '../../../plugins/x402/payments.ts'
import { decodePayment } from '../../../plugins/x402/scheme.ts'
import { supported } from '../../../plugins/x402/supported.ts'
import { readPaymentRequest } from '../../../plugins/x402/wire.ts'
import { API_KEY, DEV_ADDRESSES, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { TOKEN_CODE } from './contract-code.ts'
import { GREEDY_ENFORCER_CODE, TWO_FACED_ACCOUNT_CODE, TWO_FACED_ENFORCER_CODE } from './delegation-code.ts'
import {
  bodyOf,
  type Delegator,
  delegatedBy,
  deployFramework,
  type Framework,
  give,
  newDelegator,
  payloadOf,
  requirementsOf,
} from './delegation-payment.ts'
import { paymentBy } from './evm-payment.ts'
import { type EvmSite, FUNDS, NETWORK, RELAYER, startEvmSite, TOKEN } from './evm-site.ts'
import { pluginEntry, untilReady } from './plugin-entry.ts'
import { startShop } from './shop.ts'
import { createWorld, type TestWorld } from './world.ts'

const STRANGER = '0x4444444444444444444444444444444444444444'
const DEPLOYER = '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720'

let site: EvmSite
let framework: Framework
let network: object
let world: TestWorld

beforeAll(async () => {
  site = await startEvmSite(
    { network: { required_confirmations: 2 } },
    [],
    async (anvil) => {
      framework = await deployFramework({ anvil })
      const nonce = await anvil.rpc<Hex>('eth_getTransactionCount', [DEPLOYER, 'latest'])
      network = {
        network: NETWORK,
        relayer_id: 'main',
        // The first contract after the framework's.
        assets: [getContractAddress({ from: DEPLOYER, nonce: BigInt(nonce) })],
        delegations: { managers: [framework.DelegationManager] },
      }
      return anvil.url
    },
    (options) => startService({ ...options, plugins: [pluginEntry([network], { open_mount: true })] }),
  )
  world = createWorld(site.service.url)
  await untilReady(site.service)
}, 120_000)

afterAll(() => site.stop())
afterEach(() => site.anvil.rpc('evm_setAutomine', [true]))

const ask = (body: unknown) => ({ body, caller: 'shop' })
const settings = (more: object = {}, changes: object = {}) =>
  readSettings({
    networks: [{ ...network, ...changes }],
    timeout_seconds: 15,
    wait_for: 'confirmed',
    ...more,
  })
const quickly = () => settings({ wait_for: 'mined' })

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
  readonly to: string
  readonly data: Hex
  readonly hash: string
  readonly gas_limit: number
  readonly valid_until?: string
  readonly transfers?: readonly object[]
  readonly receipt?: { readonly gas_used: number }
}

/** The transactions of a relayer whose content names this account, the newest first. */
async function transactionsOf(account: string, relayer = 'main'): Promise<readonly Sent[]> {
  const { body } = await site.service.api<Sent[]>('GET', `/relayers/${relayer}/transactions?per_page=100`)
  return body.data.filter(({ data }) => data.includes(account.slice(2).toLowerCase()))
}

const payerOf = (units?: bigint) => newDelegator(site, framework, units)
const pay = (payer: Delegator, terms: object = {}) => delegatedBy(payer, framework, { ...site, ...terms })

/** The payment of a chain of delegations that a test made itself. */
const payWith = (
  delegations: readonly Delegation[],
  { delegator, ...terms }: { readonly delegator?: Hex; readonly amount?: bigint; readonly payTo?: Hex } = {},
) => bodyOf(requirementsOf({ ...site, ...terms }), payloadOf(framework, delegations, delegator))

const rooted = (payer: Delegator, more: Omit<Parameters<typeof give>[0], 'from'> = {}) =>
  give({ from: payer.address, ...more }, { framework, key: payer.privateKey })

/** An account whose code is hostile; it accepts every signature. */
async function twoFaced(units = FUNDS): Promise<Hex> {
  const account = await site.deploy(TWO_FACED_ACCOUNT_CODE)
  await site.mint(account, units)
  return account
}

const PREFER = parseAbi(['function prefer(address target, bytes data, bool always)'])

/** Sends in the name of an account, with a price that comes before the relayer's. */
async function sendAs(from: Hex, to: Hex, data: Hex): Promise<Hex> {
  await site.anvil.rpc('anvil_impersonateAccount', [from])
  await site.anvil.rpc('anvil_setBalance', [from, '0xde0b6b3a7640000'])
  const price = { maxFeePerGas: '0x174876e800', maxPriorityFeePerGas: '0x174876e800' }
  return site.anvil.rpc<Hex>('eth_sendTransaction', [{ from, to, data, gas: '0x7a120', ...price }])
}

const prefer = (account: Hex, target: Hex, data: Hex, always: boolean) =>
  sendAs(
    DEPLOYER,
    account,
    encodeFunctionData({ abi: PREFER, functionName: 'prefer', args: [target, data, always] }),
  )

const unsigned = (from: Hex, more: Omit<Parameters<typeof give>[0], 'from'> = {}) =>
  give({ from, ...more }, { framework, key: undefined })

const TRANSFER = parseAbi(['function transfer(address to, uint256 value) returns (bool)'])

/** Asks the plugin in its own process. */
async function call(route: string, body: object, key: string | undefined) {
  const response = await fetch(`${site.service.url}/x402/${route}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify(body),
  })
  return (await response.json()) as { success?: boolean; transaction?: string; errorReason?: string }
}

describe('the client of MetaMask', () => {
  async function openShop() {
    const scheme = new x402ExactEvmErc7710ServerScheme()
    // Version 0.2.0 does not tell the flows of the method, for which @x402/core asks since it has flows.
    const erc7710 = { supported: ['authorization'], default: 'authorization' }
    Object.assign(scheme, { paymentFlows: { ...scheme.paymentFlows, erc7710 } })
    const shop = await startShop({
      facilitator: `${site.service.url}/x402`,
      network: NETWORK,
      asset: site.token,
      payTo: site.payTo,
      extra: { name: 'Test Dollar', version: '2', assetTransferMethod: 'erc7710' },
      scheme,
    })
    onTestFinished(shop.stop)
    return shop
  }

  type Config = Parameters<typeof createx402DelegationProvider>[0]

  /** The client, which remembers what it sent. */
  function clientOf(config: Omit<Config, 'environment'>) {
    const sent: Headers[] = []
    const remember: typeof fetch = (input, init) => {
      sent.push(input instanceof Request ? input.headers : new Headers(init?.headers))
      return fetch(input, init)
    }
    const delegationProvider = createx402DelegationProvider({ ...config, environment: framework })
    const client = new x402Erc7710Client({ delegationProvider })
    const buy = wrapFetchWithPaymentFromConfig(remember, {
      schemes: [{ network: 'eip155:*', client: client as never }],
      spendControls: false,
    })
    return { buy, payload: () => decodePaymentSignatureHeader(sent.at(-1)?.get('PAYMENT-SIGNATURE') ?? '') }
  }

  test('pays for a request: the payee has the tokens, and the payer the report and the hash', async () => {
    const shop = await openShop()
    const payer = await payerOf()
    const before = await site.balanceOf(site.payTo)
    const { buy, payload } = clientOf({ account: payer, expirySeconds: 600 })
    const response = await buy(shop.url)
    expect([response.status, await response.json()]).toEqual([200, { report: 'sunny' }])
    const receipt = decodePaymentResponseHeader(response.headers.get('PAYMENT-RESPONSE') ?? '')
    expect(receipt).toMatchObject({
      success: true,
      network: NETWORK,
      amount: '10000',
      payer: payer.address.toLowerCase(),
    })
    expect(await site.balanceOf(site.payTo)).toBe(before + 10_000n)
    expect(await site.balanceOf(payer.address)).toBe(FUNDS - 10_000n)
    const [sent, ...others] = await transactionsOf(payer.address)
    expect(others).toEqual([])
    expect(sent).toMatchObject({ hash: receipt.transaction, to: getAddress(framework.DelegationManager) })
    const { args } = decodeFunctionData({ abi: MANAGER_ABI, data: sent?.data ?? '0x' })
    const transfer = encodeFunctionData({ abi: TRANSFER, args: [site.payTo, 10_000n] })
    expect(args).toEqual([
      [payload().payload.permissionContext],
      [SINGLE_CALL],
      [encodePacked(['address', 'uint256', 'bytes'], [site.token, 0n, transfer])],
    ])
    // The payment that was sent, once more.
    const paymentPayload = payload()
    const body = { x402Version: 2, paymentPayload, paymentRequirements: paymentPayload.accepted }
    expect(await call('verify', body, API_KEY)).toMatchObject({
      isValid: false,
      invalidReason: 'duplicate_settlement',
    })
    expect(await call('settle', body, API_KEY)).toMatchObject({
      success: true,
      transaction: receipt.transaction,
      extensions: { settlement: { repeated: true } },
    })
    expect(await site.balanceOf(site.payTo)).toBe(before + 10_000n)
  }, 60_000)

  test('pays several times out of a permission that lasts, which its wallet gave to an agent once', async () => {
    const shop = await openShop()
    const wallet = await payerOf()
    const agent = privateKeyToAccount(generatePrivateKey())
    const permission = await rooted(wallet, { to: agent.address })
    const { buy } = clientOf({ account: agent, parentPermissionContext: [permission] })
    for (let count = 0; count < 3; count += 1) expect((await buy(shop.url)).status).toBe(200)
    expect(await site.balanceOf(wallet.address)).toBe(FUNDS - 30_000n)
  }, 60_000)

  test('gets no report without the tokens', async () => {
    const shop = await openShop()
    const { buy } = clientOf({ account: await payerOf(9_999n) })
    expect([(await buy(shop.url)).status, shop.sales()]).toEqual([402, 0])
  }, 60_000)
})

describe('payments by delegation', () => {
  test('are offered with the account that may use a delegation', async () => {
    const told = (await supported(settings(), world)) as { kinds: object[]; signers: object }
    expect(told.kinds).toContainEqual({
      x402Version: 2,
      scheme: 'exact',
      network: NETWORK,
      extra: { facilitatorAddresses: [RELAYER] },
    })
    expect(told).not.toHaveProperty('unavailable')
    const without = (await supported(settings({}, { delegations: undefined }), world)) as { kinds: object[] }
    expect(without.kinds).toContainEqual({ x402Version: 2, scheme: 'exact', network: NETWORK })
  })

  test('are unavailable where the relayer has several accounts, and another one settles them', async () => {
    const { request } = world.api
    const several = {
      ...createWorld(site.service.url),
      api: {
        request: async (asked: Parameters<typeof request>[0]) => {
          const answer = await request(asked)
          if (asked.path !== '/api/v1/relayers/main') return answer
          const { data } = answer.body as { data: object }
          return {
            ...answer,
            body: {
              success: true,
              data: { ...data, accounts: [{ address: RELAYER }, { address: STRANGER }] },
            },
          }
        },
      },
    }
    expect(await supported(settings(), several)).toMatchObject({
      kinds: expect.arrayContaining([{ x402Version: 2, scheme: 'exact', network: NETWORK }]),
      unavailable: [
        {
          network: NETWORK,
          assetTransferMethod: 'erc7710',
          reason: 'ERC-7710 needs a relayer with one account: name it in delegations.relayer_id.',
        },
      ],
    })
    const payer = await payerOf()
    expect(await verify(ask(await pay(payer)), settings(), several)).toMatchObject({
      isValid: false,
      invalidReason: 'invalid_payload',
    })
    const delegations = { managers: [framework.DelegationManager], relayer_id: 'other' }
    const { kinds, signers } = (await supported(settings({}, { delegations }), several)) as {
      kinds: { extra?: { facilitatorAddresses: Hex[] } }[]
      signers: Record<string, Hex[]>
    }
    const [other] = kinds.flatMap(({ extra }) => extra?.facilitatorAddresses ?? [])
    expect(signers['eip155:*']).toEqual([RELAYER, other])
    const elsewhere = await pay(payer, { extra: { facilitatorAddresses: [other] } })
    expect(await mining(settle(ask(elsewhere), settings({}, { delegations }), several))).toMatchObject({
      success: true,
    })
    expect(await transactionsOf(payer.address)).toEqual([])
    expect(await site.balanceOf(payer.address)).toBe(FUNDS - 10_000n)
  }, 60_000)

  test('end when the resource server gives up, and are told with what they moved', async () => {
    const payer = await payerOf()
    const bodies: { valid_until: string }[] = []
    const { request } = world.api
    const watched = {
      ...world,
      api: {
        request: (asked: Parameters<typeof request>[0]) => {
          if (asked.path.includes('/transactions?')) bodies.push(asked.body as { valid_until: string })
          return request(asked)
        },
      },
    }
    expect(await settle(ask(await pay(payer)), quickly(), watched)).toMatchObject({ success: true })
    const left = Date.parse(bodies.at(-1)?.valid_until ?? '') - Date.now()
    expect(left).toBeGreaterThan(270_000)
    expect(left).toBeLessThanOrEqual(301_000)
    const [sent] = await transactionsOf(payer.address)
    const { body } = await site.service.api<Sent>('GET', `/relayers/main/transactions/${sent?.id}`)
    expect(body.data.transfers).toMatchObject([{ from: payer.address, to: site.payTo, amount: '10000' }])
  }, 60_000)

  test('move the amount that is required, and no more of what is allowed', async () => {
    const payer = await payerOf()
    const { paymentPayload } = await pay(payer, { amount: 50_000n })
    const body = bodyOf(requirementsOf({ ...site, amount: 10_000n }), paymentPayload.payload)
    expect(await settle(ask(body), quickly(), world)).toMatchObject({ success: true, amount: '10000' })
    expect(await site.balanceOf(payer.address)).toBe(FUNDS - 10_000n)
  }, 60_000)

  test('are made once, however often and by whomever they are asked for', async () => {
    const payer = await payerOf()
    const body = await pay(payer)
    const { body: issued } = await site.service.api<{ secret: string }>('POST', '/api-keys', {
      name: 'Other',
      scopes: ['plugins:call'],
    })
    const keys = [API_KEY, issued.data.secret, undefined]
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, index) => call('settle', body, keys[index % keys.length])),
    )
    expect(answers).toEqual(answers.map(() => expect.objectContaining({ success: true })))
    expect(new Set(answers.map(({ transaction }) => transaction)).size).toBe(1)
    expect(await site.balanceOf(payer.address)).toBe(FUNDS - 10_000n)
    // The permission would last: nothing on the chain ends it.
    const delegation = await rooted(payer)
    const first = payWith([delegation])
    const paid = await settle(ask(first), quickly(), world)
    expect(paid).toMatchObject({ success: true })
    const others = [
      payWith([delegation], { amount: 10_001n }),
      payWith([delegation], { payTo: STRANGER }),
      payWith([{ ...delegation, signature: `${delegation.signature}00` }]),
    ]
    for (const other of others) {
      expect(await verify(ask(other), settings(), world)).toMatchObject({
        isValid: false,
        invalidReason: 'duplicate_settlement',
      })
      expect(await settle(ask(other), settings(), world)).toMatchObject({
        success: false,
        errorReason: 'duplicate_settlement',
      })
    }
    expect(await settle(ask(first), quickly(), world)).toMatchObject({ transaction: paid.transaction })
    expect(await site.balanceOf(payer.address)).toBe(FUNDS - 20_000n)
  }, 60_000)
})

/** Each attempt that is refused, with the reason and what its sentence says. */
type Attempt = readonly [
  what: string,
  reason: string,
  says: string,
  make: (payer: Delegator) => Promise<object>,
]

const SIMULATION = 'invalid_exact_evm_transaction_simulation_failed'
const ATTEMPTS: readonly Attempt[] = [
  [
    'has no delegation, so that the relayer would act for itself',
    'invalid_payload',
    'permissionContext: expected one chain',
    async () => bodyOf(requirementsOf(site), { ...payloadOf(framework, []), delegator: RELAYER }),
  ],
  [
    'has an empty context',
    'invalid_payload',
    'permissionContext: expected bytes',
    async (payer) => {
      const body = await pay(payer)
      Object.assign(body.paymentPayload.payload, { permissionContext: '0x' })
      return body
    },
  ],
  [
    'has another encoding',
    'invalid_payload',
    'permissionContext: expected one chain',
    async (payer) => {
      const body = await pay(payer)
      const { permissionContext } = body.paymentPayload.payload as { permissionContext: Hex }
      Object.assign(body.paymentPayload.payload, {
        permissionContext: `${permissionContext}${'00'.repeat(32)}`,
      })
      return body
    },
  ],
  [
    'has a longer context than is read',
    'invalid_payload',
    'at most 16384 bytes',
    async (payer) => {
      const delegation = await rooted(payer)
      return payWith([{ ...delegation, signature: `0x${'11'.repeat(17_000)}` }])
    },
  ],
  [
    'is delegated to another account',
    'invalid_payload',
    `the delegate is ${STRANGER}`,
    async (payer) => payWith([await rooted(payer, { to: STRANGER })]),
  ],
  [
    'may be redeemed by another facilitator alone',
    SIMULATION,
    'RedeemerEnforcer:unauthorized-redeemer',
    async (payer) => pay(payer, { extra: { facilitatorAddresses: [STRANGER] } }),
  ],
  [
    'is of another account than the delegator',
    'invalid_payload',
    'and the delegator is',
    async (payer) => payWith([await rooted(payer)], { delegator: (await payerOf()).address }),
  ],
  [
    'is of the account that sends',
    'invalid_payload',
    'is an account of the relayer',
    async () => payWith([await unsigned(RELAYER)]),
  ],
  [
    'is passed on by the account that sends',
    'invalid_payload',
    'is an account of the relayer',
    async (payer) => {
      const root = await rooted(payer, { to: RELAYER })
      return payWith([await unsigned(RELAYER, { authority: hashDelegation(root) }), root])
    },
  ],
  [
    'is one for anyone that a thief passes on',
    'invalid_payload',
    'may not be passed on',
    async (payer) => {
      const root = await rooted(payer, { to: ANY_DELEGATE })
      const thief = await payerOf(0n)
      return payWith([await rooted(thief, { authority: hashDelegation(root) }), root])
    },
  ],
  [
    'is a longer chain than is used',
    'invalid_payload',
    'at most 5 delegations',
    async (payer) => payWith(await chain(payer, 6)),
  ],
  [
    'has more conditions than are asked',
    'invalid_payload',
    'at most 20 caveats',
    async (payer) =>
      payWith([await rooted(payer, { caveats: Array.from({ length: 21 }, () => ({ enforcer: STRANGER })) })]),
  ],
  [
    'is signed by another key',
    SIMULATION,
    'reverts',
    async (payer) =>
      payWith([{ ...(await rooted(payer)), signature: (await rooted(await payerOf(0n))).signature }]),
  ],
  [
    'allows another token',
    SIMULATION,
    'reverts',
    async (payer) => {
      const other = await pay(payer, { token: await site.deploy(TOKEN_CODE, TOKEN, ['Other', '2', 0n]) })
      return bodyOf(requirementsOf(site), other.paymentPayload.payload)
    },
  ],
  [
    'allows less',
    SIMULATION,
    'reverts',
    async (payer) => {
      const { paymentPayload } = await pay(payer, { amount: 9_999n })
      return bodyOf(requirementsOf(site), paymentPayload.payload)
    },
  ],
  [
    'allows another payee',
    SIMULATION,
    'reverts',
    async (payer) => {
      const { paymentPayload } = await pay(payer, { payTo: STRANGER })
      return bodyOf(requirementsOf(site), paymentPayload.payload)
    },
  ],
  [
    'is of a payer who has less',
    'insufficient_funds',
    'and 10000 are needed',
    async () => pay(await payerOf(9_999n)),
  ],
  [
    'pays the payer',
    'invalid_payload',
    'the same account',
    async (payer) => pay(payer, { payTo: payer.address }),
  ],
  [
    'is in a token that is not listed',
    'unsupported_asset',
    'is not settled here',
    async (payer) => pay(payer, { token: STRANGER }),
  ],
  [
    'names a manager that is not listed',
    'erc7710_manager_not_allowed',
    'is not listed here',
    async (payer) => {
      const body = await pay(payer)
      const delegationManager = await site.deploy(TWO_FACED_ACCOUNT_CODE)
      Object.assign(body.paymentPayload.payload, { delegationManager })
      return body
    },
  ],
  [
    'is for requirements that name no method',
    'invalid_payload',
    'The requirements want no such method',
    async (payer) => pay(payer, { extra: { assetTransferMethod: undefined } }),
  ],
  [
    'is by EIP-3009 where a delegation is required',
    'invalid_payload',
    'delegator: expected an address',
    async () => {
      const requirements = requirementsOf(site)
      const { paymentPayload } = await paymentBy(await site.payer(), site)
      return bodyOf(requirements, paymentPayload.payload)
    },
  ],
  [
    'has a condition that burns more gas than is paid for',
    SIMULATION,
    'at most 500000 are paid for',
    async (payer) =>
      payWith([await rooted(payer, { caveats: [{ enforcer: await site.deploy(GREEDY_ENFORCER_CODE) }] })]),
  ],
  [
    'is of an account that makes two calls',
    SIMULATION,
    'The payer would lose 10001',
    async () => {
      const account = await twoFaced()
      const second = encodeFunctionData({ abi: TRANSFER, args: [STRANGER, 1n] })
      await prefer(account, site.token, second, true)
      return payWith([await unsigned(account)])
    },
  ],
  [
    'was taken back',
    SIMULATION,
    'reverts',
    async (payer) => {
      const delegation = await rooted(payer)
      await disable(payer.address, delegation)
      return payWith([delegation])
    },
  ],
]

/** A chain of so many delegations, each by the delegate of the one before. */
async function chain(payer: Delegator, length: number): Promise<readonly Delegation[]> {
  const friends = await Promise.all(Array.from({ length: length - 1 }, () => payerOf(0n)))
  const delegations: Delegation[] = []
  for (const [index, from] of [payer, ...friends].entries()) {
    const [above] = delegations
    const to = friends[index]?.address ?? RELAYER
    delegations.unshift(await rooted(from, { to, ...(above && { authority: hashDelegation(above) }) }))
  }
  return delegations
}

const disable = (account: Hex, delegation: Delegation) =>
  sendAs(account, framework.DelegationManager, DelegationManager.encode.disableDelegation({ delegation }))

describe('a payment is refused, and nothing is sent, if it', () => {
  test.each(ATTEMPTS)('%s', async (_, reason, says, make) => {
    const body = await make(await payerOf())
    const used = settings()
    const sent = (await site.service.api('GET', '/relayers/main/transactions')).body.pagination
    expect(await verify(ask(body), used, world)).toMatchObject({
      isValid: false,
      invalidReason: reason,
      invalidMessage: expect.stringContaining(says),
    })
    expect(await settle(ask(body), used, world)).toMatchObject({
      success: false,
      errorReason: reason,
      transaction: '',
    })
    expect((await site.service.api('GET', '/relayers/main/transactions')).body.pagination).toEqual(sent)
  })

  test('comes where the operator lists no manager', async () => {
    const without = settings({}, { delegations: undefined })
    expect(await settle(ask(await pay(await payerOf())), without, world)).toMatchObject({
      errorReason: 'invalid_payload',
      errorMessage: 'Payments by ERC-7710 are not settled on this network.',
    })
  })

  test('is in a token that keeps a part of a transfer, also a listed one', async () => {
    const payer = await payerOf()
    const token = await site.deploy(TOKEN_CODE, TOKEN, ['Test Dollar', '2', 1n])
    await site.mint(payer.address, FUNDS, token)
    const listed = settings({}, { assets: [token] })
    expect(await settle(ask(await pay(payer, { token })), listed, world)).toMatchObject({
      errorReason: SIMULATION,
      errorMessage: 'The payer would lose 10000 and the payee get 9900, not 10000.',
    })
  })
})

/** A context of 16 KB in which offsets of sixty delegations lead to the same one, as decoders read it: with all in them, gigabytes. */
function sharedContext(): Hex {
  const [delegations, caveats, bytes] = [60, 16, 13_536]
  const word = (value: number) => value.toString(16).padStart(64, '0')
  const address = STRANGER.slice(2).padStart(64, '0')
  const many = (count: number, offset: number) => Array.from({ length: count }, () => word(offset))
  const parts = [
    [word(32), word(delegations), ...many(delegations, delegations * 32)],
    [address, address, 'ff'.repeat(32), word(192), word(0), word(320 + caveats * 32)],
    [word(caveats), ...many(caveats, caveats * 32), address, word(96), word(96)],
    [word(bytes), '11'.repeat(bytes)],
  ]
  return `0x${parts.flat().join('')}`
}

describe('the process of the plugin', () => {
  const restarts = async () => {
    const { body } = await site.service.api<{ state: { restarts: number } }>('GET', '/plugins/x402')
    return body.data.state.restarts
  }

  test('survives a context whose parts are counted many times', async () => {
    const before = await restarts()
    const body = await pay(await payerOf())
    Object.assign(body.paymentPayload.payload, { permissionContext: sharedContext() })
    expect(await call('verify', body, undefined)).toMatchObject({
      isValid: false,
      invalidReason: 'invalid_payload',
      invalidMessage: expect.stringContaining('permissionContext: expected one chain'),
    })
    expect(await restarts()).toBe(before)
  }, 60_000)
})

/** An enforcer that tells of a hundred transfers to the payee, of a token of its own, before the payment. */
function boasting(payee: Hex): Hex {
  const address = (each: string) => `73${each.slice(2).toLowerCase()}`
  const selector = toFunctionSelector(
    'beforeAllHook(bytes,bytes,bytes32,bytes,bytes32,address,address)',
  ).slice(2)
  const event = toEventSelector('Transfer(address,address,uint256)').slice(2)
  // The selector of the input; then 100 times LOG3 with the word 1.
  const code = [
    `60003560e01c63${selector}14601057005b`,
    `600160005260645b${address(payee)}${address(STRANGER)}7f${event}60206000a3600190038060185700`,
  ].join('')
  const length = (code.length / 2).toString(16)
  return `0x60${length}600c60003960${length}6000f3${code}`
}

test('a payment is in the report of its payee, whatever else its block tells of', async () => {
  const payTo = privateKeyToAccount(generatePrivateKey()).address
  const enforcer = await site.deploy(boasting(payTo))
  const body = payWith([await rooted(await payerOf(), { caveats: [{ enforcer }] })], { payTo })
  expect(await mining(settle(ask(body), settings(), world))).toMatchObject({ success: true })
  const query = { payee: [payTo], day: [new Date().toISOString().slice(0, 10)] }
  const reading = settings({ readers: [{ key: 'shop', payees: [payTo] }] })
  expect(await payments({ query, caller: 'shop' }, reading, world)).toMatchObject({
    settled: [{ network: NETWORK, asset: site.token.toLowerCase(), payments: 1, amount: '10000' }],
    failed: 0,
  })
}, 60_000)

test('a payment by a chain of delegations as long as is used is made', async () => {
  const payer = await payerOf()
  expect(await settle(ask(payWith(await chain(payer, 5))), quickly(), world)).toMatchObject({ success: true })
})

describe('a delegation in a request', () => {
  const delegations = { managers: [STRANGER], relayer_id: 'other' }
  const networks = [
    { network: 'eip155:8453', relayer_id: 'main', assets: [STRANGER], batch_settlement: true, delegations },
  ]
  const required = { ...requirementsOf({ token: STRANGER, payTo: STRANGER }), network: 'eip155:8453' }
  const payload = { delegationManager: STRANGER, delegator: RELAYER, permissionContext: '0x00' }

  test.each([
    ['exact', 'other'],
    ['batch-settlement', 'main'],
  ])('of the scheme %s is for the relayer %s', (scheme, relayerId) => {
    const body = bodyOf({ ...required, scheme }, payload)
    expect(readPaymentRequest(body, 'verify', readSettings({ networks })).network).toMatchObject({
      relayerId,
    })
  })

  test('of version 1 is refused', async () => {
    const old = { ...required, network: 'base', maxAmountRequired: '10000', resource: 'https://shop.example' }
    const body = {
      x402Version: 1,
      paymentPayload: { x402Version: 1, scheme: 'exact', network: 'base', payload },
      paymentRequirements: old,
    }
    const request = readPaymentRequest(body, 'verify', readSettings({ networks }))
    const settler = { address: RELAYER, own: new Set<string>(), networkName: 'base', blockSeconds: 2 }
    const problems = {
      uptoProblem: undefined,
      channelsProblem: undefined,
      approvalProblem: undefined,
      delegationsProblem: undefined,
    }
    await expect(decodePayment(request, { ...settler, ...problems }, world)).rejects.toMatchObject({
      reason: 'invalid_payload',
      message: 'A payment by ERC-7710 needs version 2 and the scheme exact.',
    })
  })
})

describe('what happens between the verification and the block', () => {
  test('a delegation that is taken back before the settlement sends nothing', async () => {
    const payer = await payerOf()
    const delegation = await rooted(payer)
    const body = payWith([delegation])
    expect(await verify(ask(body), settings(), world)).toMatchObject({ isValid: true })
    await disable(payer.address, delegation)
    expect(await settle(ask(body), settings(), world)).toMatchObject({
      success: false,
      errorReason: SIMULATION,
      transaction: '',
    })
    expect(await transactionsOf(payer.address)).toEqual([])
  }, 60_000)

  test('one that is taken back in the same block is a failure, which is told when it is final', async () => {
    const payer = await payerOf()
    const delegation = await rooted(payer)
    const body = payWith([delegation])
    await site.anvil.rpc('evm_setAutomine', [false])
    const settled = settle(ask(body), settings(), world)
    await until(
      async () => transactionsOf(payer.address),
      (sent) => sent.some(({ status }) => status === 'submitted'),
    )
    await disable(payer.address, delegation)
    expect(await mining(settled)).toMatchObject({
      success: false,
      errorReason: 'invalid_transaction_state',
      errorMessage: expect.stringContaining('without the payment'),
    })
    expect(await site.balanceOf(payer.address)).toBe(FUNDS)
  }, 60_000)

  test('a second payment out of one permission waits for the block of the first', async () => {
    const wallet = await payerOf()
    const agent = await payerOf(0n)
    const permission = await rooted(wallet, { to: agent.address })
    const authority = hashDelegation(permission)
    const bodies = await Promise.all(
      Array.from({ length: 2 }, async () => payWith([await rooted(agent, { authority }), permission])),
    )
    await site.anvil.rpc('evm_setAutomine', [false])
    const brief = settings({ timeout_seconds: 2 })
    const answers = []
    for (const body of bodies) answers.push(await settle(ask(body), brief, world))
    expect(answers.map(({ errorReason }) => errorReason)).toEqual(['settlement_pending', 'limit_exceeded'])
    for (const body of bodies)
      expect(await mining(settle(ask(body), settings(), world))).toMatchObject({ success: true })
    expect(await site.balanceOf(wallet.address)).toBe(FUNDS - 20_000n)
  }, 60_000)

  test('gas that a condition burns in the block alone ends at what was simulated', async () => {
    const payer = await payerOf()
    const enforcer = await site.deploy(TWO_FACED_ENFORCER_CODE, BURNS, [true])
    const body = payWith([await rooted(payer, { caveats: [{ enforcer }] })])
    expect(await mining(settle(ask(body), settings(), world))).toMatchObject({
      success: false,
      errorReason: 'invalid_transaction_state',
    })
    const [sent] = await transactionsOf(payer.address)
    expect(sent?.gas_limit).toBeLessThanOrEqual(500_000)
    expect(sent?.receipt?.gas_used).toBeLessThanOrEqual(sent?.gas_limit ?? 0)
    expect(await site.balanceOf(payer.address)).toBe(FUNDS)
  }, 60_000)

  test('the third payment of an account whose condition refused two in the block is not sent', async () => {
    const payer = await payerOf()
    const enforcer = await site.deploy(TWO_FACED_ENFORCER_CODE, BURNS, [false])
    const reasons = []
    for (let count = 0; count < 3; count += 1) {
      const body = payWith([await rooted(payer, { caveats: [{ enforcer }] })])
      reasons.push((await mining(settle(ask(body), settings(), world))).errorReason)
    }
    expect(reasons).toEqual(['invalid_transaction_state', 'invalid_transaction_state', 'limit_exceeded'])
    expect(await transactionsOf(payer.address)).toHaveLength(2)
  }, 60_000)

  test('an account that does nothing in the block has not paid, although its transaction succeeds', async () => {
    const account = await twoFaced()
    const answer = await mining(settle(ask(payWith([await unsigned(account)])), settings(), world))
    expect(answer).toMatchObject({ success: false, errorReason: 'invalid_transaction_state' })
    expect((await transactionsOf(account)).map(({ status }) => status)).toEqual(['confirmed'])
    expect(await site.balanceOf(account)).toBe(FUNDS)
  }, 60_000)

  test('such accounts are bounded in all, also if nobody waits for the outcome', async () => {
    const fresh = createWorld(site.service.url)
    const few = { failures: { all: 2, payee: 2, open: 2 } }
    await site.anvil.rpc('evm_setAutomine', [false])
    const [first, second, third] = [await minedTwoFaced(), await minedTwoFaced(), await minedTwoFaced()]
    const given = async (account: Hex, to: Hex = RELAYER) => ask(payWith([await unsigned(account, { to })]))
    const brief = settings({ ...few, timeout_seconds: 2 })
    const delegations = { managers: [framework.DelegationManager], relayer_id: 'other' }
    const byOther = settings({ ...few, timeout_seconds: 2 }, { delegations })
    const pending = { errorReason: 'settlement_pending' }
    expect(await settle(await given(first), brief, fresh)).toMatchObject(pending)
    expect(await settle(await given(second, DEV_ADDRESSES[1]), byOther, fresh)).toMatchObject(pending)
    expect(await settle(await given(third), brief, fresh)).toMatchObject({ errorReason: 'limit_exceeded' })
    await until(
      async () => {
        await site.anvil.rpc('evm_mine')
        return [await transactionsOf(first), await transactionsOf(second, 'other')]
      },
      (all) => all.every((sent) => sent.length === 1 && sent[0]?.status === 'confirmed'),
    )
    // Long after that, the failures are found at both relayers.
    const later = { ...fresh, now: () => Date.now() + 100_000 }
    expect(await settle(await given(third, DEV_ADDRESSES[1]), byOther, later)).toMatchObject({
      errorReason: 'limit_exceeded',
      errorMessage: expect.stringContaining('2 payments failed'),
    })
  }, 60_000)

  test('an account that settles an authorization instead has paid once, and has one success', async () => {
    const account = await twoFaced()
    const owner = await site.payer(0n)
    const authorized = await paymentBy(owner, { ...site, authorization: { from: account } })
    const { authorization, signature } = authorized.paymentPayload.payload
    const { from, to, value, validAfter, validBefore, nonce } = authorization
    const args = [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, signature] as const
    const data = encodeFunctionData({ abi: AUTHORIZED, functionName: 'transferWithAuthorization', args })
    await prefer(account, site.token, data, false)
    const before = await site.balanceOf(site.payTo)
    const delegated = await mining(settle(ask(payWith([await unsigned(account)])), settings(), world))
    expect(delegated).toMatchObject({ success: false, errorReason: 'invalid_transaction_state' })
    const [sent] = await transactionsOf(account)
    expect(await mining(settle(ask(authorized), settings(), world))).toMatchObject({
      success: true,
      transaction: sent?.hash,
    })
    expect(await site.balanceOf(site.payTo)).toBe(before + 10_000n)
  }, 60_000)

  test('one that a block includes although its time is over is pending until then, and a success', async () => {
    const payer = await payerOf()
    const required = { ...requirementsOf(site), maxTimeoutSeconds: 4 }
    const body = bodyOf(required, payloadOf(framework, [await rooted(payer)]))
    await site.anvil.rpc('evm_setAutomine', [false])
    const brief = settings({ timeout_seconds: 2 })
    const pending = { success: false, errorReason: 'settlement_pending' }
    const { transaction, ...first } = await settle(ask(body), brief, world)
    expect(first).toMatchObject(pending)
    const raw = await site.anvil.rpc<Hex>('eth_getRawTransactionByHash', [transaction])
    await until(
      async () =>
        (await site.service.api<{ no_op?: true }[]>('GET', '/relayers/main/transactions?per_page=1')).body,
      ({ data: [newest] }) => newest?.no_op === true,
    )
    expect(await settle(ask(body), brief, world)).toMatchObject(pending)
    // Whoever makes the block does not know the no-op that replaces it.
    await site.anvil.rpc('anvil_dropAllTransactions')
    await site.anvil.rpc('eth_sendRawTransaction', [raw])
    await site.anvil.rpc('evm_mine')
    expect(await mining(settle(ask(body), settings(), world))).toMatchObject({ success: true, transaction })
    expect(await site.balanceOf(payer.address)).toBe(FUNDS - 10_000n)
  }, 60_000)

  test('one whose time is over before a block includes it is a failure', async () => {
    const payer = await payerOf()
    const required = { ...requirementsOf(site), maxTimeoutSeconds: 1 }
    const body = bodyOf(required, payloadOf(framework, [await rooted(payer)]))
    await site.anvil.rpc('evm_setAutomine', [false])
    await settle(ask(body), settings({ timeout_seconds: 2 }), world)
    await until(
      async () =>
        (await site.service.api<{ no_op?: true }[]>('GET', '/relayers/main/transactions?per_page=1')).body,
      ({ data: [newest] }) => newest?.no_op === true,
    )
    expect(await mining(settle(ask(body), settings(), world))).toMatchObject({
      success: false,
      errorReason: 'invalid_transaction_state',
      errorMessage: expect.stringContaining('is expired without the payment'),
    })
    expect(await site.balanceOf(payer.address)).toBe(FUNDS)
  }, 60_000)

  test('a block that no node tells about leaves the payment pending, and it is a success later', async () => {
    const { request } = world.api
    const silent = {
      ...world,
      api: {
        request: async (asked: Parameters<typeof request>[0]) => {
          const answer = await request(asked)
          if (!JSON.stringify(asked.body ?? '').includes('eth_getTransactionReceipt')) return answer
          const replies = answer.body as { id: number }[]
          return { ...answer, body: replies.map(({ id }) => ({ jsonrpc: '2.0', id, result: null })) }
        },
      },
    }
    const payer = await payerOf()
    const body = await pay(payer)
    const first = await settle(ask(body), settings({ wait_for: 'mined', timeout_seconds: 3 }), silent)
    expect(first).toMatchObject({ success: false, errorReason: 'settlement_pending' })
    expect(await settle(ask(body), quickly(), world)).toMatchObject({
      success: true,
      transaction: first.transaction,
    })
    expect(await site.balanceOf(payer.address)).toBe(FUNDS - 10_000n)
  }, 60_000)
})

const BURNS = parseAbi(['constructor(bool burns)'])
const AUTHORIZED = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
])

/** Makes an account on a chain that makes no blocks by itself. */
async function minedTwoFaced(): Promise<Hex> {
  await site.anvil.rpc('evm_setAutomine', [true])
  const account = await twoFaced()
  await site.anvil.rpc('evm_setAutomine', [false])
  return account
}
