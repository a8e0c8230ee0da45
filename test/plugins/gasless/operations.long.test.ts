import { encodeFunctionData, type Hex, parseAbi, zeroAddress } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../../support/until.ts'
import { batchBy, LONG_BYTES, sharing } from './sign.ts'
import {
  ENTRY_POINT,
  type OperationContracts,
  type OperationTerms,
  operationBy,
  operationNetwork,
  placeOperationContracts,
} from './sign-operation.ts'
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
const operation = (user = site.user(), terms: OperationTerms = {}, call = count()) =>
  operationBy(site, contracts, { user, call, terms })
const deposit = (account: Hex, value: bigint, version: '7' | '8' = '7') =>
  site.transact({
    to: contracts.entryPoints[version],
    value: `0x${value.toString(16)}`,
    data: encodeFunctionData({ abi: ENTRY_POINT, functionName: 'depositTo', args: [account] }),
  })

test('relayer_getCapabilities names the EntryPoints, and the beneficiary of what they are called with', async () => {
  const { result } = await site.call<Record<string, object>>('relayer_getCapabilities', [])
  expect(result?.[CHAIN_ID]).toMatchObject({
    entryPoints: Object.values(contracts.entryPoints),
    beneficiary: RELAYER,
  })
})

describe('data that would decode to a thousand times of what it has is refused before it ends the process', () => {
  const refused = { code: -32602, message: expect.stringContaining('encoded by its ABI') }

  test.each(['8', '6'] as const)(
    'in the list of operations, of version %s',
    async (version) => {
      const content = await operation(site.user(), { version, callData: LONG_BYTES })
      expect(await refusal({ ...content, data: sharing(content.data) })).toMatchObject(refused)
    },
    60_000,
  )

  test('in the calls of an operation', async () => {
    const abi = parseAbi([
      'struct Call { address target; uint256 value; bytes data; }',
      'function executeBatch(Call[] calls)',
    ])
    const call = { target: site.stranger, value: 0n, data: LONG_BYTES }
    const callData = sharing(encodeFunctionData({ abi, args: [[call]] }))
    expect(await refusal(await operation(site.user(), { begins: true, callData }))).toMatchObject({
      code: -32602,
      message: expect.stringContaining('not encoded by its ABI'),
    })
  }, 60_000)
})

describe('a signed operation', () => {
  test('of an account that begins to delegate is made, and the relayer pays; then one without a list', async () => {
    const user = site.user()
    expect((await ended(await site.send(await operation(user, { begins: true })))).status).toBe(200)
    expect(await site.countOf(site.stranger, user.address)).toBe(1n)
    const next = await operation(user, { nonce: 1n, initCode: '0x7702' })
    expect((await ended(await site.send(next))).status).toBe(200)
    expect(await site.countOf(site.stranger, user.address)).toBe(2n)
    expect(BigInt(await site.anvil.rpc<Hex>('eth_getBalance', [user.address, 'latest']))).toBe(0n)
  })

  test('of a proxy with a listed implementation is paid by its deposit, to the account of the relayer', async () => {
    const owner = site.user()
    const account = await contracts.createAccount(owner.address)
    await deposit(account, 10n ** 18n)
    const before = BigInt(await site.anvil.rpc<Hex>('eth_getBalance', [RELAYER, 'latest']))
    const terms = { version: '7', account, maxFeePerGas: 3_000_000_000n } as const
    const id = await site.send(await operation(owner, terms))
    const { status, receipt } = await ended(id)
    expect(status).toBe(200)
    expect(await site.countOf(site.stranger, account)).toBe(1n)
    const left = await site.read(contracts.entryPoints['7'], ENTRY_POINT, 'balanceOf', [account])
    const cost = BigInt(receipt?.gasUsed ?? 0) * BigInt(receipt?.effectiveGasPrice ?? 0)
    const after = BigInt(await site.anvil.rpc<Hex>('eth_getBalance', [RELAYER, 'latest']))
    expect(after - before).toBe(10n ** 18n - left - cost)
    // With what is signed for the bytes of the transaction, it pays for all of its gas, and for little more.
    const paidGas = (10n ** 18n - left) / 3_000_000_000n
    expect(paidGas).toBeLessThan((BigInt(receipt?.gasUsed ?? 0) * 13n) / 10n)
    expect(await statusOf(id)).toMatchObject({ status: 200 })
  })

  test('that comes ten times at once is one transaction with one id', async () => {
    const user = site.user()
    const content = await operation(user, { begins: true })
    const ids = await Promise.all(Array.from({ length: 10 }, () => site.send(content)))
    expect(new Set(ids).size).toBe(1)
    expect((await ended(ids[0] as Hex)).status).toBe(200)
    expect(await site.countOf(site.stranger, user.address)).toBe(1n)
  })
})

