import * as chains from 'viem/chains'
import { describe, expect, test } from 'vitest'
import { CATALOGUE, suggestNetwork } from '../../../src/networks/catalogue/catalogue.ts'
import { defaultTxFeeCap } from '../../../src/networks/families/evm.ts'
import { type NetworkType, ordersByTip } from '../../../src/networks/network.ts'
import { goodFile, load, problemsOf } from '../../config/fixture.ts'

const EVM = CATALOGUE.filter(({ type }) => type === 'evm')
const COMPLETE = CATALOGUE.filter(({ rpc_urls }) => rpc_urls !== undefined)

/** A file whose only relayer is on this network; it describes `networks`, or none. */
function fileOn(network: string, type = 'evm', networks?: unknown) {
  const { networks: _, ...file } = goodFile()
  const relayers = [{ id: 'one', network, network_type: type, signer_id: 'dev' }]
  return { ...file, relayers, ...(networks !== undefined && { networks }) }
}

test('names are unique within their type, chain ids among all', () => {
  const names = CATALOGUE.map(({ type, network }) => `${type}/${network}`)
  expect(new Set(names).size).toBe(names.length)
  const ids = EVM.map(({ chain_id }) => chain_id)
  expect(new Set(ids).size).toBe(ids.length)
})

test('the names of existing deployments are there', () => {
  const names = EVM.map(({ network }) => network)
  for (const name of ['mainnet', 'sepolia', 'arbitrum-one', 'binance-smart-chain', 'zk-sync', 'polygon-amoy'])
    expect(names).toContain(name)
})

test.each(EVM)('$network is the chain that viem knows by that id', (entry) => {
  const known = Object.values(chains).filter(({ id }) => id === entry.chain_id)
  expect(known.length).toBeGreaterThan(0)
  expect(known.some(({ testnet = false }) => testnet === entry.is_testnet)).toBe(true)
  if (entry.is_testnet) return // Test money has no name that all agree on.
  expect(known.map(({ nativeCurrency }) => nativeCurrency.symbol.toUpperCase())).toContain(
    entry.symbol?.toUpperCase(),
  )
})

test.each(EVM)('$network has the explorer that viem knows', ({ chain_id, explorer_urls }) => {
  const known = Object.values(chains).filter(({ id }) => id === chain_id)
  const urls = known.map((chain) => chain.blockExplorers?.default.url.replace(/\/$/, ''))
  expect(urls).toContain(explorer_urls?.[0])
})

test.each([
  { name: 'mainnet', cap: 16_777_216n, blocktime: 12_000 },
  { name: 'sepolia', cap: undefined, blocktime: 12_000 },
  { name: 'polygon', cap: 33_554_432n, blocktime: 2_000 },
  { name: 'binance-smart-chain', cap: 16_777_216n, blocktime: 450 },
  { name: 'base', cap: 16_777_216n, blocktime: 200 },
  { name: 'optimism', cap: 16_777_216n, blocktime: 2_000 },
  { name: 'arbitrum-one', cap: undefined, blocktime: 250 },
])(
  '$name lets a transaction have $cap gas, and makes a block in $blocktime ms',
  ({ name, cap, blocktime }) => {
    const [network] = load({ file: fileOn(name) }).networks
    expect(network).toMatchObject({ averageBlocktimeMs: blocktime })
    expect(network?.type === 'evm' ? network.maxGasPerTransaction : name).toBe(cap)
  },
)

test.each([
  { name: 'base', ordered: true, opStack: true },
  { name: 'arbitrum-one', ordered: false, opStack: undefined },
  { name: 'polygon', ordered: true, opStack: undefined },
])('$name takes higher tips first: $ordered', ({ name, ordered, opStack }) => {
  const [network] = load({ file: fileOn(name) }).networks
  if (network?.type !== 'evm') throw new Error('no EVM network')
  expect([ordersByTip(network), network.opStack]).toEqual([ordered, opStack])
})

test.each(COMPLETE)('$type $network needs no description', ({ type, network }) => {
  const config = load({ file: fileOn(network, type) })
  expect(config.networks).toEqual([expect.objectContaining({ type, name: network })])
})

