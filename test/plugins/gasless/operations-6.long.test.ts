import { encodeFunctionData, type Hex, parseAbi } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../../support/until.ts'
import {
  ENTRY_POINT,
  type OperationContracts,
  type OperationTerms,
  operationBy,
  operationNetwork,
  placeOperationContracts,
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

// EntryPoint 0.6, whose operations have one word for each field.

/** What the owner of SimpleAccount may do without an EntryPoint. */
const WITHDRAWAL = parseAbi(['function withdrawDepositTo(address withdrawAddress, uint256 amount)'])

let site: GaslessSite
let contracts: OperationContracts

beforeAll(async () => {
  site = await startGaslessSite({
    prepare: async (known) => {
      contracts = await placeOperationContracts(known, RELAYER)
    },
    entries: (known) => {
      const network = networkOf(known, operationNetwork(contracts))
      return [
        pluginEntry('gasless', { networks: [network], ...GENEROUS }),
        pluginEntry('strict', { networks: [network], failures: { user: 2 } }),
      ]
    },
  })
}, 60_000)
afterAll(() => site.stop())
afterEach(() => site.anvil.rpc('evm_setAutomine', [true]))

interface Status {
  readonly status: number
  readonly message?: string
  readonly receipt?: { readonly status: string; readonly gasUsed: string; readonly effectiveGasPrice: string }
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
const count = (name: Parameters<typeof countCall>[0] = 'increment') => ({
  to: site.stranger,
  data: countCall(name),
})
const operation = (user: PrivateKeyAccount, terms: OperationTerms, call = count()) =>
  operationBy(site, contracts, { user, call, terms: { version: '6', ...terms } })
const deposit = (account: Hex, value: bigint) =>
  site.transact({
    to: contracts.entryPoints['6'],
    value: `0x${value.toString(16)}`,
    data: encodeFunctionData({ abi: ENTRY_POINT, functionName: 'depositTo', args: [account] }),
  })
const create = async () => {
  const user = site.user()
  return { user, account: await contracts.createAccount(user.address, '6') }
}

describe('a signed operation of EntryPoint 0.6', () => {
  test('is made, the relayer pays, and it is sent once', async () => {
    const { user, account } = await create()
    const content = await operation(user, { account })
    const ids = await Promise.all([1, 2, 3].map(() => site.send(content)))
    expect(new Set(ids).size).toBe(1)
    expect((await ended(ids[0] as Hex)).status).toBe(200)
    expect(await site.countOf(site.stranger, account)).toBe(1n)
    const next = await operation(user, { account, nonce: 1n, verificationGas: 300_000n, callGas: 200_000n })
    expect((await ended(await site.send(next))).status).toBe(200)
    expect(await site.countOf(site.stranger, account)).toBe(2n)
  })

  test('is paid by the deposit of the account, to the account of the relayer', async () => {
    const { user, account } = await create()
    await deposit(account, 10n ** 18n)
    const balance = async () => BigInt(await site.anvil.rpc<Hex>('eth_getBalance', [RELAYER, 'latest']))
    const before = await balance()
    const id = await site.send(await operation(user, { account, maxFeePerGas: 3_000_000_000n }))
    const { status, receipt } = await ended(id)
    expect(status).toBe(200)
    const left = await site.read(contracts.entryPoints['6'], ENTRY_POINT, 'balanceOf', [account])
    const cost = BigInt(receipt?.gasUsed ?? 0) * BigInt(receipt?.effectiveGasPrice ?? 0)
    expect((await balance()) - before).toBe(10n ** 18n - left - cost)
    const paidGas = (10n ** 18n - left) / 3_000_000_000n
    expect(paidGas).toBeGreaterThan(BigInt(receipt?.gasUsed ?? 0) / 2n)
    expect(paidGas).toBeLessThan((BigInt(receipt?.gasUsed ?? 0) * 13n) / 10n)
  })
})

describe('refused before anything is sent is an operation of EntryPoint 0.6', () => {
  const factory: Hex = `0x${'11'.repeat(20)}12345678`
  const paymaster: Hex = `0x${'22'.repeat(20)}`
  test.each<[string, number, string, OperationTerms]>([
    ['that stands twice in the list', -32602, 'exactly one operation', { times: 2 }],
    ['whose payment goes to a stranger', 4001, 'beneficiary', { beneficiary: `0x${'33'.repeat(20)}` }],
    ['that creates its account', 4001, 'initCode', { initCode: factory }],
    ['with the mark of 0.8', 4001, 'initCode', { initCode: '0x7702' }],
    ['with a paymaster that is not listed', 4001, 'paymaster', { paymasterAndData: paymaster }],
    ['with half a paymaster', -32602, 'paymasterAndData', { paymasterAndData: '0x2222' }],
    ['with a dear validation', 4207, 'verificationGasLimit', { verificationGas: 300_001n }],
    ['with dear bytes', 4207, 'preVerificationGas', { preVerificationGas: 400_000n }],
    // The EntryPoint keeps the gas of the validation once more for a paymaster, even if there is none.
    ['that may need more gas', 4207, 'Sign less', { verificationGas: 300_000n, callGas: 350_000n }],
    ['with another nonce', 4001, 'expects 0', { nonce: 1n }],
    ['whose account cannot pay', 4211, 'AA21', { maxFeePerGas: 1n }],
    ['of an account of the relayer', 4001, 'is not called', { account: RELAYER }],
  ])('%s', async (_, code, message, terms) => {
    const { user, account } = await create()
    const content = await operation(user, { account, ...terms })
    expect(await refusal(content)).toMatchObject({ code, message: expect.stringContaining(message) })
  })

  test('with another signer, of an account that runs no listed code, or with a call that fails', async () => {
    const { user, account } = await create()
    const stranger = await operation(site.user(), { account })
    expect(await refusal(stranger)).toMatchObject({ code: 4211, message: expect.stringContaining('AA24') })
    const { account: other } = await create()
    await site.anvil.rpc('anvil_setCode', [other, '0x00'])
    expect(await refusal(await operation(user, { account: other }))).toMatchObject({ code: 4001 })
    const failing = await operation(user, { account }, count('fail'))
    expect(await refusal(failing)).toMatchObject({ code: 4211 })
  })

  test('in the form of another EntryPoint', async () => {
    const { user, account } = await create()
    const content = await operation(user, { account })
    for (const version of ['7', '8'] as const)
      expect(await refusal({ ...content, to: contracts.entryPoints[version] })).toBeDefined()
    const later = await operation(user, { version: '7', account })
    expect(await refusal({ ...later, to: contracts.entryPoints['6'] })).toBeDefined()
  })

  test('while another one of the account with its nonce, or with its coins, waits', async () => {
    const { user, account } = await create()
    await deposit(account, 500_000n * 10n ** 9n)
    await site.anvil.rpc('evm_setAutomine', [false])
    const paid = (nonce: bigint, callGas = 150_000n) =>
      operation(user, { account, maxFeePerGas: 10n ** 9n, nonce: nonce << 64n, callGas })
    await site.send(await paid(0n))
    expect((await refusal(await paid(0n, 140_000n)))?.message).toContain('waits for its block')
    expect(await refusal(await paid(1n))).toMatchObject({
      code: 4001,
      message: expect.stringContaining('are not included yet'),
    })
  })
})

describe('an operation of EntryPoint 0.6 that behaves in a simulation alone', () => {
  test.each<['failInBlock' | 'burnInBlock']>([['failInBlock'], ['burnInBlock']])(
    'is told as a failure after %s, costs what is signed at most, and counts',
    async (name) => {
      const { user, account } = await create()
      for (const nonce of [0n, 1n]) {
        const content = await operation(user, { account, nonce }, count(name))
        const { result } = await site.call('relayer_sendTransaction', content, 'strict')
        const { status, message, receipt } = await ended(result as Hex, 'strict')
        expect({ status, included: receipt?.status }).toEqual({ status: 500, included: '0x1' })
        expect(message).toContain('the call of the account reverted')
        expect(Number(receipt?.gasUsed)).toBeLessThan(450_000)
      }
      const next = await operation(user, { account, nonce: 2n })
      expect(await refusal(next, 'strict')).toMatchObject({ code: 4203 })
    },
  )

  test('because its deposit is taken back before the block, reverts, and counts', async () => {
    const { user, account } = await create()
    await deposit(account, 10n ** 16n)
    const content = await operation(user, { account, maxFeePerGas: 3_000_000_000n })
    await site.anvil.rpc('evm_setAutomine', [false])
    const id = (await site.call('relayer_sendTransaction', content, 'strict')).result as Hex
    await until(
      () => statusOf(id, 'strict'),
      ({ status }) => status === 110,
    )
    const data = encodeFunctionData({
      abi: WITHDRAWAL,
      functionName: 'withdrawDepositTo',
      args: [user.address, 10n ** 16n],
    })
    const call = { from: user.address, to: account, data, gas: '0x30d40', gasPrice: '0x2540be40000' }
    await site.anvil.rpc('anvil_setBalance', [user.address, '0xde0b6b3a7640000'])
    await site.anvil.rpc('anvil_impersonateAccount', [user.address])
    await site.anvil.rpc('eth_sendTransaction', [call])
    const { status, receipt } = await ended(id, 'strict')
    expect({ status, included: receipt?.status }).toEqual({ status: 500, included: '0x0' })
    expect(await site.countOf(site.stranger, account)).toBe(0n)
  })

  test('because another one sends it first, reverts, and is told as a failure', async () => {
    const { user, account } = await create()
    const content = await operation(user, { account })
    await site.anvil.rpc('evm_setAutomine', [false])
    const id = await site.send(content)
    await until(
      () => statusOf(id),
      ({ status }) => status === 110,
    )
    const { to, data } = content
    const call = { from: '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720', to, data }
    await site.anvil.rpc('eth_sendTransaction', [{ ...call, gas: '0x4c4b40', gasPrice: '0x2540be40000' }])
    const { status, receipt } = await ended(id)
    expect({ status, included: receipt?.status }).toEqual({ status: 500, included: '0x0' })
    expect(await site.countOf(site.stranger, account)).toBe(1n)
  })
})
