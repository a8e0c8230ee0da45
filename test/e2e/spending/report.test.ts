import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { run } from '../../../src/cli/run.ts'
import { parseJson } from '../../../src/contract/exact-integers.ts'
import type { Schemas } from '../../../src/contract/operations.ts'
import { issueLimited } from '../../support/limited-key.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { API_KEY, RECEIVER } from '../../support/service.ts'

type Row = Schemas['SpendingReportRow']

let story: Scenario
beforeAll(async () => {
  story = await startScenario()
}, 60_000)
afterAll(() => story.stop())

const DAY_MS = 86_400_000
const TOKEN = '0x00000000000000000000000000000000000000aa'
/** Wei that a double cannot hold. */
const VALUE = 2n ** 60n + 1n

const during = (from = -DAY_MS, to = DAY_MS) =>
  `from=${new Date(Date.now() + from).toISOString()}&to=${new Date(Date.now() + to).toISOString()}`

const call = (selector: string, amount: bigint) =>
  `${selector}${RECEIVER.slice(2).toLowerCase().padStart(64, '0')}${amount.toString(16).padStart(64, '0')}`

async function report(query = during()): Promise<readonly Row[]> {
  const { status, body } = await story.service.api<Row[]>('GET', `/reports/spending?${query}`)
  expect([status, body.error]).toEqual([200, undefined])
  return body.data
}

async function feeOf(id: string): Promise<bigint> {
  const { body } = await story.service.api<{ hash: string }>('GET', `/relayers/main/transactions/${id}`)
  const receipt = (await story.anvil.rpc('eth_getTransactionReceipt', [body.data.hash])) as {
    readonly gasUsed: string
    readonly effectiveGasPrice: string
  }
  return BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)
}

test('the report has the exact sums of what the chain included, by key and asset, and nothing else', async () => {
  const limited = await issueLimited(story.service, {})
  const send = async (body: object) =>
    (await story.send({ to: RECEIVER, value: 0, speed: 'fast', ...body })).id
  const paid = await send({ value: VALUE.toString() })
  const moved = await send({ to: TOKEN, value: 0, data: call('0xa9059cbb', VALUE), gas_limit: 90_000 })
  const allowed = await send({ to: TOKEN, value: 0, data: call('0x095ea7b3', 5n), gas_limit: 90_000 })
  const unread = await send({ to: TOKEN, value: 3, data: '0x12345678', gas_limit: 90_000 })
  const byKey = (await limited.send({ to: RECEIVER, value: 1, speed: 'fast' })).body.data.id
  const canceled = await send({ value: 1000 })
  await story.reach(canceled, 'submitted')
  await story.service.api('DELETE', `/relayers/main/transactions/${canceled}`)
  await story.settle()
  const own = [paid, moved, allowed, unread, canceled]
  const fees = (await Promise.all(own.map(feeOf))).reduce((sum, fee) => sum + fee, 0n)
  const common = {
    day: new Date().toISOString().slice(0, 10),
    relayer_id: 'main',
    network: 'evm:anvil',
    unknown_fees: 0,
    earned: '0',
    unknown_earned: 0,
  }
  expect(await report()).toEqual([
    {
      ...common,
      requested_by: limited.id,
      asset: 'native',
      value: '1',
      fees: String(await feeOf(byKey)),
      transactions: 1,
      unknown_values: 0,
    },
    {
      ...common,
      requested_by: 'root',
      asset: 'native',
      value: String(VALUE + 3n),
      fees: String(fees),
      transactions: 5,
      unknown_values: 1,
    },
    {
      ...common,
      requested_by: 'root',
      asset: TOKEN,
      value: String(VALUE),
      fees: '0',
      transactions: 1,
      unknown_values: 0,
    },
  ])
})

test('the time and the relayer select, and a time that ends before it begins is refused', async () => {
  expect(await report(during(-DAY_MS, -DAY_MS / 2))).toEqual([])
  expect(await report(`${during()}&relayer_id=other`)).toEqual([])
  expect((await report(`${during()}&relayer_id=main`)).length).toBe(3)
  const { status, body } = await story.service.api('GET', `/reports/spending?${during(DAY_MS, -DAY_MS)}`)
  expect([status, body.error]).toEqual([400, 'query.to: expected a time after query.from.'])
})

test('a request without one of the times is refused', async () => {
  const { status, body } = await story.service.api('GET', '/reports/spending?from=2026-11-01T00:00:00Z')
  expect([status, body.error]).toEqual([400, 'query.to: is required.'])
})

test('a key sees the relayers that it may see', async () => {
  const rights = { scopes: ['transactions:read'], relayers: ['other-*'] }
  const { body } = await story.service.api<{ secret: string }>('POST', '/api-keys', {
    name: 'other',
    ...rights,
  })
  const response = await fetch(`${story.service.url}/api/v1/reports/spending?${during()}`, {
    headers: { authorization: `Bearer ${body.data.secret}` },
  })
  expect([response.status, await response.json()]).toEqual([200, { success: true, data: [] }])
})

test('the same is CSV for a caller that asks for it, and a table on the command line', async () => {
  const lines = await report()
  const rows = lines.map((line) => Object.values(line).join(','))
  const response = await fetch(`${story.service.url}/api/v1/reports/spending?${during()}`, {
    headers: { authorization: `Bearer ${API_KEY}`, accept: 'text/csv' },
  })
  expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  const [header, ...found] = (await response.text()).trimEnd().split('\r\n')
  expect(header).toBe(Object.keys(lines[0] ?? {}).join(','))
  expect(found).toEqual(rows)
  Object.assign(process.env, { RELAYER_URL: story.service.url, RELAYER_API_KEY: API_KEY })
  onTestFinished(() => {
    delete process.env.RELAYER_URL
    delete process.env.RELAYER_API_KEY
  })
  const time = (ms: number) => new Date(Date.now() + ms).toISOString()
  const command = async (...flags: string[]) => {
    const out: string[] = []
    const args = ['report', '--from', time(-DAY_MS), '--to', time(DAY_MS), ...flags]
    expect(await run(args, { out: (line) => out.push(line), err: (line) => out.push(line) })).toBe(0)
    return out
  }
  expect((await command('--csv')).slice(1)).toEqual(rows)
  expect(parseJson((await command('--json')).join('\n'))).toEqual(lines)
  expect((await command())[0]).toMatch(/^DAY +RELAYER ID +REQUESTED BY/)
})