test.each(EVM)('$network has a cap of fees of its own coin', ({ symbol = '' }) => {
  const cap = defaultTxFeeCap(symbol)
  expect(symbol === 'ETH' ? cap === 10n ** 18n : cap > 10n ** 18n).toBe(true)
})

test.each(EVM)('$network has public endpoints over TLS', ({ rpc_urls = [] }) => {
  expect(rpc_urls.length).toBeGreaterThan(0)
  for (const url of rpc_urls) expect(url).toMatch(/^https:\/\//)
})

describe('an entry', () => {
  test('is read with everything that it says', () => {
    expect(load({ file: fileOn('arbitrum-one') }).networks[0]).toMatchObject({
      chainId: 42_161,
      symbol: 'ETH',
      features: ['eip1559'],
      mempool: false,
      isTestnet: false,
      averageBlocktimeMs: 250,
      requiredConfirmations: 1,
    })
  })

  test('is completed by a network of the file that names it in "from"', () => {
    const own = { type: 'evm', network: 'ours', from: 'polygon', rpc_urls: ['https://node.example/key'] }
    expect(load({ file: fileOn('ours', 'evm', [own]) }).networks).toEqual([
      expect.objectContaining({
        name: 'ours',
        chainId: 137,
        symbol: 'POL',
        rpcUrls: [{ url: 'https://node.example/key', weight: 100 }],
      }),
    ])
  })

  test('keeps its name and gets other urls from a network that names it as its own parent', () => {
    const own = { type: 'evm', network: 'mainnet', from: 'mainnet', rpc_urls: ['https://node.example'] }
    expect(load({ file: fileOn('mainnet', 'evm', [own]) }).networks).toEqual([
      expect.objectContaining({
        name: 'mainnet',
        chainId: 1,
        requiredConfirmations: 12,
        maxGasPerTransaction: 16_777_216n,
        rpcUrls: [{ url: 'https://node.example', weight: 100 }],
      }),
    ])
  })

  test('gives way to a network that the file describes under its name', () => {
    const own = {
      type: 'evm',
      network: 'sepolia',
      chain_id: 5,
      symbol: 'X',
      rpc_urls: ['https://node.example'],
    }
    expect(load({ file: fileOn('sepolia', 'evm', [own]) }).networks).toEqual([
      expect.objectContaining({ chainId: 5, symbol: 'X' }),
    ])
  })

  test('without a public endpoint asks for one', () => {
    expect(problemsOf({ file: fileOn('pubnet', 'stellar') })).toEqual([
      'the well-known network "pubnet" has no public endpoint; add yours to "networks": { "type": "stellar", "network": "pubnet", "from": "pubnet", "rpc_urls": ["https://…"] }',
    ])
  })

  test('that does not exist is a dangling reference', () => {
    expect(problemsOf({ file: fileOn('sepolja') })).toEqual([
      'relayer "one" refers to the evm network "sepolja", which does not exist (did you mean "sepolia"?)',
    ])
  })
})

const known = (type: NetworkType) =>
  CATALOGUE.filter((entry) => entry.type === type).map(({ network }) => network)

test.each<[NetworkType, string, string]>([
  ['evm', 'ethereum', ' (did you mean "mainnet"?)'],
  ['evm', 'BSC', ' (did you mean "binance-smart-chain"?)'],
  ['evm', 'arbitrum', ' (did you mean "arbitrum-one"?)'],
  ['evm', 'sepolja', ' (did you mean "sepolia"?)'],
  ['solana', 'mainnet', ' (did you mean "mainnet-beta"?)'],
  ['stellar', 'public', ' (did you mean "pubnet"?)'],
  ['stellar', 'constructor', '; known are pubnet, testnet, futurenet, local'],
])(
  'on %s, the name %s is answered with the network that is meant, or with all names',
  (type, name, answer) => {
    expect(suggestNetwork({ name, type, known: known(type) })).toBe(answer)
  },
)

test('a network without a description is not suggested', () => {
  expect(suggestNetwork({ name: 'ethereum', type: 'evm', known: ['anvil'] })).toBe('; known are anvil')
})
