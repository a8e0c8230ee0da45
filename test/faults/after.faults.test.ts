import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { startProcess } from '../support/process.ts'
import { callService, type Transaction } from '../support/service.ts'
import { until } from '../support/until.ts'

let anvil: Anvil
let folder: string

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--no-mining'] })
  folder = await mkdtemp(join(tmpdir(), 'relayer-after-'))
})
afterAll(async () => {
  await anvil.stop()
  await rm(folder, { recursive: true })
})

const ALL = '/relayers/main/transactions'

/** Receivers that no one else pays, so that their balances count executions. */
const receiver = (index: number) => `0x${(0x2000_0000 + index).toString(16).padStart(40, '0')}`

interface Pair {
  readonly first: string
  readonly second: string
  readonly paid: string
  readonly isCanceled: boolean
}

test('after kill -9 at any time, what waits for another transaction is executed once if that one succeeds, and never otherwise', async () => {
  const start = () => startProcess({ rpcUrl: anvil.url, folder })
  let service = await start()
  const call = <Data>(method: string, path: string, body?: object) =>
    callService<Data>(service.url, { method, path, body })
  const send = async (body: object) =>
    (await call<Transaction>('POST', ALL, { value: 1, speed: 'fast', ...body })).body.data
  const pairs: Pair[] = []
  let index = 0
  // Killed at different distances from the end of the first ones: before it is noticed, and while it is.
  for (const delayMs of [0, 400, 1_100]) {
    const later = new Date(Date.now() + 3_600_000).toISOString()
    for (const isCanceled of [true, false]) {
      const first = await send({ to: receiver(index++), ...(isCanceled && { valid_from: later }) })
      const paid = receiver(index++)
      const second = await send({ to: paid, after: { transaction_id: first.id } })
      pairs.push({ first: first.id, second: second.id, paid, isCanceled })
    }
    const canceled = pairs.findLast(({ isCanceled }) => isCanceled)
    await call('DELETE', `${ALL}/${canceled?.first}`)
    await anvil.rpc('anvil_mine', ['0x40'])
    await new Promise((resolve) => setTimeout(resolve, delayMs))
    await service.kill()
    service = await start()
  }
  const get = async (id: string) => (await call<Transaction>('GET', `${ALL}/${id}`)).body.data
  for (const { first, second, paid, isCanceled } of pairs) {
    const wanted = isCanceled ? 'canceled' : 'confirmed'
    const ended = await until(
      async () => {
        await anvil.rpc('evm_mine')
        return get(second)
      },
      ({ status }) => status === wanted,
    )
    expect((await get(first)).status).toBe(wanted)
    expect(BigInt(await anvil.rpc<string>('eth_getBalance', [paid, 'latest']))).toBe(isCanceled ? 0n : 1n)
    if (isCanceled) expect(ended.attempts).toEqual([])
  }
  expect(await service.terminate()).toBe(0)
}, 240_000)
