import {
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  encodePacked,
  type Hex,
  pad,
  parseAbi,
  parseAbiParameters,
} from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../../support/until.ts'
import { authorizationOf, type Call } from './sign.ts'
import { type OperationContracts, placeOperationContracts } from './sign-operation.ts'
import {
  countCall,
  type GaslessSite,
  GENEROUS,
  networkOf,
  pluginEntry,
  RELAYER,
  startGaslessSite,
} from './site.ts'
import {
  accountCall,
  coinbaseAccount,
  coinbaseOperation,
  modularOperation,
  placeWallets,
  simpleOperation,
  type Wallets,
  walletNetwork,
} from './wallets.ts'

let site: GaslessSite
let contracts: OperationContracts
let wallets: Wallets

beforeAll(async () => {
  site = await startGaslessSite({
    prepare: async (known) => {
      contracts = await placeOperationContracts(known, RELAYER)
      wallets = await placeWallets(known, contracts)
    },
    entries: (known) => {
      const network = networkOf(known, walletNetwork(wallets, contracts))
      return [pluginEntry('gasless', { networks: [network], ...GENEROUS })]
    },
  })
}, 60_000)
afterAll(() => site.stop())
afterEach(() => site.anvil.rpc('evm_setAutomine', [true]))

interface Status {
  readonly status: number
  readonly message?: string
}

const statusOf = async (id: Hex) => (await site.call<Status>('relayer_getStatus', { id })).result as Status
const ended = (id: Hex) =>
  until(
    async () => {
      await site.anvil.rpc('evm_mine')
      return statusOf(id)
    },
    ({ status }) => status !== 100 && status !== 110,
  )
const made = async (content: object) => (await ended(await site.send(content))).status
const refusal = async (content: object) => (await site.call('relayer_sendTransaction', content)).error
const count = (name: Parameters<typeof countCall>[0] = 'increment'): Call => ({
  to: site.stranger,
  data: countCall(name),
})
const listed = (calls: readonly Call[]) =>
  calls.map(({ to, value = 0n, data }) => ({ target: to, value, data }))
const delegateTo = (account: Hex, delegate: Hex) =>
  site.anvil.rpc('anvil_setCode', [account, `0xef0100${delegate.slice(2)}`])

const COINBASE = parseAbi([
  'function createAccount(bytes[] owners, uint256 nonce) payable returns (address)',
  'function initialize(bytes[] owners) payable',
])

describe('the account of Coinbase that viem signs for', () => {
  const created = async () => {
    const owner = site.user()
    const account = await coinbaseAccount(site, owner)
    const args = [[pad(owner.address)], 0n] as const
    const data = encodeFunctionData({ abi: COINBASE, functionName: 'createAccount', args })
    await site.transact({ to: wallets.coinbase.factory, data })
    return account
  }

  test('makes one call, and several', async () => {
    const account = await created()
    expect(await made(await coinbaseOperation(account, [count()]))).toBe(200)
    expect(await made(await coinbaseOperation(account, [count(), count()]))).toBe(200)
    expect(await site.countOf(site.stranger, account.address)).toBe(3n)
  })

  test('makes none of which one fails, and signs nothing that counts on every chain', async () => {
    const account = await created()
    expect(await refusal(await coinbaseOperation(account, [count(), count('fail')]))).toMatchObject({
      code: 4211,
    })
    const everywhere = accountCall('executeWithoutChainIdValidation', [['0x12345678']])
    const content = await coinbaseOperation(account, [], { callData: everywhere, nonce: 8453n << 64n })
    expect(await refusal(content)).toMatchObject({
      code: 4001,
      message: expect.stringContaining(
        `${everywhere.slice(0, 10)} is no function of which the calls are known`,
      ),
    })
  })

  test('that delegates to a proxy runs a listed implementation behind it, before and in the block', async () => {
    const owner = site.user()
    const { delegate, implementation } = wallets.coinbase
    const account = await coinbaseAccount(site, owner, owner.address)
    const runs = (address: Hex) => site.anvil.rpc('anvil_setStorageAt', [owner.address, SLOT, pad(address)])
    const first = async () => ({
      ...(await coinbaseOperation(account, [count()])),
      authorizationList: [await authorizationOf(owner, delegate)],
    })
    await delegateTo(owner.address, delegate)
    await runs(implementation)
    const data = encodeFunctionData({
      abi: COINBASE,
      functionName: 'initialize',
      args: [[pad(owner.address)]],
    })
    await site.transact({ to: owner.address, data })
    expect(await made(await coinbaseOperation(account, [count()]))).toBe(200)
    for (const address of [site.stranger, '0x'] as const) {
      await runs(address)
      for (const content of [await coinbaseOperation(account, [count()]), await first()])
        expect(await refusal(content)).toMatchObject({
          code: 4001,
          message: expect.stringContaining(`behind the delegate ${delegate}`),
        })
    }
    await runs(implementation)
    await site.anvil.rpc('evm_setAutomine', [false])
    const id = await site.send(await coinbaseOperation(account, [count()]))
    await until(
      () => statusOf(id),
      ({ status }) => status === 110,
    )
    // A proxy of the same code that runs the same behaves alike, and is not listed.
    const other = await site.anvil.rpc<Hex>('eth_getCode', [implementation, 'latest'])
    await site.anvil.rpc('anvil_setCode', [UNLISTED, other])
    await runs(UNLISTED)
    const status = await until(
      async () => {
        await site.anvil.rpc('evm_mine')
        return statusOf(id)
      },
      ({ message }) => message !== undefined,
    )
    expect(status).toMatchObject({ status: 110, message: expect.stringContaining(UNLISTED) })
  })

  const SLOT = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
  const UNLISTED: Hex = `0x${'77'.repeat(20)}`
})

