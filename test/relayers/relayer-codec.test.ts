import { expect, test } from 'vitest'
import { columnsOf, toRelayer } from '../../src/relayers/relayer-codec.ts'

type Row = Parameters<typeof toRelayer>[0]

const ROW: Row = {
  id: 'r1',
  name: 'One',
  network: 'testnet',
  network_type: 'stellar',
  address: 'GOWN',
  signer_id: 'dev',
  notification_id: null,
  paused: false,
  system_disabled: false,
  disabled_reason: null,
  policies: {},
  custom_rpc_urls: null,
  channels: null,
  created_at: new Date(0),
  removed_at: null,
  failed_checks: 0,
}

test.each<[string, object, string]>([
  ['network type', { network_type: 'sui' }, 'network type "sui" is unknown'],
  [
    'disabled reason',
    { disabled_reason: { type: 'Tired', details: '' } },
    'stored disabled reason has the unknown type "Tired"',
  ],
  ['policy', { policies: { gasPriceCap: '1' } }, 'stored policies are unknown: gasPriceCap'],
  ['value of a policy', { policies: { maxFee: 'much' } }, 'stored policy maxFee has the value "much"'],
  [
    'form of channels',
    { channels: { count: 2 } },
    'stored channels are neither a number nor a list of signers: {"count":2}',
  ],
])('a stored relayer with an unknown %s is an error that names it', (_what, change, problem) => {
  expect(() => toRelayer({ ...ROW, ...change })).toThrow(`stored relayer "r1" cannot be read: ${problem}`)
})

test.each([[2], [['one', 'two']]])('channels survive the database: %j', (channels) => {
  const relayer = { ...toRelayer(ROW), networkType: 'stellar' as const, policies: {}, channels }
  const stored = columnsOf(relayer).channels
  expect(toRelayer({ ...ROW, channels: JSON.parse(stored ?? 'null') })).toMatchObject({ channels })
})
