import { expect, test } from 'vitest'
import { CATALOGUE, suggestNetwork } from '../../../src/networks/catalogue/catalogue.ts'
import type { NetworkType } from '../../../src/networks/network.ts'

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

test('a network that nobody described is not suggested', () => {
  expect(suggestNetwork({ name: 'ethereum', type: 'evm', known: ['anvil'] })).toBe('; known are anvil')
})
