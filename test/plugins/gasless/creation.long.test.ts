import { concatHex, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { entryPoint06Address } from 'viem/account-abstraction'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../../support/until.ts'
import { authorizationOf, type Call } from './sign.ts'
import {
  ENTRY_POINT,
  type OperationContracts,
  operationBy,
  placeOperationContracts,
  type Version,
} from './sign-operation.ts'
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
  coinbaseAccount,
  coinbaseOperation,
  placeWallets,
  type Wallets,
  type WalletTerms,
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
      const { implementations, entry_points, ...others } = walletNetwork(wallets, contracts)
      const proxied = Object.values(contracts.proxied)
      const network = networkOf(known, {
        ...others,
        entry_points: [...entry_points, { address: contracts.proxied['8'].entryPoint }],
        factories: [
          { address: wallets.coinbase.factory },
          ...proxied.map(({ factory }) => ({ address: factory })),
        ],
        implementations: [
          ...implementations,
          ...proxied.map(({ implementation: { address, proxyCodeHash } }) => ({
            address,
            proxy_code_hash: proxyCodeHash,
          })),
        ],
      })
      const unlisted = networkOf(known, walletNetwork(wallets, contracts))
      const networks = [network]
      return [
        pluginEntry('gasless', { networks, max_creations: 1000, ...GENEROUS }),
        pluginEntry('few', { networks, max_creations: 1 }),
        pluginEntry('open', { networks }, { open_mount: true }),
        pluginEntry('off', { networks: [unlisted] }),
      ]
    },
  })
}, 60_000)
afterAll(() => site.stop())
afterEach(() => site.anvil.rpc('evm_setAutomine', [true]))

interface Status {
  readonly status: number
  readonly message?: string
  readonly receipt?: { readonly status: string; readonly gasUsed: string }
}

const statusOf = async (id: Hex, mount?: string) =>
  (await site.call<Status>('relayer_getStatus', { id }, mount)).result as Status
const ended = (id: Hex, mount?: string) =>
  until(
    async () => {
      await site.anvil.rpc('evm_mine')
      return statusOf(id, mount)
    },
    ({ status }) => status !== 100 && status !== 110,
  )
const refusal = async (content: object, mount?: string) =>
  (await site.call('relayer_sendTransaction', content, mount)).error
const count = (name: Parameters<typeof countCall>[0] = 'increment'): Call => ({
  to: site.stranger,
  data: countCall(name),
})
const codeAt = (address: Hex) => site.anvil.rpc<Hex>('eth_getCode', [address, 'latest'])

const FACTORY = parseAbi([
  'function createAccount(address owner, uint256 salt) returns (address)',
  'function getAddress(address owner, uint256 salt) view returns (address)',
  'function createAccount(bytes[] owners, uint256 nonce) payable returns (address)',
])

const UPGRADE = parseAbi(['function upgradeToAndCall(address newImplementation, bytes data) payable'])

/** viem's account of Coinbase, which does not exist yet. */
const created = async (terms: WalletTerms = {}, call = count()) => {
  const account = await coinbaseAccount(site, site.user())
  const content = await coinbaseOperation(account, [call], { verificationGas: 300_000n, ...terms })
  return { account, content }
}

describe('an account that its first operation creates', () => {
  test('of Coinbase by viem runs listed code, and its next operation needs no creation', async () => {
    const { account, content } = await created()
    expect(await codeAt(account.address)).toBe('0x')
    const ids = await Promise.all([1, 2, 3].map(() => site.send(content)))
    expect(new Set(ids).size).toBe(1)
    expect((await ended(ids[0] as Hex)).status).toBe(200)
    expect(await site.countOf(site.stranger, account.address)).toBe(1n)
    expect((await ended(await site.send(await coinbaseOperation(account, [count()])))).status).toBe(200)
    expect(await site.countOf(site.stranger, account.address)).toBe(2n)
  })

  test.each<[Version]>([['6'], ['7'], ['8']])('of SimpleAccount 0.%s', async (version) => {
    const owner = site.user()
    const { factory, entryPoint } = contracts.proxied[version]
    const account = await site.read<Hex>(factory, FACTORY, 'getAddress', [owner.address, 0n])
    const data = encodeFunctionData({
      abi: FACTORY,
      functionName: 'createAccount',
      args: [owner.address, 0n],
    })
    const initCode = concatHex([factory, data])
    const terms = { version, entryPoint, account, initCode, verificationGas: 320_000n }
    const signed = (call: Call) => operationBy(site, contracts, { user: owner, call, terms })
    expect(await refusal(await signed(count('fail')))).toMatchObject({
      code: 4211,
      message: expect.stringContaining('it fails'),
    })
    expect((await ended(await site.send(await signed(count())))).status).toBe(200)
    expect(await site.countOf(site.stranger, account)).toBe(1n)
  })

  test('is told by relayer_getCapabilities where a factory is listed', async () => {
    const { result } = await site.call<Record<string, object>>('relayer_getCapabilities', [])
    expect(Object.values(result ?? {})[0]).toMatchObject({
      factories: expect.arrayContaining([wallets.coinbase.factory]),
    })
  })
})

