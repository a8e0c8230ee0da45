import { createDelegation, type SmartAccountsEnvironment, signDelegation } from '@metamask/smart-accounts-kit'
import { DelegationManager } from '@metamask/smart-accounts-kit/contracts'
import { deploySmartAccountsEnvironment, encodeDelegations } from '@metamask/smart-accounts-kit/utils'
import {
  createPublicClient,
  createWalletClient,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  http,
  parseAbi,
  parseAbiParameters,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { API_KEY } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { TOKEN_CODE } from '../x402/contract-code.ts'
import { TOKEN } from '../x402/evm-site.ts'
import { authorizationOf, LONG_BYTES, sharing } from './sign.ts'
import {
  CHAIN_ID,
  countCall,
  type GaslessSite,
  GENEROUS,
  networkOf,
  pluginEntry,
  RELAYER,
  startGaslessSite,
} from './site.ts'

const COLLECTOR = '0x00000000000000000000000000000000000000fe'
const STRANGER = '0x4444444444444444444444444444444444444444'
const DEPLOYER = '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720'
const ANYONE = '0x0000000000000000000000000000000000000a11'

/** More than any request here costs. */
const FEE = 10n ** 8n

let site: GaslessSite
let metamask: SmartAccountsEnvironment
let token: Hex

beforeAll(async () => {
  site = await startGaslessSite({
    prepare: async ({ anvil, deploy }) => {
      const transport = http(anvil.url)
      const client = { transport, pollingInterval: 20 }
      metamask = await deploySmartAccountsEnvironment(
        createWalletClient({ account: DEPLOYER, chain: foundry, ...client }),
        createPublicClient({ chain: foundry, ...client }) as never,
        foundry,
      )
      token = await deploy(TOKEN_CODE, TOKEN, ['Test Dollar', '2', 0n])
    },
    entries: (known) => {
      const { EIP7702StatelessDeleGatorImpl = '0x' } = metamask.implementations
      const { LimitedCallsEnforcer, TimestampEnforcer, AllowedTargetsEnforcer } = metamask.caveatEnforcers
      const network = networkOf(known, {
        delegates: [{ address: lower(EIP7702StatelessDeleGatorImpl), kind: 'entry_point' }],
        delegation_managers: [
          {
            address: lower(metamask.DelegationManager),
            limiting_enforcers: [LimitedCallsEnforcer, TimestampEnforcer],
            enforcers: [AllowedTargetsEnforcer],
          },
        ],
        fee_tokens: [{ address: token, decimals: 6, price: { sources: [{ type: 'fixed', price: '2000' }] } }],
      })
      const config = { networks: [network], fee_collector: COLLECTOR, ...GENEROUS }
      return [pluginEntry('gasless', config), pluginEntry('open', config, { open_mount: true })]
    },
  })
}, 120_000)
afterAll(() => site.stop())
afterEach(() => site.anvil.rpc('evm_setAutomine', [true]))

const lower = (address: Hex) => address.toLowerCase() as Hex

interface User {
  readonly key: Hex
  readonly address: Hex
}

function newUser(): User {
  const key = generatePrivateKey()
  return { key, address: privateKeyToAccount(key).address }
}

type Caveats = NonNullable<Parameters<typeof createDelegation>[0]['caveats']>
const once: Caveats = [{ type: 'limitedCalls', limit: 1 } as never]
const often: Caveats = [{ type: 'limitedCalls', limit: 9 } as never]

interface Terms {
  readonly to?: Hex
  readonly caveats?: Caveats
  readonly signer?: Hex
  /** Without the enforcer of targets, which accepts single calls alone. */
  readonly forBatches?: boolean
}

/** What MetaMask's client makes of a delegation. */
async function delegate(
  user: User,
  { to = RELAYER, caveats = once, signer = user.key, forBatches = false }: Terms = {},
) {
  const scope = {
    type: 'functionCall' as const,
    targets: [site.stranger, token],
    selectors: ['increment()', 'transfer(address,uint256)', 'fail()'],
  }
  const open = createDelegation({ environment: metamask, scope, to, from: user.address, caveats })
  // The scope brings enforcers of its own, of which some are not listed here.
  const { AllowedMethodsEnforcer, ValueLteEnforcer, AllowedTargetsEnforcer } = metamask.caveatEnforcers
  const left = [AllowedMethodsEnforcer, ValueLteEnforcer, ...(forBatches ? [AllowedTargetsEnforcer] : [])]
  const listed = open.caveats.filter(({ enforcer }) => !left.includes(enforcer))
  const delegation = { ...open, caveats: listed }
  const signature = await signDelegation({
    privateKey: signer,
    delegation,
    delegationManager: metamask.DelegationManager,
    chainId: CHAIN_ID,
    allowInsecureUnrestrictedDelegation: true,
  })
  return { ...delegation, signature }
}

type Signed = Awaited<ReturnType<typeof delegate>>

interface Execution {
  readonly target: Hex
  readonly value: bigint
  readonly callData: Hex
}

const increment = (): Execution => ({ target: site.stranger, value: 0n, callData: countCall('increment') })
const silently = (): Execution => ({ ...increment(), callData: countCall('incrementSilently') })
const pay = (amount: bigint): Execution => ({
  target: token,
  value: 0n,
  callData: encodeFunctionData({
    abi: parseAbi(['function transfer(address to, uint256 value) returns (bool)']),
    args: [COLLECTOR, amount],
  }),
})

const SINGLE = `0x${'00'.repeat(32)}` as const
const BATCH = `0x01${'00'.repeat(31)}` as const
const TRYING = `0x0101${'00'.repeat(30)}` as const

/** Encodes the use of a delegation as MetaMask's client does. */
function redeem(
  delegations: readonly Signed[],
  executions: readonly Execution[],
  mode: Hex = executions.length === 1 ? SINGLE : BATCH,
): Hex {
  return DelegationManager.encode.redeemDelegations({
    delegations: [[...delegations]],
    modes: [mode as never],
    executions: [[...executions] as never],
  })
}

async function request(
  user: User,
  data: Hex,
  { isDelegated = false, ...more }: { isDelegated?: boolean; payment?: object } = {},
): Promise<object> {
  const { EIP7702StatelessDeleGatorImpl = '0x' } = metamask.implementations
  return {
    chainId: String(CHAIN_ID),
    to: metamask.DelegationManager,
    data,
    ...(!isDelegated && {
      authorizationList: [
        await authorizationOf(privateKeyToAccount(user.key), lower(EIP7702StatelessDeleGatorImpl)),
      ],
    }),
    ...more,
  }
}

const ended = (id: Hex) =>
  until(
    async () => {
      await site.anvil.rpc('evm_mine')
      return (await site.call<{ status: number; message?: string }>('relayer_getStatus', { id })).result
    },
    (status) => status?.status !== 100 && status?.status !== 110,
  )

const refusal = async (content: object) => (await site.call('relayer_sendTransaction', content)).error
const countOf = (user: User) => site.countOf(site.stranger, user.address)
const balanceOf = (account: Hex) => site.read(token, TOKEN, 'balanceOf', [account])

/** Makes an account delegate, as it is after its first request. */
const become = ({ address }: User) =>
  site.anvil.rpc('anvil_setCode', [
    address,
    `0xef0100${(metamask.implementations.EIP7702StatelessDeleGatorImpl ?? '0x').slice(2)}`,
  ])

describe('data that would decode to a thousand times of what it has is refused before it ends the process', () => {
  const refused = { code: -32602, message: expect.stringContaining('encoded by its ABI') }
  const abi = parseAbi([
    'function redeemDelegations(bytes[] permissionContexts, bytes32[] modes, bytes[] executionCallDatas)',
  ])

  test('in the list of contexts', async () => {
    const data = encodeFunctionData({ abi, args: [[LONG_BYTES], [SINGLE], [LONG_BYTES.slice(0, 66) as Hex]] })
    expect(await refusal(await request(newUser(), sharing(data)))).toMatchObject(refused)
  }, 60_000)

  test('in the calls of a batch', async () => {
    const user = newUser()
    const one = parseAbiParameters('(address target, uint256 value, bytes callData)[]')
    const call = { target: STRANGER, value: 0n, callData: LONG_BYTES } as const
    const execution = sharing(encodeAbiParameters(one, [[call]]))
    const args = [[encodeDelegations([await delegate(user)])], [BATCH], [execution]] as const
    expect(await refusal(await request(user, encodeFunctionData({ abi, args })))).toMatchObject(refused)
  }, 60_000)
})

describe("A delegation that MetaMask's client signs for the account of the relayer", () => {
  test('is used for one call, and the account begins to delegate with it', async () => {
    const user = newUser()
    const id = await site.send(await request(user, redeem([await delegate(user)], [increment()])))
    expect((await ended(id))?.status).toBe(200)
    expect(await countOf(user)).toBe(1n)
  })

  test('is used for several calls, of which the first one pays the fee', async () => {
    const user = newUser()
    await become(user)
    const mint = encodeFunctionData({ abi: TOKEN, functionName: 'mint', args: [user.address, FEE] })
    await site.transact({ to: token, data: mint })
    const before = await balanceOf(COLLECTOR)
    const payment = { type: 'token', address: token }
    const data = redeem([await delegate(user, { forBatches: true })], [pay(FEE), increment(), increment()])
    const id = await site.send(await request(user, data, { isDelegated: true, payment }))
    expect((await ended(id))?.status).toBe(200)
    expect((await balanceOf(COLLECTOR)) - before).toBe(FEE)
    expect(await countOf(user)).toBe(2n)
  })

  test('is passed on by a delegate, and used in the name of the account', async () => {
    const [user, friend] = [newUser(), newUser()]
    await become(user)
    const root = await delegate(user, { to: friend.address })
    const open = createDelegation({
      environment: metamask,
      parentDelegation: root,
      to: RELAYER,
      from: friend.address,
      caveats: once,
    })
    const { DelegationManager: delegationManager } = metamask
    const signature = await signDelegation({
      privateKey: friend.key,
      delegation: open,
      delegationManager,
      chainId: CHAIN_ID,
    })
    const data = redeem([{ ...open, signature }, root], [increment()])
    const id = await site.send(await request(user, data, { isDelegated: true }))
    expect((await ended(id))?.status).toBe(200)
    expect(await countOf(user)).toBe(1n)
  })

  test('is sent by relayer_send7710Transaction as its fields', async () => {
    const user = newUser()
    await become(user)
    const { caveats, ...delegation } = await delegate(user)
    const { result, error } = await site.call('relayer_send7710Transaction', {
      chainId: String(CHAIN_ID),
      transactions: [
        {
          permissionContext: [{ ...delegation, caveats }],
          executions: [{ target: site.stranger, value: '0', data: countCall('increment') }],
        },
      ],
    })
    expect(error).toBeUndefined()
    expect((await ended(result as Hex))?.status).toBe(200)
    expect(await countOf(user)).toBe(1n)
  })

  test('is named with its manager and the account that may use it by relayer_getCapabilities', async () => {
    expect((await site.call('relayer_getCapabilities', [])).result).toMatchObject({
      [CHAIN_ID]: { delegationManagers: [lower(metamask.DelegationManager)], targetAddress: RELAYER },
    })
  })
})

describe('A delegation is refused', () => {
  test.each<[string, number, (user: User) => Promise<Hex>]>([
    [
      'for another account',
      4001,
      async (user) => redeem([await delegate(user, { to: STRANGER })], [increment()]),
    ],
    ['for everybody', 4001, async (user) => redeem([await delegate(user, { to: ANYONE })], [increment()])],
    [
      'without anything that ends it',
      4001,
      async (user) => redeem([await delegate(user, { caveats: [] })], [increment()]),
    ],
    [
      'with an enforcer that is not listed',
      4001,
      async (user) => {
        const caveats = [...once, { type: 'nonce', nonce: '0x0' } as never]
        return redeem([await delegate(user, { caveats })], [increment()])
      },
    ],
    [
      'that another key has signed',
      4211,
      async (user) => redeem([await delegate(user, { signer: generatePrivateKey() })], [increment()]),
    ],
    [
      'for a call that its conditions do not allow',
      4211,
      async (user) => redeem([await delegate(user)], [{ ...increment(), target: STRANGER }]),
    ],
    [
      'for a call that fails',
      4211,
      async (user) => redeem([await delegate(user)], [{ ...increment(), callData: countCall('fail') }]),
    ],
    [
      'in a mode that goes on after a failed call',
      -32602,
      async (user) => redeem([await delegate(user)], [increment()], TRYING),
    ],
    [
      'with a second one',
      -32602,
      async (user) => {
        const signed = await delegate(user)
        return DelegationManager.encode.redeemDelegations({
          delegations: [[signed], [signed]],
          modes: [SINGLE as never, SINGLE as never],
          executions: [[increment()] as never, [increment()] as never],
        })
      },
    ],
    [
      'with none, so that the relayer would act for itself',
      -32602,
      async () => redeem([], [{ ...increment(), target: STRANGER }]),
    ],
  ])('%s', async (_, code, make) => {
    const user = newUser()
    await become(user)
    expect(await refusal(await request(user, await make(user), { isDelegated: true }))).toMatchObject({
      code,
    })
    expect(await countOf(user)).toBe(0n)
  })

  test('of an account that runs no listed code', async () => {
    const user = newUser()
    const data = redeem([await delegate(user)], [increment()])
    expect(await refusal(await request(user, data, { isDelegated: true }))).toMatchObject({ code: 4001 })
  })

  test('while another use of it waits, and when its conditions end it', async () => {
    const user = newUser()
    await become(user)
    const signed = await delegate(user)
    await site.anvil.rpc('evm_setAutomine', [false])
    const id = await site.send(await request(user, redeem([signed], [increment()]), { isDelegated: true }))
    const again = await request(user, redeem([signed], [silently()]), { isDelegated: true })
    expect([4001, 4211]).toContain((await refusal(again))?.code)
    expect((await ended(id))?.status).toBe(200)
    await site.anvil.rpc('evm_setAutomine', [true])
    expect(await refusal(again)).toMatchObject({ code: 4211 })
    expect(await countOf(user)).toBe(1n)
  })

  test('when another API key brings it, which saw it in a block', async () => {
    const user = newUser()
    await become(user)
    const signed = await delegate(user, { caveats: often })
    const first = await site.send(await request(user, redeem([signed], [increment()]), { isDelegated: true }))
    expect((await ended(first))?.status).toBe(200)
    const again = await request(user, redeem([signed], [silently()]), { isDelegated: true })
    const { body } = await site.service.api<{ secret: string }>('POST', '/api-keys', {
      name: 'Other',
      scopes: ['plugins:call'],
    })
    expect(await sendBy(body.data.secret, again)).toMatchObject({
      code: 4001,
      message: expect.stringContaining('another API key has brought this delegation'),
    })
    expect(await sendBy(API_KEY, again)).toBeUndefined()
  })

  test('when no API key brings it', async () => {
    const user = newUser()
    await become(user)
    const content = await request(user, redeem([await delegate(user)], [increment()]), { isDelegated: true })
    expect(await sendBy(undefined, content, 'open')).toMatchObject({
      code: 4001,
      message: expect.stringContaining('with an API key'),
    })
    expect(await countOf(user)).toBe(0n)
  })
})

async function sendBy(
  key: string | undefined,
  params: object,
  mount = 'gasless',
): Promise<{ code: number; message: string } | undefined> {
  const response = await fetch(`${site.service.url}/${mount}/rpc`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'relayer_sendTransaction', params }),
  })
  return ((await response.json()) as { error?: { code: number; message: string } }).error
}

