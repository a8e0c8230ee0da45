import {
  createWalletClient,
  type Hex,
  parseAbi,
  publicActions,
  type ReplacementReturnType,
  verifyMessage,
  verifyTypedData,
} from 'viem'
import { foundry } from 'viem/chains'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRelayerClient, type RelayerClient } from '../../clients/typescript/src/index.ts'
import { relayerAccount, relayerActions, relayerTransport } from '../../clients/typescript/src/viem.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { API_KEY, DEV_ADDRESSES, RECEIVER } from '../support/service.ts'
import { COUNTER } from './counter.ts'
import { runReadmeProgram } from './readme-program.ts'

const ABI = parseAbi(COUNTER.abi)
const PAYMENT = { to: RECEIVER, value: 1n } as const
/** Often enough that no test waits for it. */
const POLL = { pollingInterval: 50 }

let story: Scenario
let client: RelayerClient
let wallet: Awaited<ReturnType<typeof startWallet>>

beforeAll(async () => {
  story = await startScenario()
  client = createRelayerClient({ baseUrl: story.service.url, apiKey: API_KEY })
  wallet = await startWallet()
}, 60_000)
afterAll(() => story.stop())

async function startWallet() {
  const relayer = { client, relayerId: 'main' }
  const account = await relayerAccount(relayer)
  return createWalletClient({ account, chain: foundry, transport: relayerTransport(relayer) })
    .extend(publicActions)
    .extend(relayerActions(relayer))
}

const newest = async () => (await client.transactions.list('main').page()).items[0]

/** Waits for the receipt while blocks are made. */
async function receiptOf(hash: Hex) {
  const receipt = wallet.waitForTransactionReceipt({ hash, ...POLL })
  await story.settle()
  return receipt
}

test('the account is that of the relayer, and an unknown relayer has none', async () => {
  expect(wallet.account).toEqual({ address: DEV_ADDRESSES[0], type: 'json-rpc' })
  expect(await wallet.getAddresses()).toEqual([DEV_ADDRESSES[0]])
  await expect(relayerAccount({ client, relayerId: 'nobody' })).rejects.toMatchObject({ code: 4100 })
})

test('sendTransaction hands the transaction over without a nonce', async () => {
  const hash = await wallet.sendTransaction(PAYMENT)
  expect(await newest()).toMatchObject({ hash, to: RECEIVER, value: '1' })
  expect(await receiptOf(hash)).toMatchObject({ transactionHash: hash, status: 'success' })
  // The error is that of the provider, and not that of a second method which viem tries.
  await expect(wallet.sendTransaction({ ...PAYMENT, nonce: 7 })).rejects.toThrow(
    'nonce: none is expected, because the relayer numbers its transactions',
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
  expect(await verifyMessage({ address, message, signature: await wallet.signMessage({ message }) })).toBe(
    true,
  )
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

describe('waitForTransactionReceipt', () => {
  /** Sends, and begins to wait; then `act` replaces the transaction. */
  async function waitWhile(act: (id: string) => Promise<unknown>) {
    const hash = await wallet.sendTransaction(PAYMENT)
    const { id = '' } = (await newest()) ?? {}
    await client.transactions.waitFor('main', id, 'submitted')
    const seen: ReplacementReturnType[] = []
    const wait = wallet.waitForTransactionReceipt({
      hash,
      ...POLL,
      onReplaced: (replaced) => seen.push(replaced),
    })
    await act(id)
    await expect.poll(async () => (await client.transactions.get('main', id)).hash).not.toBe(hash)
    await story.settle()
    return { hash, seen, receipt: await wait, minedHash: (await client.transactions.get('main', id)).hash }
  }

  test.each([
    ['replaced', 2n, '2'],
    ['repriced', 1n, '1'],
  ])('follows a transaction that is %s while it waits', async (reason, value) => {
    const { hash, receipt, minedHash, seen } = await waitWhile((id) =>
      client.transactions.replace('main', id, { to: RECEIVER, value, speed: 'fastest' }),
    )
    expect(receipt).toMatchObject({ transactionHash: minedHash, status: 'success' })
    expect(seen).toMatchObject([
      {
        reason,
        replacedTransaction: { hash, to: RECEIVER, value: 1n, blockNumber: null },
        transaction: { hash: minedHash, value },
        transactionReceipt: receipt,
      },
    ])
  })

  test('tells that a transaction was canceled', async () => {
    const { receipt, minedHash, seen } = await waitWhile((id) => client.transactions.cancel('main', id))
    expect(receipt.transactionHash).toBe(minedHash)
    expect(seen).toMatchObject([{ reason: 'cancelled', transaction: { value: 0n } }])
  })
})

test('the program of the README pays one ether', async () => {
  await story.anvil.rpc('evm_setAutomine', [true])
  expect(await runReadmeProgram(story.service, 'viem')).toMatch(/^success 0x[0-9a-f]{64}\n$/)
})
