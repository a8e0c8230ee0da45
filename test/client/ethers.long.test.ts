import {
  type Contract,
  ContractFactory,
  JsonRpcProvider,
  Transaction,
  verifyMessage,
  verifyTypedData,
} from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RelayerSigner } from '../../clients/typescript/src/ethers.ts'
import { createRelayerClient, type RelayerClient } from '../../clients/typescript/src/index.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { API_KEY, DEV_ADDRESSES, RECEIVER } from '../support/service.ts'
import { COUNTER } from './counter.ts'
import { runReadmeProgram } from './readme-program.ts'

const [ACCOUNT, ANOTHER] = DEV_ADDRESSES
const PAYMENT = { to: RECEIVER, value: 1n }
const REVERTING = '0x00000000000000000000000000000000000000ff'

let story: Scenario
let client: RelayerClient
let signer: RelayerSigner

beforeAll(async () => {
  story = await startScenario()
  client = createRelayerClient({ baseUrl: story.service.url, apiKey: API_KEY })
  signer = new RelayerSigner({ client, relayerId: 'main' })
}, 60_000)
afterAll(() => story.stop())

const newest = async () => (await client.transactions.list('main').page()).items[0]

/** Waits for it while blocks are made. */
async function settled<T>(waiting: Promise<T>): Promise<T | unknown> {
  const result = waiting.catch((error: unknown) => error)
  await story.settle()
  return result
}

describe('sendTransaction', () => {
  test('hands the transaction over without a nonce, and wait gives its receipt', async () => {
    expect(await signer.getAddress()).toBe(ACCOUNT)
    const sent = await signer.sendTransaction(PAYMENT)
    expect(sent).toMatchObject({ from: ACCOUNT, to: RECEIVER, value: 1n, nonce: 0, type: 2, chainId: 31337n })
    expect(await newest()).toMatchObject({ hash: sent.hash })
    // The signature is that of the bytes that the hash is of.
    expect(Transaction.from(sent).hash).toBe(sent.hash)
    expect(Transaction.from(sent).from).toBe(ACCOUNT)
    expect(await sent.wait(0)).toBeNull()
    expect(await settled(sent.wait())).toMatchObject({ hash: sent.hash, status: 1 })
  })

  test.each([
    ['a nonce', { nonce: 7 }, { code: -32602 }],
    ['another account', { from: ANOTHER }, { code: 'INVALID_ARGUMENT' }],
    ['another chain', { chainId: 1 }, { code: 4901 }],
  ])('refuses %s', async (_name, wrong, error) => {
    await expect(signer.sendTransaction({ ...PAYMENT, ...wrong })).rejects.toMatchObject(error)
  })

  test('reads through another provider when it is connected to one', async () => {
    const node = new JsonRpcProvider(story.anvil.url)
    const connected = signer.connect(node)
    expect(connected.provider).toBe(node)
    const sent = await connected.sendTransaction(PAYMENT)
    expect(await settled(sent.wait())).toMatchObject({ hash: sent.hash, status: 1 })
    node.destroy()
  })
})

describe('wait', () => {
  async function submitted() {
    const sent = await signer.sendTransaction(PAYMENT)
    const { id = '' } = (await newest()) ?? {}
    await client.transactions.waitFor('main', id, 'submitted')
    return { sent, id }
  }
  /** Waits until the service shows another attempt. */
  const replacedBy = (id: string, first: string) =>
    expect.poll(async () => (await client.transactions.get('main', id)).hash).not.toBe(first)

  test('follows a replacement', async () => {
    const { sent, id } = await submitted()
    const waiting = sent.wait()
    await client.transactions.replace('main', id, { to: RECEIVER, value: 2n, speed: 'fastest' })
    await replacedBy(id, sent.hash)
    const receipt = await settled(waiting)
    const { hash } = await client.transactions.get('main', id)
    expect(hash).not.toBe(sent.hash)
    expect(receipt).toMatchObject({ hash, status: 1 })
    expect(await signer.provider.getTransactionReceipt(sent.hash)).toMatchObject({ hash })
  })

  test('fails when the transaction was canceled', async () => {
    const { sent, id } = await submitted()
    const waiting = sent.wait()
    await client.transactions.cancel('main', id)
    await replacedBy(id, sent.hash)
    const error = await settled(waiting)
    const { hash } = await client.transactions.get('main', id)
    expect(error).toMatchObject({ code: 'TRANSACTION_REPLACED', cancelled: true, reason: 'cancelled', hash })
  })

  test('needs no block after the one with the transaction', async () => {
    const { sent } = await submitted()
    const before = await signer.provider.getBlockNumber()
    await story.mine()
    expect(await sent.wait(1, 5_000)).toMatchObject({ hash: sent.hash, blockNumber: before + 1 })
    await story.settle()
  })

  test('fails when it reverts, and when the time is over', async () => {
    await story.anvil.rpc('anvil_setCode', [REVERTING, '0x5f5ffd'])
    const sent = await signer.sendTransaction({ to: REVERTING, gasLimit: 100_000 })
    await expect(sent.wait(1, 1)).rejects.toMatchObject({ code: 'TIMEOUT' })
    expect(await settled(sent.wait())).toMatchObject({ code: 'CALL_EXCEPTION', receipt: { hash: sent.hash } })
  })
})

test('contracts are deployed, written and read', async () => {
  ;(signer.provider as JsonRpcProvider).pollingInterval = 50
  const factory = new ContractFactory<[], Contract>([...COUNTER.abi], COUNTER.bytecode, signer)
  const contract = await factory.deploy()
  await settled(contract.waitForDeployment())
  const set = await contract.getFunction('set')(42n)
  expect(await settled(set.wait())).toMatchObject({ hash: set.hash, status: 1 })
  expect(await contract.getFunction('get')()).toBe(42n)
})

describe('signing', () => {
  test('of messages, as text and as bytes, and of typed data', async () => {
    for (const message of ['grüezi', new TextEncoder().encode('grüezi')])
      expect(verifyMessage(message, await signer.signMessage(message))).toBe(ACCOUNT)
    const typed = [
      { chainId: 31337 },
      { Amount: [{ name: 'value', type: 'uint256' }] },
      { value: 2n ** 200n },
    ] as const
    const [domain, types, value] = [typed[0], { Amount: [...typed[1].Amount] }, typed[2]]
    expect(verifyTypedData(domain, types, value, await signer.signTypedData(domain, types, value))).toBe(
      ACCOUNT,
    )
  })

  test('of a transaction needs all that is signed', async () => {
    const content = {
      ...PAYMENT,
      nonce: 1_000,
      gasLimit: 21_000,
      gasPrice: 2_000_000_000n,
      type: 0,
      chainId: 31337,
    }
    const signed = Transaction.from(await signer.signTransaction(content))
    expect(signed).toMatchObject({ from: ACCOUNT, nonce: 1_000, value: 1n })
    await expect(signer.signTransaction({ ...content, nonce: null })).rejects.toThrow('nonce: expected')
  })
})

test('the program of the README pays one ether', async () => {
  await story.anvil.rpc('evm_setAutomine', [true])
  expect(await runReadmeProgram(story.service, 'ethers')).toMatch(/^1 0x[0-9a-f]{64}\n$/)
})