test('A delegation that its block does not use, because the manager has other code there, is told as failed', async () => {
  const user = newUser()
  await become(user)
  const content = await request(user, redeem([await delegate(user)], [increment()]), { isDelegated: true })
  const { DelegationManager: manager } = metamask
  const code = await site.anvil.rpc<Hex>('eth_getCode', [manager, 'latest'])
  await site.anvil.rpc('evm_setAutomine', [false])
  const id = await site.send(content)
  await until(
    async () => (await site.call<{ status: number }>('relayer_getStatus', { id })).result?.status,
    (status) => status === 110,
  )
  await site.anvil.rpc('anvil_setCode', [manager, '0x00'])
  await site.anvil.rpc('evm_mine')
  await site.anvil.rpc('anvil_setCode', [manager, code])
  const status = await ended(id)
  expect(status).toMatchObject({ status: 500, message: expect.stringContaining('tells of no use') })
  expect(await countOf(user)).toBe(0n)
})

test('A call of relayer_send7710Transaction names the field that is wrong', async () => {
  const ask = async (more: object) =>
    (await site.call('relayer_send7710Transaction', { chainId: String(CHAIN_ID), ...more })).error
  expect(await ask({})).toMatchObject({ code: -32602, message: expect.stringContaining('transactions:') })
  expect(await ask({ transactions: [{ permissionContext: [{}], executions: [{}] }] })).toMatchObject({
    code: -32602,
    message: expect.stringContaining('transactions[0].permissionContext[0].delegate'),
  })
  expect(await ask({ transactions: [{}], destinationUrl: 'https://shop.example' })).toMatchObject({
    code: -32602,
    message: expect.stringContaining('destinationUrl'),
  })
})
