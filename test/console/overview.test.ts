import { describe, expect, test } from 'vitest'
import { readEndpointHealth } from '../../console/src/pages/networks/endpoint-health.ts'
import { groupAlerts } from '../../console/src/pages/overview/group-alerts.ts'
import {
  fitsFilter,
  orderRelayers,
  type RelayerRow,
} from '../../console/src/pages/overview/order-relayers.ts'
import { healthOf } from '../../console/src/pages/overview/relayer-health.ts'
import { hrefOf, parseRoute } from '../../console/src/routing/routes.ts'

const NOW = Date.parse('2026-11-20T10:00:00.000Z')
const RELAYER = {
  id: 'main',
  name: 'Main',
  network: 'anvil',
  network_type: 'evm',
  address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  signer_id: 'dev',
  paused: false,
  system_disabled: false,
  policies: {},
} as const
const STATUS = {
  network_type: 'evm',
  balance: '5',
  pending_transactions_count: 1,
  oldest_pending_transaction_timestamp: '2026-11-20T09:50:00.000Z',
  system_disabled: false,
  paused: false,
} as const

describe('the health of a relayer', () => {
  const disabled_reason = { type: 'BalanceCheckFailed', details: 'The balance is 0.' } as const

  test.each([
    ['healthy', RELAYER, STATUS, undefined],
    ['…', RELAYER, undefined, undefined],
    ['paused', { ...RELAYER, paused: true }, STATUS, 'It accepts no new transactions.'],
    [
      'disabled',
      { ...RELAYER, paused: true, system_disabled: true, disabled_reason },
      STATUS,
      'The balance is 0.',
    ],
    [
      'unknown',
      RELAYER,
      { network_type: 'evm', pending_transactions_count: 0, system_disabled: false, paused: false } as const,
      'No endpoint of its network responds.',
    ],
    [
      'slow',
      RELAYER,
      { ...STATUS, oldest_pending_transaction_timestamp: '2026-11-20T09:44:00.000Z' },
      'A transaction has been waiting for 16 min.',
    ],
  ] as const)('%s', (word, relayer, status, why) => {
    const health = healthOf(relayer, status, NOW)
    expect([health.word, health.why]).toEqual([word, why])
  })
})

describe('rows', () => {
  const row = (id: string, balance: string | undefined, word: RelayerRow['health']['word']): RelayerRow => ({
    relayer: { ...RELAYER, id, name: id },
    status: balance === undefined ? undefined : { ...STATUS, balance },
    health: { word, tone: 'idle' },
  })
  const rows = [row('b', '10', 'healthy'), row('a', undefined, 'disabled'), row('c', '9', 'slow')]
  const ordered = (by: string, isDescending = false) =>
    orderRelayers(rows, { by, isDescending })
      .map(({ relayer }) => relayer.id)
      .join('')

  test('are ordered by numbers as numbers, and what is worst comes first', () => {
    expect(ordered('Balance')).toBe('acb')
    expect(ordered('Balance', true)).toBe('bca')
    expect(ordered('Relayer')).toBe('abc')
    expect(ordered('Health')).toBe('acb')
    expect(ordered('No such column')).toBe('bac')
  })

  test('fit a text in their name, network or address, in any letter case', () => {
    const [first] = rows
    if (first === undefined) throw new Error('there is a row')
    for (const text of ['B', ' anvil ', '0xF39F', '']) expect(fitsFilter(first, text)).toBe(true)
    expect(fitsFilter(first, 'sepolia')).toBe(false)
  })
})

test('the health of endpoints is read from the metric, by network and host', () => {
  const health = readEndpointHealth(
    '# TYPE rpc_endpoint_up gauge\nrpc_endpoint_up{network="anvil",host="127.0.0.1:8545"} 1\nrpc_endpoint_up{network="anvil",host="rpc.example"} 0\n',
  )
  expect(health('anvil', 'http://127.0.0.1:8545/***')).toBe(true)
  expect(health('anvil', 'https://rpc.example/***')).toBe(false)
  expect(health('sepolia', 'https://rpc.example/***')).toBeUndefined()
  expect(health('anvil', 'no url')).toBeUndefined()
})

test('an address of the console and its parts become each other', () => {
  const href = hrefOf(['relayers', 'a/b ?#'], { q: 'x&y', empty: '', absent: undefined })
  expect(parseRoute(href)).toEqual({ path: ['relayers', 'a/b ?#'], query: { q: 'x&y' } })
  expect(parseRoute('')).toEqual({ path: [], query: {} })
  expect(parseRoute('#/a%')).toEqual({ path: ['a%'], query: {} })
})

describe('the alerts', () => {
  const alert = (kind: string, about: object) =>
    ({ alert: kind, state: 'firing', since: '2026-11-20T09:00:00.000Z', message: kind, ...about }) as never

  test('of a network and its endpoints are one, and every other one stands alone', () => {
    const alerts = [
      alert('endpoint_down', { network: 'evm:anvil', endpoint: 'https://a.example' }),
      alert('balance_low', { relayer_id: 'main', network: 'evm:anvil' }),
      alert('endpoint_down', { network: 'evm:anvil', endpoint: 'https://b.example' }),
      alert('endpoint_down', { network: 'stellar:testnet', endpoint: 'https://c.example' }),
      alert('balance_low', { relayer_id: 'other', network: 'evm:anvil' }),
      alert('chain_halted', { network: 'evm:anvil' }),
    ]
    const [a, low, b, other, another, halted] = alerts
    expect(groupAlerts(alerts)).toEqual([[a, b, halted], [low], [other], [another]])
  })

  test('are none where none fires', () => {
    expect(groupAlerts([])).toEqual([])
  })
})
