import { type Hex, parseAbi, verifyMessage, verifyTypedData } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { COUNTER } from '../../client/counter.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { DEV_ADDRESSES, RECEIVER } from '../../support/service.ts'
import { walletOf } from './wallet-site.ts'

const ABI = parseAbi(COUNTER.abi)
const PAYMENT = { to: RECEIVER, value: 1n } as const
/** Often enough that no test waits for it. */
const POLL = { pollingInterval: 50 }

let story: Scenario
let wallet: ReturnType<typeof walletOf>

beforeAll(async () => {
  story = await startScenario({ policies: { wallet_rpc: true } })
  wallet = walletOf(story.service)
}, 60_000)
afterAll(() => story.stop())

/** Waits for the receipt while blocks are made. */
async function receiptOf(hash: Hex) {
  const receipt = wallet.waitForTransactionReceipt({ hash, ...POLL })
  await story.settle()
  return receipt
}

test('viem sends with the url and the key alone, and waits for the receipt', async () => {
  expect(await wallet.getAddresses()).toEqual([DEV_ADDRESSES[0]])
  const hash = await wallet.sendTransaction(PAYMENT)
  expect(await receiptOf(hash)).toMatchObject({ transactionHash: hash, status: 'success' })
  await expect(wallet.sendTransaction({ ...PAYMENT, nonce: 7 })).rejects.toThrow(
    'is the next one of relayer main, not 7',
  )
})

test('deployContract, writeContract and readContract work with a contract', async () => {
  const deployed = await receiptOf(await wallet.deployContract({ abi: ABI, bytecode: COUNTER.bytecode }))
  const address = deployed.contractAddress ?? '0x'
  const written = await receiptOf(
    await wallet.writeContract({ address, abi: ABI, functionName: 'set', args: [42n] }),
  )
  expect(written.status).toBe('success')
  expect(await wallet.readContract({ address, abi: ABI, functionName: 'get' })).toBe(42n)
})

test('messages and typed data are signed', async () => {
  const { address } = wallet.account
  const message = 'hello'
  const signature = await wallet.signMessage({ message })
  expect(await verifyMessage({ address, message, signature })).toBe(true)
  const typed = {
    domain: { name: 'Test', chainId: 31337 },
    types: { Amount: [{ name: 'value', type: 'uint256' }] },
    primaryType: 'Amount',
    message: { value: 2n ** 200n },
  } as const
  expect(await verifyTypedData({ ...typed, address, signature: await wallet.signTypedData(typed) })).toBe(
    true,
  )
})

test('sendCalls and waitForCallsStatus are EIP-5792', async () => {
  const { id } = await wallet.sendCalls({ calls: [PAYMENT, { to: RECEIVER, value: 2n }] })
  const waiting = wallet.waitForCallsStatus({ id, ...POLL })
  await story.settle()
  expect(await waiting).toMatchObject({ status: 'success', atomic: false, receipts: [{}, {}] })
  await expect(wallet.sendCalls({ calls: [PAYMENT], forceAtomic: true })).rejects.toThrow('atomicRequired')
  expect(await wallet.getCapabilities({ chainId: 31337 })).toEqual({ atomic: { status: 'unsupported' } })
})

test('the receipt of a replaced transaction is that of what was included', async () => {
  const hash = await wallet.sendTransaction(PAYMENT)
  const { body } = await story.service.api<{ id: string }[]>('GET', `/transactions?hash=${hash}`)
  const id = body.data[0]?.id ?? ''
  await story.reach(id, 'submitted')
  const path = `/relayers/main/transactions/${id}`
  const { data: replaced } = (
    await story.service.api('PUT', path, { to: RECEIVER, value: '3', speed: 'fast' })
  ).body
  await story.settle()
  const included = (await story.get(id)).hash
  expect(included).not.toBe(hash)
  expect(replaced.id).toBe(id)
  expect(await wallet.getTransactionReceipt({ hash })).toMatchObject({ transactionHash: included })
  expect(await wallet.getTransaction({ hash })).toMatchObject({ hash: included, value: 3n })
})
