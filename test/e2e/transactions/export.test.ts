import { encodeFunctionData, erc20Abi, type Hex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PAYMENT_COLUMNS } from '../../../src/reports/payments-csv.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { API_KEY, DEV_ADDRESSES, RECEIVER } from '../../support/service.ts'

const FROM = DEV_ADDRESSES[0] as Hex
const TOKEN = `0x${'ee'.repeat(20)}` as const
/** A token that keeps a unit of each transfer, and says so by its event: `Transfer(caller, to, amount - 1)`. */
const TOKEN_CODE =
  '0x60243560019003600052600435337fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef60206000a300'

let story: Scenario
beforeAll(async () => {
  story = await startScenario({ network: { tokens: [{ address: TOKEN, symbol: 'EURC', decimals: 6 }] } })
})
afterAll(() => story.stop())

async function exported(query = '', secret = API_KEY) {
  const response = await fetch(`${story.service.url}/api/v1/reports/transactions${query}`, {
    headers: { authorization: `Bearer ${secret}` },
  })
  return { response, text: await response.text() }
}

/** The rows by the names of their columns. */
async function rowsOf(query = '', secret = API_KEY) {
  const { response, text } = await exported(query, secret)
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
  const [header = '', ...lines] = text.trimEnd().split('\r\n')
  expect(header).toBe(PAYMENT_COLUMNS.join(','))
  return lines.map((line) => {
    const cells = line.split(',')
    expect(cells.length).toBe(PAYMENT_COLUMNS.length)
    return Object.fromEntries(PAYMENT_COLUMNS.map((name, at) => [name, cells[at]]))
  })
}

test('a payment has what a bookkeeper needs, before and after its block', async () => {
  const headers = { 'User-Id': 'user-7' }
  const { body } = await story.service.api(
    'POST',
    '/relayers/main/transactions',
    { to: RECEIVER, value: 1_500_000_000_000, reference: 'invoice-7', gas_limit: 21_000 },
    headers,
  )
  const { id } = body.data
  const expected = {
    status: 'submitted',
    relayer_id: 'main',
    network: 'evm:anvil',
    from: FROM,
    to: RECEIVER,
    asset: 'native',
    symbol: 'ETH',
    amount_smallest_unit: '1500000000000',
    amount: '0.0000015',
    expected: 'true',
    fee: '',
    reference: 'invoice-7',
    user_id: 'user-7',
    requested_by: 'root',
    transaction_id: id,
  }
  await story.reach(id, 'submitted')
  expect(await rowsOf('?reference=invoice-7')).toEqual([expect.objectContaining(expected)])
  await story.settle()
  const confirmed = await story.get(id)
  const [row] = await rowsOf('?reference=invoice-7')
  expect(row).toMatchObject({ status: 'confirmed', expected: '', hash: confirmed.hash, fee_symbol: 'ETH' })
  const fee = (confirmed as { receipt?: { fee?: string } }).receipt?.fee
  expect(row?.fee_smallest_unit).toBe(fee)
  expect(Number(row?.fee)).toBeCloseTo(Number(fee) / 1e18, 12)
  expect(row?.confirmed_at).toBe(confirmed.confirmed_at)
  expect(row?.block_time).toMatch(/^\d{4}-\d\d-\d\dT/)
})

test('a transaction with two transfers has two rows and one fee, and a call without any has one row', async () => {
  await story.anvil.rpc('anvil_setCode', [TOKEN, TOKEN_CODE])
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'transfer',
    args: [RECEIVER as Hex, 2_500_000n],
  })
  const both = await story.send({ to: TOKEN, value: 5, data, gas_limit: 100_000, reference: 'both' })
  const call = await story.send({
    to: RECEIVER,
    value: 0,
    data: '0x12345678',
    gas_limit: 100_000,
    reference: 'call',
  })
  await story.settle()
  const rows = await rowsOf('?reference=both')
  expect(rows.map((row) => [row.asset, row.amount, row.transaction_id])).toEqual([
    ['native', '0.000000000000000005', both.id],
    [TOKEN, '2.499999', both.id],
  ])
  expect(rows.map((row) => row.fee !== '')).toEqual([true, false])
  expect(await rowsOf('?reference=call')).toMatchObject([
    { transaction_id: call.id, asset: '', to: '', amount: '', fee_symbol: 'ETH' },
  ])
})

test('a reference that a spreadsheet would calculate is text', async () => {
  await story.send({ to: RECEIVER, value: 1, reference: '=cmd|calc' })
  const { text } = await exported(`?reference=${encodeURIComponent('=cmd|calc')}`)
  expect(text).toContain(',"\'=cmd|calc",')
})

test('what a key does not see is in none of its files, and rights and filters are those of a search', async () => {
  const { body } = await story.service.api<{ secret: string }>('POST', '/api-keys', {
    name: 'Other',
    scopes: ['transactions:read'],
    relayers: ['other'],
  })
  expect(await rowsOf('', body.data.secret)).toEqual([])
  const { body: blind } = await story.service.api<{ secret: string }>('POST', '/api-keys', {
    name: 'Blind',
    scopes: ['relayers:read'],
  })
  expect((await exported('', blind.data.secret)).response.status).toBe(403)
  expect((await exported('?min_amount=5')).response.status).toBe(400)
  expect((await exported('?hash=0x12')).response.status).toBe(400)
})

test('rows are in the order of acceptance, also over many pages', async () => {
  const transactions = Array.from({ length: 100 }, (_, value) => ({ to: RECEIVER, value, reference: 'many' }))
  for (let round = 0; round < 3; round += 1)
    await story.service.api('POST', '/relayers/main/transactions/batch', { transactions })
  const rows = await rowsOf('?reference=many')
  const once = Array.from({ length: 100 }, (_, value) => String(value || ''))
  expect(rows.map((row) => row.amount_smallest_unit)).toEqual([...once, ...once, ...once])
}, 30_000)
