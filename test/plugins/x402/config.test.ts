import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readSettings } from '../../../plugins/x402/config.ts'

const NETWORK = { network: 'eip155:8453', relayer_id: 'base-1' }

const MANAGER = '0xdb9B1e94B5b69Df7e401DDbedE43491141047dB3'

describe('the configuration of the facilitator', () => {
  test('has defaults for all but the networks', () => {
    const { networks, ...rest } = readSettings({ networks: [NETWORK] })
    expect(networks.get('eip155:8453')).toMatchObject({
      family: 'eip155',
      relayerId: 'base-1',
      maxGas: 500_000n,
    })
    expect(rest).toEqual({
      waitFor: 'mined',
      timeoutMs: 80_000,
      failures: { payer: 2, payee: 10, all: 30, open: 60 },
      repeatMs: undefined,
      idSeconds: 3600,
      payees: undefined,
      limits: [{ per: 'open', windowSeconds: 86_400, times: 1000 }],
      readers: new Map(),
      discovery: new Map(),
    })
  })

  test('has no delegations by default, and otherwise the relayer of the network for them', () => {
    const read = (more: object) =>
      readSettings({ networks: [{ ...NETWORK, ...more }] }).networks.get('eip155:8453')
    expect(read({})?.delegations).toBeUndefined()
    expect(read({ assets: ['0x01'], delegations: { managers: [MANAGER] } })?.delegations).toEqual({
      managers: new Set([MANAGER.toLowerCase()]),
      relayerId: 'base-1',
    })
  })

  test.each<[unknown, string]>([
    [undefined, 'config.networks: name at least one network.'],
    [[], 'config: expected an object.'],
    [
      { networks: [{ ...NETWORK, network: 'base' }] },
      'config.networks[0].network: expected a text that matches',
    ],
    [{ networks: [{ network: 'eip155:1' }] }, 'config.networks[0].relayer_id: expected a text'],
    ...[
      '11111111111111111111111111111111',
      'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
      'ComputeBudget111111111111111111111111111111',
      'squads',
    ].map((program): [unknown, string] => [
      { networks: [{ ...NETWORK, wallet_programs: [program] }] },
      `config.networks[0].wallet_programs: ${program} is not the program of a smart wallet.`,
    ]),
    [
      { networks: [{ ...NETWORK, batch_settlement: 'yes' }] },
      'config.networks[0].batch_settlement: expected true or false.',
    ],
    ...[{}, { managers: [] }, { managers: ['metamask'] }].map((delegations): [unknown, string] => [
      { networks: [{ ...NETWORK, assets: ['0x01'], delegations }] },
      'config.networks[0].delegations.managers: expected addresses of DelegationManagers, 0x….',
    ]),
    [
      { networks: [{ ...NETWORK, delegations: { managers: [MANAGER] } }] },
      'config.networks[0].delegations: name the tokens in assets, too.',
    ],
    [
      { networks: [{ ...NETWORK, assets: ['0x01'], delegations: { managers: [MANAGER], enforcers: [] } }] },
      'config.networks[0].delegations.enforcers: unknown field.',
    ],
    [{ networks: [NETWORK, NETWORK] }, 'config.networks: each network may appear once.'],
    [{ networks: [{ ...NETWORK, asets: [] }] }, 'config.networks[0].asets: unknown field.'],
    [
      { networks: [{ ...NETWORK, max_gas: 1 }] },
      'config.networks[0].max_gas: expected an integer from 50000',
    ],
    [{ networks: [NETWORK], wait_for: 'soon' }, 'config.wait_for: expected mined or confirmed.'],
    [
      { networks: [NETWORK], timeout_seconds: 0 },
      'config.timeout_seconds: expected an integer from 1 to 300.',
    ],
    [{ networks: [NETWORK], readers: [{ key: 'shop' }] }, 'config.readers[0].payees: name at least one.'],
    [
      { networks: [NETWORK], discovery: [{ payee: '0x'.padEnd(42, '1'), origin: 'https://shop.example/' }] },
      'config.discovery[0].origin: expected an origin without a path',
    ],
    [{ networks: [NETWORK], payees: 'all' }, 'config.payees: expected a list.'],
    [
      { networks: [NETWORK], limits: [{ per: 'key' }] },
      'config.limits[0]: per and window_seconds are required.',
    ],
    [
      { networks: [NETWORK], limits: [{ per: 'all', window_seconds: 1 }] },
      'config.limits[0]: needs settlements or amount.',
    ],
    [
      { networks: [NETWORK], limits: [{ per: 'all', window_seconds: 1, amount: 5 }] },
      'config.limits[0]: amount and asset belong together',
    ],
  ])('%j is refused with the field that is wrong', (config, sentence) => {
    expect(() => readSettings(config)).toThrow(sentence)
  })
})

test('no plugin of this repository imports the service', () => {
  const folder = join(import.meta.dirname, '../../../plugins')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
  )
  expect(files).toContain(join('x402', 'index.ts'))
  const imports = files.filter((name) =>
    /from '(\.\.\/)+(src|generated|test)\//.test(readFileSync(join(folder, name), 'utf8')),
  )
  expect(imports).toEqual([])
})