test('the account of EntryPoint 0.8 that viem signs for begins to delegate, and makes one call and several', async () => {
  const owner = site.user()
  const implementation = contracts.delegate
  expect(await made(await simpleOperation(site, owner, { calls: [count()], implementation }))).toBe(200)
  expect(await made(await simpleOperation(site, owner, { calls: [count(), count()], implementation }))).toBe(
    200,
  )
  expect(await site.countOf(site.stranger, owner.address)).toBe(3n)
})

describe('an account by the interface of Alchemy', () => {
  const signed = async (callData: Hex, user = site.user(), sequence = 0n) => {
    await delegateTo(user.address, wallets.alchemy)
    const entryPoint = contracts.entryPoints['7']
    return modularOperation(site, { user, entryPoint, wallet: 'alchemy', callData, sequence })
  }
  const one = () => accountCall('execute', [site.stranger, 0n, countCall('increment')])

  test('makes one call, several, and those for which it gets the whole operation', async () => {
    const user = site.user()
    const several = accountCall('executeBatch', [listed([count(), count()])])
    const whole = concatHex(['0x8dd7712f', several])
    for (const [index, callData] of [one(), several, whole].entries())
      expect(await made(await signed(callData, user, BigInt(index)))).toBe(200)
    expect(await site.countOf(site.stranger, user.address)).toBe(5n)
  })

  test('makes no call that fails, and none that is not understood', async () => {
    const failing = accountCall('executeBatch', [listed([count(), count('fail')])])
    for (const callData of [failing, concatHex(['0x8dd7712f', failing])])
      expect(await refusal(await signed(callData))).toMatchObject({ code: 4211 })
    const creating = accountCall('performCreate', [0n, '0x00'])
    for (const callData of [creating, concatHex(['0x8dd7712f', creating])])
      expect(await refusal(await signed(callData))).toMatchObject({
        code: 4001,
        message: expect.stringContaining(creating.slice(0, 10)),
      })
    for (const callData of [concatHex([one(), pad('0x')]), one().slice(0, 138) as Hex])
      expect(await refusal(await signed(callData))).toMatchObject({ code: -32602 })
    const empty = accountCall('executeBatch', [[]])
    expect(await refusal(await signed(empty))).toMatchObject({ code: -32602 })
  })
})

describe('an account by the interface of Nexus', () => {
  const mode = (first: Hex) => pad(first, { dir: 'right', size: 32 })
  const one = (call: Call) =>
    encodePacked(['address', 'uint256', 'bytes'], [call.to, call.value ?? 0n, call.data])
  const several = (calls: readonly Call[]) =>
    encodeAbiParameters(
      parseAbiParameters(['Call[] calls', 'struct Call { address target; uint256 value; bytes data; }']),
      [listed(calls)],
    )
  const signed = async (callData: Hex, user = site.user(), sequence = 0n) => {
    await delegateTo(user.address, wallets.nexus)
    const entryPoint = contracts.entryPoints['7']
    return modularOperation(site, { user, entryPoint, wallet: 'nexus', callData, sequence })
  }

  test('makes one call, and several', async () => {
    const user = site.user()
    const first = accountCall('execute', [mode('0x00'), one(count())])
    expect(await made(await signed(first, user))).toBe(200)
    const next = accountCall('execute', [mode('0x01'), several([count(), count()])])
    expect(await made(await signed(next, user, 1n))).toBe(200)
    expect(await site.countOf(site.stranger, user.address)).toBe(3n)
  })

  test.each<[string, Hex, number]>([
    ['that carry on after a failed one', '0x0101', 4001],
    ['of other code as the account', '0xff', 4001],
    ['with data for the account', '0x01000000000078210001', 4001],
    ['that fail', '0x01', 4211],
  ])('makes no calls %s', async (_, first, code) => {
    const callData = accountCall('execute', [mode(first), several([count(), count('fail')])])
    const error = await refusal(await signed(callData))
    expect(error).toMatchObject({ code })
    if (code === 4001) expect(error?.message).toContain(`the mode ${mode(first)}`)
  })

  test('makes none that is not understood', async () => {
    const installing = accountCall('installModule', [1n, site.stranger, '0x'])
    expect(await refusal(await signed(installing))).toMatchObject({
      code: 4001,
      message: expect.stringContaining(installing.slice(0, 10)),
    })
    for (const data of ['0x', '0x1234', one(count()).slice(0, 90)] as const)
      expect(await refusal(await signed(accountCall('execute', [mode('0x00'), data])))).toMatchObject({
        code: -32602,
      })
  })
})
