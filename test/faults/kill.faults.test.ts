import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { startProcess } from '../support/process.ts'
import { callService, DEV_ADDRESSES, type Transaction } from '../support/service.ts'
import { until } from '../support/until.ts'

let anvil: Anvil
let folder: string

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--no-mining'] })
  folder = await mkdtemp(join(tmpdir(), 'relayer-kill-'))
})
afterAll(async () => {
  await anvil.stop()
  await rm(folder, { recursive: true })
})

/** Receivers that no one else pays, so that their balances count executions. */
const receiver = (index: number) => `0x${(0x1000_0000 + index).toString(16).padStart(40, '0')}`

describe('kill -9 while transactions are on their way', () => {
  test('what was accepted is executed exactly once, nonces have no gap, and the records are true', async () => {
    const accepted = new Map<string, number>()
    let index = 0
    // Killed at different distances from the last answer, so that each round dies in another step of the path.
    for (const delayMs of [0, 4, 9, 17, 30]) {
      const service = await startProcess({ rpcUrl: anvil.url, folder })
      const send = () => {
        const own = index++
        const body = { to: receiver(own), value: 1 }
        return callService<Transaction>(service.url, {
          method: 'POST',
          path: '/relayers/main/transactions',
          body,
        })
          .then((answer) => {
            if (answer.status === 200) accepted.set(answer.body.data.id, own)
          })
          .catch(() => undefined) // Killed before it answered: accepted or not, no one was told.
      }
      await send()
      const rest = Promise.all(Array.from({ length: 4 }, send))
      await new Promise((resolve) => setTimeout(resolve, delayMs))
      await service.kill()
      await rest
    }
    const service = await startProcess({ rpcUrl: anvil.url, folder })
    const all = await until(
      async () => {
        await anvil.rpc('evm_mine')
        const path = '/relayers/main/transactions?per_page=100'
        return (await callService<Transaction[]>(service.url, { method: 'GET', path })).body.data
      },
      (transactions) => transactions.every(({ status }) => status === 'confirmed'),
    )
    expect([...accepted.keys()].filter((id) => !all.some((transaction) => transaction.id === id))).toEqual([])
    const used = BigInt(await anvil.rpc<string>('eth_getTransactionCount', [DEV_ADDRESSES[0], 'latest']))
    expect(used).toBe(BigInt(all.length))
    expect(all.map(({ nonce }) => Number(nonce)).sort((a, b) => a - b)).toEqual(all.map((_, nonce) => nonce))
    for (const transaction of all) {
      expect(BigInt(await anvil.rpc<string>('eth_getBalance', [transaction.to, 'latest']))).toBe(1n)
      expect(await anvil.rpc('eth_getTransactionReceipt', [transaction.hash])).toMatchObject({
        status: '0x1',
      })
    }
    expect(await service.terminate()).toBe(0)
  }, 90_000)

  test('a batch is stored as a whole or not at all, and repeating it executes each item once', async () => {
    const owner = await mkdtemp(join(tmpdir(), 'relayer-kill-batch-'))
    const chain = await startAnvil({ args: ['--no-mining'] })
    const start = () => startProcess({ rpcUrl: chain.url, folder: owner })
    const list = async ({ url }: { readonly url: string }) => {
      const path = '/relayers/main/transactions?per_page=100'
      return (await callService<Transaction[]>(url, { method: 'GET', path })).body.data
    }
    const batches = [0, 3, 6, 10, 20].map((delayMs, round) => ({
      delayMs,
      transactions: Array.from({ length: 5 }, (_, index) => ({
        to: receiver(1_000 + round * 5 + index),
        value: 1,
        gas_limit: 21_000,
        idempotency_key: `batch-${round}-${index}`,
      })),
    }))
    const post = (service: { readonly url: string }, transactions: readonly object[]) =>
      callService<Transaction[]>(service.url, {
        method: 'POST',
        path: '/relayers/main/transactions/batch',
        body: { transactions },
      })
    const told: string[] = []
    for (const { delayMs, transactions } of batches) {
      const service = await start()
      const answer = post(service, transactions)
        .then(({ body }) => told.push(...body.data.map(({ id }) => id)))
        .catch(() => undefined) // Killed before it answered: accepted or not, no one was told.
      await new Promise((resolve) => setTimeout(resolve, delayMs))
      await service.kill()
      await answer
    }
    const service = await start()
    const stored = await list(service)
    expect(stored.length % 5).toBe(0)
    expect(stored.map(({ id }) => id)).toEqual(expect.arrayContaining(told))
    const repeated = new Set<string>()
    for (const { transactions } of batches) {
      const { status, body } = await post(service, transactions)
      expect(status).toBe(200)
      for (const { id } of body.data) repeated.add(id)
    }
    expect(repeated.size).toBe(25)
    const all = await until(
      async () => {
        await chain.rpc('evm_mine')
        return list(service)
      },
      (transactions) => transactions.every(({ status }) => status === 'confirmed'),
    )
    expect(new Set(all.map(({ id }) => id))).toEqual(repeated)
    for (const { to } of all)
      expect(BigInt(await chain.rpc<string>('eth_getBalance', [to, 'latest']))).toBe(1n)
    expect(await service.terminate()).toBe(0)
    await chain.stop()
    await rm(owner, { recursive: true })
  }, 90_000)
})
