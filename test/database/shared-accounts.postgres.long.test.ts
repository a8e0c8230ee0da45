import { afterAll, beforeAll, expect, test } from 'vitest'
import { anvilNetwork, ON_ANVIL } from '../support/anvil.ts'
import type { ServiceProcess } from '../support/process.ts'
import { callService, type Transaction } from '../support/service.ts'
import { until } from '../support/until.ts'
import { type ProcessStage, startProcessStage } from './process-stage.ts'

const ACCOUNTS = 24
const ALL = '/relayers/pool/transactions'

/** A process, and where it shows its metrics. */
interface Process extends ServiceProcess {
  readonly metricsUrl: string
}

let stage: ProcessStage
const processes: Process[] = []
/** Every amount goes to a receiver of its own, so that balances count executions. */
let sent = 0

beforeAll(async () => {
  stage = await startProcessStage(ACCOUNTS)
}, 60_000)
afterAll(() => stage.stop())

async function start(): Promise<Process> {
  let metricsUrl = ''
  const pool = { id: 'pool', name: 'Pool', signer_id: 'seed', ...ON_ANVIL }
  const started = await stage.start(
    {
      networks: [anvilNetwork([stage.anvil.url])],
      relayers: [{ ...pool, accounts: [{ signer_id: 'seed', count: ACCOUNTS }] }],
    },
    {
      env: { METRICS_ENABLED: 'true', METRICS_PORT: '0' },
      onLine: (line) => {
        const entry = line.startsWith('{') ? (JSON.parse(line) as { metricsUrl?: string }) : {}
        metricsUrl = entry.metricsUrl ?? metricsUrl
      },
    },
  )
  const process = { ...started, metricsUrl }
  processes.push(process)
  return process
}

const receiver = (index: number) => `0x${(0x3000_0000 + index).toString(16).padStart(40, '0')}`

/** Sends through the processes in turn. */
async function send(count: number, through: readonly Process[] = processes): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      sent += 1
      const body = { to: receiver(sent), value: 1, gas_limit: 21_000 }
      const { url } = through[index % through.length] ?? { url: '' }
      const { status } = await callService(url, { method: 'POST', path: ALL, body })
      expect(status).toBe(200)
    }),
  )
}

/** Waits until all that was sent is confirmed, and returns it. */
async function confirmed({ url }: Process): Promise<Transaction[]> {
  await until(
    async () => {
      const path = `${ALL}?status=confirmed&per_page=1`
      return (await callService(url, { method: 'GET', path })).body.pagination?.total_items
    },
    (total) => total === sent,
  )
  const pages = Array.from({ length: Math.ceil(sent / 100) }, (_, index) =>
    callService<Transaction[]>(url, { method: 'GET', path: `${ALL}?per_page=100&page=${index + 1}` }),
  )
  return (await Promise.all(pages)).flatMap(({ body }) => body.data)
}

/** The number of accounts for which a process works, as its metrics tell. */
async function accountsOf({ metricsUrl }: Process): Promise<number> {
  const text = await (await fetch(metricsUrl)).text()
  return Number(/^leases_held\{[^}]*kind="account"[^}]*\} (\d+)$/m.exec(text)?.[1] ?? 0)
}

const spread = (expected: readonly number[]) =>
  until(
    () => Promise.all(processes.map(accountsOf)),
    (counts) => counts.join() === expected.join(),
  )

/** Who has each account, and how many have had it before. */
async function leases(): Promise<unknown[]> {
  const { rows } = await stage.database.query(
    `select name, owner, fence from leases where name like 'account:%' order by name`,
  )
  return rows
}

async function expectOnce(transactions: readonly Transaction[]): Promise<void> {
  expect(transactions).toHaveLength(sent)
  const used = new Set(transactions.map(({ from, nonce }) => `${from} ${nonce}`))
  expect(used.size).toBe(sent)
  for (let index = 1; index <= sent; index += 1)
    expect(BigInt(await stage.anvil.rpc<string>('eth_getBalance', [receiver(index), 'latest']))).toBe(1n)
}

test('two processes have half of the accounts each, and neither works for those of the other', async () => {
  const first = await start()
  await send(2 * ACCOUNTS)
  await confirmed(first)
  await spread([ACCOUNTS])
  await start()
  // Every account has a transaction, so that its process leases it.
  await send(4 * ACCOUNTS)
  await confirmed(first)
  await spread([12, 12])
  const before = await leases()
  expect(before).toHaveLength(ACCOUNTS)
  await send(4 * ACCOUNTS)
  await expectOnce(await confirmed(first))
  expect(await leases()).toEqual(before)
}, 120_000)

test('a process that starts gets its part within seconds', async () => {
  const [first] = processes
  if (first === undefined) throw new Error('There is no process.')
  await start()
  const startedAt = performance.now()
  await until(
    async () => (await stage.database.query('select from processes where alive_until > now()')).rowCount,
    (count) => count === 3,
  )
  await send(4 * ACCOUNTS)
  await expectOnce(await confirmed(first))
  await spread([8, 8, 8])
  expect(performance.now() - startedAt).toBeLessThan(20_000)
}, 120_000)

test('the accounts of a process that is killed go to the others within seconds, and nothing is sent twice or lost', async () => {
  const [killed, second, third] = processes
  if (killed === undefined || second === undefined || third === undefined)
    throw new Error('There are not three.')
  const sending = send(6 * ACCOUNTS, [second, third])
  await killed.kill()
  const killedAt = performance.now()
  processes.shift()
  await sending
  await expectOnce(await confirmed(second))
  expect(performance.now() - killedAt).toBeLessThan(20_000)
  await send(4 * ACCOUNTS)
  await expectOnce(await confirmed(second))
  await spread([12, 12])
}, 120_000)