describe('no account is created', () => {
  test('by a factory that is not listed, which is so if the operator lists none', async () => {
    const { content } = await created()
    expect(await refusal(content, 'off')).toMatchObject({
      code: 4001,
      message: expect.stringContaining('no listed factory'),
    })
  })

  test('for a caller without an API key, of whom there are as many as he likes', async () => {
    const { content } = await created()
    const response = await fetch(`${site.service.url}/open/rpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'relayer_sendTransaction', params: content }),
    })
    expect(await response.json()).toMatchObject({
      error: { code: 4001, message: expect.stringContaining('without an API key') },
    })
  })

  test('for an API key that has had its number of them today', async () => {
    const first = await created()
    expect(await refusal(first.content, 'few')).toBeUndefined()
    // It is the same request, which counts once.
    expect(await refusal(first.content, 'few')).toBeUndefined()
    const second = await created()
    expect(await refusal(second.content, 'few')).toMatchObject({
      code: 4203,
      message: expect.stringContaining('At most 1 accounts'),
    })
    expect(await codeAt(second.account.address)).toBe('0x')
  })

  test('at another address than that of its sender', async () => {
    const other = await coinbaseAccount(site, site.user())
    const { factoryData } = await other.getFactoryArgs()
    const { content } = await created({ ...(factoryData && { factoryData }) })
    expect(await refusal(content)).toMatchObject({ code: 4211, message: expect.stringContaining('AA14') })
  })

  test('by a factory that does nothing, or reverts, or costs more than is paid for', async () => {
    const { content: nothing } = await created({ factoryData: '0x' })
    expect(await refusal(nothing)).toMatchObject({ code: 4211 })
    const { content: dear } = await created({ verificationGas: 700_001n })
    expect(await refusal(dear)).toMatchObject({
      code: 4207,
      message: expect.stringContaining('700000 are paid for'),
    })
    const { content: little } = await created({ verificationGas: 60_000n })
    expect(await refusal(little)).toMatchObject({ code: 4211 })
  })

  test('for a call that fails, which the EntryPoint would not tell', async () => {
    for (const name of ['fail', 'failWithWord'] as const)
      expect(await refusal((await created({}, count(name))).content)).toMatchObject({ code: 4211 })
  })

  test('that exists, or that delegates', async () => {
    const { account, content } = await created()
    const owner = site.user()
    const delegating = { ...content, authorizationList: [await authorizationOf(owner, contracts.delegate)] }
    expect(await refusal(delegating)).toMatchObject({ code: 4001 })
    const { factoryData = '0x' } = await account.getFactoryArgs()
    await site.transact({ to: wallets.coinbase.factory, data: factoryData })
    expect(await refusal(content)).toMatchObject({ code: 4001, message: expect.stringContaining('exists') })
  })

  test('that cannot pay what it has signed to pay', async () => {
    const { account, content } = await created({ maxFeePerGas: 10n ** 9n })
    expect(await refusal(content)).toMatchObject({ code: 4211, message: expect.stringContaining('AA21') })
    const data = encodeFunctionData({ abi: ENTRY_POINT, functionName: 'depositTo', args: [account.address] })
    await site.transact({ to: entryPoint06Address, value: '0xde0b6b3a7640000', data })
    expect((await ended(await site.send(content))).status).toBe(200)
  })
})

describe('an account that another one creates or changes before the block', () => {
  const waiting = async (call = count()) => {
    const { account, content } = await created({}, call)
    await site.anvil.rpc('evm_setAutomine', [false])
    const id = await site.send(content)
    await until(
      () => statusOf(id),
      ({ status }) => status === 110,
    )
    return { account, id }
  }

  test('makes the transaction revert, which is told as a failure and costs little', async () => {
    const { account, id } = await waiting()
    const { factoryData = '0x' } = await account.getFactoryArgs()
    const call = { from: '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720', data: factoryData, gas: '0x7a120' }
    await site.anvil.rpc('eth_sendTransaction', [
      { ...call, to: wallets.coinbase.factory, gasPrice: '0x2540be40000' },
    ])
    const { status, receipt } = await ended(id)
    expect({ status, included: receipt?.status }).toEqual({ status: 500, included: '0x0' })
    expect(Number(receipt?.gasUsed)).toBeLessThan(150_000)
  })

  test('is created, and its call fails in the block: that is a failure at no more gas than is signed', async () => {
    const { id } = await waiting(count('burnInBlock'))
    const { status, message, receipt } = await ended(id)
    expect({ status, included: receipt?.status }).toEqual({ status: 500, included: '0x1' })
    expect(message).toContain('the call of the account reverted')
    expect(Number(receipt?.gasUsed)).toBeLessThan(700_000)
  })

  test('is another one by new code of the factory, so that the transaction reverts', async () => {
    const { account, id } = await waiting()
    const factory = await codeAt(wallets.coinbase.factory)
    const other = factory.replaceAll(wallets.coinbase.implementation.slice(2), OTHER.slice(2))
    expect(other).not.toBe(factory)
    await site.anvil.rpc('anvil_setCode', [wallets.coinbase.factory, other])
    const { status, receipt } = await ended(id)
    await site.anvil.rpc('anvil_setCode', [wallets.coinbase.factory, factory])
    expect({ status, included: receipt?.status }).toEqual({ status: 500, included: '0x0' })
    expect(await codeAt(account.address)).toBe('0x')
  })

  test('ends to run listed code in its own call: nothing is proved', async () => {
    const account = await coinbaseAccount(site, site.user())
    const data = encodeFunctionData({ abi: UPGRADE, functionName: 'upgradeToAndCall', args: [OTHER, '0x'] })
    const call = { to: account.address, data }
    const id = await site.send(await coinbaseOperation(account, [call], { verificationGas: 300_000n }))
    const status = await until(
      async () => {
        await site.anvil.rpc('evm_mine')
        return statusOf(id)
      },
      ({ message }) => message !== undefined,
    )
    expect(status).toMatchObject({ status: 110, message: expect.stringContaining(OTHER) })
  })

  const OTHER: Hex = `0x${'78'.repeat(20)}`
})
