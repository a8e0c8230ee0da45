import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { mnemonicToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { COUNTER } from '../client/counter.ts'
import type { RunningProgram } from '../client/start-program.ts'
import { createDataDir } from '../support/data-dir.ts'
import { freePort } from '../support/free-port.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { RECEIVER, SIGNING_KEY, type Transaction } from '../support/service.ts'
import { until } from '../support/until.ts'
import { runExample, startExample } from './run-example.ts'

/** Not that of anvil, whose first accounts have relayers of the configuration file. */
const SEED_PHRASE = 'legal winner thank year wave sausage worth useful legal winner thank yellow'

let story: Scenario
let port: number
let contract: string

beforeAll(async () => {
  port = await freePort()
  const key = Buffer.alloc(32, 'sealing').toString('base64')
  const env = { STORAGE_ENCRYPTION_KEY: key, RELAYER_ALLOW_PRIVATE_URLS: 'true' }
  story = await startScenario({ notificationUrl: `http://127.0.0.1:${port}/`, env })
}, 60_000)
afterAll(() => story.stop())

const newest = async () => {
  const { body } = await story.service.api<Transaction[]>('GET', '/relayers/main/transactions')
  return body.data[0]
}

/** Runs an example while blocks are made. */
async function run(name: string, options?: Parameters<typeof runExample>[2]): Promise<string> {
  const running = new AbortController()
  const printed = runExample(story.service, name, options).finally(() => running.abort())
  while (!running.signal.aborted) {
    await story.mine()
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return printed
}

/** Reads what a program prints until a line fits, and gives the line. */
async function lineOf({ process }: RunningProgram, pattern: RegExp): Promise<string> {
  if (process.stdout === null) throw new Error('the program prints nothing')
  for await (const line of createInterface({ input: process.stdout })) if (pattern.test(line)) return line
  throw new Error(`the program ended without ${pattern}`)
}

test('send-and-wait sends once, however often it runs', async () => {
  const options = { args: ['invoice-1017'], env: { RECEIVER } }
  const said = await run('send-and-wait', options)
  const { id, hash } = (await newest()) ?? {}
  expect(said).toBe(`transaction ${id} is mined: ${hash}\n`)
  expect(await run('send-and-wait', options)).toContain(`transaction ${id} is `)
  expect((await newest())?.id).toBe(id)
})

test('deploy-contract makes a contract, and call-contract and from-defender call it', async () => {
  const deployed = await run('deploy-contract', { args: [COUNTER.bytecode] })
  contract = /^the contract is at (0x[0-9a-f]{40})\n$/i.exec(deployed)?.[1] ?? deployed
  const value = () => story.anvil.rpc('eth_getStorageAt', [contract, '0x0', 'latest'])
  const env = { CONTRACT: contract }
  const called = await run('call-contract', { args: ['set(uint256)', '42'], env })
  expect(called).toMatch(/^set\(uint256\) was called: 0x[0-9a-f]{64}\n$/)
  expect(BigInt(String(await value()))).toBe(42n)
  expect(await run('from-defender', { env })).toMatch(/^block \d+ includes it, and the contract says 7\n$/)
})

test('replace-transaction pays what the replacement says', async () => {
  const before = (await newest())?.id
  const replacing = runExample(story.service, 'replace-transaction', { env: { RECEIVER } })
  const { id } = await until(
    async () => (await newest()) ?? { id: '', value: '' },
    (seen) => seen.id !== before && 'value' in seen && seen.value === '2',
  )
  await story.settle()
  const { hash } = await story.get(id)
  expect(await replacing).toBe(`transaction ${id} has new content\n2 wei were paid: ${hash}\n`)
})

test('webhook-receiver takes what the service has signed, and nothing else', async () => {
  const env = { PORT: String(port), WEBHOOK_SIGNING_KEY: SIGNING_KEY }
  const receiver = startExample(story.service, 'webhook-receiver', { env })
  try {
    await once(receiver.process.stdout ?? receiver.process, 'data')
    const forged = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' })
    expect(forged.status).toBe(401)
    await story.service.api('POST', '/relayers/main/transactions', {
      to: RECEIVER,
      value: '1',
      speed: 'fast',
    })
    expect(await lineOf(receiver, /^transaction_update /)).toBe('transaction_update "transaction"')
  } finally {
    await receiver.stop()
  }
  await story.settle()
})

test('follow-events goes on behind the last event that it has handled', async () => {
  const folder = await createDataDir()
  const env = { CURSOR_FILE: join(folder, 'cursor') }
  const cursor = async () => BigInt(await readFile(env.CURSOR_FILE, 'utf8').catch(() => '0'))
  const pay = () =>
    story.service.api('POST', '/relayers/main/transactions', { to: RECEIVER, value: '1', speed: 'fast' })
  /** Gives the number of the first transaction event that it prints, when it has handled that event. */
  const run = async () => {
    const program = startExample(story.service, 'follow-events', { env })
    try {
      const line = await lineOf(program, /^\d+ transaction_update$/)
      const number = BigInt(line.split(' ')[0] ?? '')
      await until(cursor, (handled) => handled >= number)
      return number
    } finally {
      await program.stop()
    }
  }
  try {
    await pay()
    await story.settle()
    await run()
    const last = await cursor()
    await pay()
    expect(await run()).toBeGreaterThan(last)
    await story.settle()
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('many-accounts makes relayers of a seed phrase, and only those that are missing', async () => {
  const env = { SEED_PHRASE, NETWORK: 'anvil' }
  const made = await runExample(story.service, 'many-accounts', { args: ['2'], env })
  const ofPhrase = [0, 1, 2].map((addressIndex) => mnemonicToAccount(SEED_PHRASE, { addressIndex }).address)
  expect(made).toBe(`account-0 ${ofPhrase[0]}\naccount-1 ${ofPhrase[1]}\n`)
  expect(await runExample(story.service, 'many-accounts', { args: ['3'], env })).toBe(
    `${made}account-2 ${ofPhrase[2]}\n`,
  )
})
