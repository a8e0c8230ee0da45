import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, anvilNetwork, ON_ANVIL, startAnvil } from '../support/anvil.ts'
import { startProcess } from '../support/process.ts'
import { callService, DEV_KEYS, plainSigner, RECEIVER, type Transaction } from '../support/service.ts'
import { until } from '../support/until.ts'

let anvil: Anvil
let folder: string

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--no-mining'] })
  folder = await mkdtemp(join(tmpdir(), 'relayer-budgets-'))
})
afterAll(async () => {
  await anvil.stop()
  await rm(folder, { recursive: true })
})

/** The most transactions that the budget allows. */
const MOST = 12

interface Usage {
  readonly limits: readonly Readonly<Record<'value' | 'fees' | 'count', { readonly spent: string }>>[]
}

test('after kill -9 at any time, a budget has counted what is stored and nothing else, and allows no more than it says', async () => {
  const rules = { limits: [{ per: 'day', value: String(MOST), fees: String(10n ** 18n), count: 1_000 }] }
  const config = {
    relayers: [{ id: 'main', name: 'Main', signer_id: 'dev', ...ON_ANVIL, policies: { rules } }],
    signers: [plainSigner('dev', DEV_KEYS[0])],
    networks: [anvilNetwork([anvil.url])],
  }
  const start = () => startProcess({ rpcUrl: anvil.url, folder, config })
  const accepted: string[] = []
  let service = await start()
  const all = '/relayers/main/transactions'
  const list = async () =>
    (await callService<Transaction[]>(service.url, { method: 'GET', path: `${all}?per_page=100` })).body.data
  const spent = async () => {
    const { body } = await callService<Usage>(service.url, { method: 'GET', path: '/relayers/main/usage' })
    const [limit] = body.data.limits
    return {
      value: Number(limit?.value.spent),
      fees: BigInt(limit?.fees.spent ?? 0),
      count: Number(limit?.count.spent),
    }
  }
  // Killed at different distances from the first answer, so that each round dies in another step of the path.
  for (const delayMs of [0, 4, 9, 17, 30]) {
    const send = () =>
      callService<Transaction>(service.url, { method: 'POST', path: all, body: { to: RECEIVER, value: 1 } })
        .then((answer) => {
          if (answer.status === 200) accepted.push(answer.body.data.id)
          else expect(answer.body.code).toBe('rule_violated')
        })
        .catch((error: unknown) => {
          // Killed before it answered: accepted or not, no one was told.
          if (!(error instanceof TypeError)) throw error
        })
    await send()
    const rest = Promise.all(Array.from({ length: 4 }, send))
    await new Promise((resolve) => setTimeout(resolve, delayMs))
    await service.kill()
    await rest
    service = await start()
    const stored = await list()
    expect(accepted.filter((id) => !stored.some((transaction) => transaction.id === id))).toEqual([])
    expect(stored.length).toBeLessThanOrEqual(MOST)
    expect(await spent()).toMatchObject({ value: stored.length, count: stored.length })
  }
  const records = await until(
    async () => {
      await anvil.rpc('evm_mine')
      return list()
    },
    (transactions) => transactions.every(({ status }) => status === 'confirmed'),
  )
  let charged = 0n
  for (const { hash } of records) {
    const receipt = await anvil.rpc<Record<'gasUsed' | 'effectiveGasPrice', string>>(
      'eth_getTransactionReceipt',
      [hash],
    )
    charged += BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)
  }
  const after = await until(spent, ({ fees }) => fees === charged)
  expect(after).toMatchObject({ value: records.length, count: records.length })
  expect(await service.terminate()).toBe(0)
}, 120_000)