describe('refused before anything is sent is an operation', () => {
  const factory: Hex = `0x${'11'.repeat(20)}12345678`
  const paymaster: Hex = `0x${'22'.repeat(20)}${'00'.repeat(32)}`
  test.each<[string, number, string, OperationTerms]>([
    ['that stands twice in the list', -32602, 'exactly one operation', { times: 2 }],
    ['whose payment goes to a stranger', 4001, 'beneficiary', { beneficiary: `0x${'33'.repeat(20)}` }],
    ['that creates its account', 4001, 'initCode', { initCode: factory }],
    ['with a paymaster that is not listed', 4001, 'paymaster', { paymasterAndData: paymaster }],
    ['with half a paymaster', -32602, 'paymasterAndData', { paymasterAndData: `0x${'22'.repeat(20)}` }],
    ['with a dear validation', 4207, 'verificationGasLimit', { verificationGas: 300_001n }],
    ['with dear bytes', 4207, 'preVerificationGas', { preVerificationGas: 400_000n }],
    ['that may need more gas than is paid for', 4207, 'Sign less gas', { callGas: 900_000n }],
    ['with another nonce', 4001, 'expects 0', { nonce: 1n }],
    ['whose account cannot pay', 4211, 'AA21', { maxFeePerGas: 1n }],
    ['of an account of the relayer', 4001, 'is not called', { account: RELAYER }],
    ['with another signer', 4211, 'AA24', { account: '0x0000000000000000000000000000000000000000' }],
  ])('%s', async (_, code, message, terms) => {
    const user = site.user()
    const other = terms.account === zeroAddress ? { account: site.user().address } : {}
    if (other.account !== undefined)
      await site.anvil.rpc('anvil_setCode', [other.account, `0xef0100${contracts.delegate.slice(2)}`])
    const begins = terms.account === undefined
    const content = await operation(user, { begins, ...terms, ...other })
    expect(await refusal(content)).toMatchObject({ code, message: expect.stringContaining(message) })
  })

  test.each<['fail' | 'failWithWord']>([['fail'], ['failWithWord']])(
    'whose call fails (%s), which its EntryPoint would not tell by a revert',
    async (name) => {
      const content = await operation(site.user(), { begins: true }, count(name))
      expect(await refusal(content)).toMatchObject({ code: 4211 })
    },
  )

  test('of an account that runs no listed code, or a proxy of another kind, or is called by itself', async () => {
    const user = site.user()
    expect(await refusal(await operation(user))).toMatchObject({ code: 4001 })
    const unlisted = await operation(user, { begins: true, delegate: site.stranger })
    expect(await refusal(unlisted)).toMatchObject({ code: 4210 })
    const account = await contracts.createAccount(user.address)
    const code = await site.anvil.rpc<Hex>('eth_getCode', [account, 'latest'])
    await site.anvil.rpc('anvil_setCode', [account, `${code}00`])
    const proxy = await operation(user, { version: '7', account })
    expect(await refusal(proxy)).toMatchObject({
      code: 4001,
      message: expect.stringContaining('whose own code is not the listed one'),
    })
    const batch = await batchBy(site, 'gelato', user, [count()], { delegate: contracts.delegate })
    expect(await refusal(batch)).toMatchObject({ code: -32602 })
  })

  test('while another one of the account with its nonce, its authorization or its coins waits', async () => {
    const user = site.user()
    await site.anvil.rpc('evm_setAutomine', [false])
    await site.send(await operation(user, { begins: true }))
    const other = await operation(user, { begins: true, callGas: 140_000n })
    expect((await refusal(other))?.message).toContain('waits for its block')
    const owner = site.user()
    await site.anvil.rpc('evm_setAutomine', [true])
    const account = await contracts.createAccount(owner.address)
    await deposit(account, 500_000n * 10n ** 9n)
    await site.anvil.rpc('evm_setAutomine', [false])
    const paid = (nonce: bigint) =>
      operation(owner, { version: '7', account, maxFeePerGas: 10n ** 9n, nonce: nonce << 64n })
    await site.send(await paid(0n))
    expect(await refusal(await paid(1n))).toMatchObject({
      code: 4001,
      message: expect.stringContaining('are not included yet'),
    })
  })
})

describe('an operation that behaves in a simulation alone', () => {
  test.each<['failInBlock' | 'burnInBlock']>([['failInBlock'], ['burnInBlock']])(
    'is told as a failure after %s, costs what is signed at most, and counts',
    async (name) => {
      const user = site.user()
      for (const nonce of [0n, 1n]) {
        const content = await operation(user, { begins: nonce === 0n, nonce }, count(name))
        const { result } = await site.call('relayer_sendTransaction', content, 'strict')
        const { status, message, receipt } = await ended(result as Hex, 'strict')
        expect({ status, included: receipt?.status }).toEqual({ status: 500, included: '0x1' })
        expect(message).toContain('the call of the account reverted')
        expect(Number(receipt?.gasUsed)).toBeLessThan(450_000)
      }
      const next = await operation(user, { nonce: 2n })
      expect(await refusal(next, 'strict')).toMatchObject({ code: 4203 })
    },
  )

  test('because another account sends it first, reverts, and is told as a failure', async () => {
    const user = site.user()
    await site.anvil.rpc('anvil_setCode', [user.address, `0xef0100${contracts.delegate.slice(2)}`])
    const content = await operation(user)
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
    expect(await site.countOf(site.stranger, user.address)).toBe(1n)
  })
})
