import { describe, expect, test } from 'vitest'
import { readSettings } from '../../../plugins/gasless/config.ts'
import { readSend } from '../../../plugins/gasless/wire.ts'

const ADDRESS = '0x00000000000000000000000000000000000000AA'
const forwarder = { address: ADDRESS, kind: 'openzeppelin' }
const network = { chain_id: 1, relayer_id: 'main', forwarders: [forwarder] }

const feeToken = (source: object) => ({ address: ADDRESS, decimals: 6, price: { sources: [source] } })

describe('the configuration', () => {
  test('bounds what users, strangers, applications and failures can have in a day by default', () => {
    const { limits, failures, maxCreations, networks } = readSettings({ networks: [network] })
    expect(limits.map(({ per, windowSeconds, times }) => [per, windowSeconds, times])).toEqual([
      ['user', 86_400, 20],
      ['open', 86_400, 200],
      ['key', 86_400, 10_000],
    ])
    expect(failures).toEqual({ payer: 3, payee: 50, all: 50, open: 100 })
    expect([maxCreations, networks.get(1)?.factories.size]).toEqual([100, 0])
    expect(networks.get(1)?.forwarders.get(ADDRESS.toLowerCase() as never)?.maxGas).toBe(1_000_000n)
  })

  test.each<[string, object]>([
    ['config.networks: name', {}],
    ['config.networks: each chain_id', { networks: [network, network] }],
    ['config.networks[0]: name at least one', { networks: [{ chain_id: 1, relayer_id: 'main' }] }],
    ['config.networks[0].chain_id', { networks: [{ relayer_id: 'main', forwarders: [forwarder] }] }],
    [
      'config.networks[0].forwarders[0].kind',
      { networks: [{ ...network, forwarders: [{ ...forwarder, kind: 'gsn' }] }] },
    ],
    [
      'config.networks[0].forwarders[0].address',
      { networks: [{ ...network, forwarders: [{ kind: 'minimal' }] }] },
    ],
    [
      'config.networks[0].forwarders: each',
      { networks: [{ ...network, forwarders: [forwarder, forwarder] }] },
    ],
    [
      'config.networks[0].forwarders[0].targets[0].selectors[0]',
      {
        networks: [
          {
            ...network,
            forwarders: [{ ...forwarder, targets: [{ address: ADDRESS, selectors: ['transfer'] }] }],
          },
        ],
      },
    ],
    [
      'config.networks[0].delegation_managers[0].limiting_enforcers: name at least one',
      { networks: [{ ...network, delegation_managers: [{ address: ADDRESS, enforcers: [ADDRESS] }] }] },
    ],
    [
      'config.networks[0].delegation_managers[0].enforcers[0]',
      {
        networks: [
          {
            ...network,
            delegation_managers: [{ address: ADDRESS, limiting_enforcers: [ADDRESS], enforcers: ['nonce'] }],
          },
        ],
      },
    ],
    ...(
      [
        ['seconds', { pool: ADDRESS, coin: ADDRESS, seconds: 60 }],
        ['coin', { pool: ADDRESS }],
        ['min_liquidity', { pool: ADDRESS, coin: ADDRESS, min_liquidity: '-1' }],
      ] as const
    ).map(([field, source]): [string, object] => [
      `config.networks[0].fee_tokens[0].price.sources[0].${field}`,
      {
        fee_collector: ADDRESS,
        networks: [
          {
            ...network,
            fee_tokens: [
              { address: ADDRESS, decimals: 6, price: { sources: [{ type: 'uniswap_v3', ...source }] } },
            ],
          },
        ],
      },
    ]),
    [
      'config.networks[0].delegates[0].kind',
      { networks: [{ ...network, delegates: [{ address: ADDRESS, kind: 'nexus' }] }] },
    ],
    [
      'config.networks[0].any_chain_authorizations',
      { networks: [{ ...network, any_chain_authorizations: 'yes' }] },
    ],
    [
      'config.networks[0].entry_points: accounts that only an EntryPoint or a DelegationManager',
      { networks: [{ ...network, delegates: [{ address: ADDRESS, kind: 'entry_point' }] }] },
    ],
    [
      'config.networks[0].entry_points[0].max_verification_gas',
      { networks: [{ ...network, entry_points: [{ address: ADDRESS, max_verification_gas: 1 }] }] },
    ],
    [
      'config.networks[0].implementations[0].proxy_code_hash',
      { networks: [{ ...network, implementations: [{ address: ADDRESS }] }] },
    ],
    [
      'config.networks[0].implementations: accounts that factories create',
      { networks: [{ ...network, factories: [{ address: ADDRESS }] }] },
    ],
    [
      'config.networks[0].factories[0].max_creation_gas',
      { networks: [{ ...network, factories: [{ address: ADDRESS, max_creation_gas: 1 }] }] },
    ],
    [
      'config.networks[0].delegates[0].implementations: only accounts of the kind entry_point',
      {
        networks: [
          { ...network, delegates: [{ address: ADDRESS, kind: 'gelato', implementations: [ADDRESS] }] },
        ],
      },
    ],
    ['config.max_creations', { networks: [network], max_creations: -1 }],
    ['config.networks[0].fee_tokens: name at least one', { networks: [{ ...network, sponsored: false }] }],
    [
      'config.networks[0].fee_tokens: config.fee_collector',
      { networks: [{ ...network, fee_tokens: [feeToken({ type: 'fixed', price: '1.5' })] }] },
    ],
    [
      'config.networks[0].fee_tokens[0].price.sources[0].price',
      { networks: [{ ...network, fee_tokens: [feeToken({ type: 'fixed', price: '0.0' })] }] },
    ],
    [
      'config.networks[0].fee_tokens[0].price.sources[0].token',
      {
        networks: [
          {
            ...network,
            fee_tokens: [feeToken({ type: 'chainlink', coin: { address: ADDRESS, max_age_seconds: 60 } })],
          },
        ],
      },
    ],
    [
      'config.networks[0].fee_tokens[0].price.sources: name',
      {
        networks: [{ ...network, fee_tokens: [{ address: ADDRESS, decimals: 6, price: { sources: [] } }] }],
      },
    ],
    ['config.limits[0]: needs', { networks: [network], limits: [{ per: 'user', window_seconds: 60 }] }],
    ['config.fee_collector', { networks: [network], fee_collector: 'me' }],
    ['config.typo', { networks: [network], typo: 1 }],
  ])('is refused with a sentence that begins with %s', (beginning, config) => {
    expect(() => readSettings(config)).toThrow(beginning)
  })
})

describe('the parameters of a send', () => {
  const authorization = { address: ADDRESS, chainId: 1, nonce: 0, r: '0x01', s: '0x02', yParity: 0 }
  const read = (changes: object) =>
    readSend({ chainId: 1, to: ADDRESS, data: '0x', authorizationList: [{ ...authorization, ...changes }] })
      .content.authorizations[0]

  test.each<[unknown, number]>([
    [`0x${'0'.repeat(64)}`, 0],
    ['0x', 0],
    ['0x0', 0],
    [0, 0],
    ['0x01', 1],
    ['1', 1],
    [1, 1],
  ])('have a parity %j that means %i', (yParity, expected) => {
    expect(read({ yParity })?.yParity).toBe(expected)
  })

  test('have integers as numbers, decimal and hexadecimal texts', () => {
    for (const nonce of [5, '5', '0x5']) expect(read({ nonce })?.nonce).toBe(5n)
    expect(() => read({ nonce: -1 })).toThrow('authorizationList[0].nonce')
    expect(() => read({ r: '0x' })).toThrow('authorizationList[0].r')
  })
})
