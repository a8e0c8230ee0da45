import { describe, expect, test } from 'vitest'
import { openReader } from '../../src/lib/fields.ts'
import type { NetworkType } from '../../src/networks/network.ts'
import { assetNamesOf, readTokens } from '../../src/networks/tokens.ts'
import { SILENT_NETWORK } from '../transactions/stub-chain.ts'

const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'

function read(type: NetworkType, ...tokens: readonly object[]) {
  const problems: string[] = []
  const reader = openReader({ tokens }, 'networks[0]', problems)
  return { tokens: reader && readTokens(reader, type), problems }
}

describe('the list of tokens of a network', () => {
  test.each<[NetworkType, string, string]>([
    ['evm', USDC, USDC.toLowerCase()],
    ['stellar', `USDC:G${'A'.repeat(55)}`, `USDC:G${'A'.repeat(55)}`],
    ['stellar', `C${'A'.repeat(55)}`, `C${'A'.repeat(55)}`],
    [
      'solana',
      'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
      'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    ],
  ])('on %s has %s', (type, address, want) => {
    const { tokens, problems } = read(type, { address, symbol: 'USDC', decimals: 6 })
    expect(tokens).toEqual([{ address: want, symbol: 'USDC', decimals: 6 }])
    expect(problems).toEqual([])
  })

  test.each<[object, string]>([
    [{ address: USDC.slice(0, -1), symbol: 'USDC', decimals: 6 }, 'networks[0].tokens[0].address must be'],
    [
      { address: USDC.replace('f', 'F'), symbol: 'USDC', decimals: 6 },
      'networks[0].tokens[0].address must be',
    ],
    [{ address: USDC, symbol: 'US DC', decimals: 6 }, 'networks[0].tokens[0].symbol must be'],
    [{ address: USDC, symbol: '', decimals: 6 }, 'networks[0].tokens[0].symbol must be'],
    [{ address: USDC, symbol: 'USDC', decimals: 256 }, 'networks[0].tokens[0].decimals must be'],
    [{ address: USDC, symbol: 'USDC' }, 'networks[0].tokens[0].decimals is missing'],
    [
      { address: USDC, symbol: 'USDC', decimals: 6, name: 'USD Coin' },
      'networks[0].tokens[0].name is not known',
    ],
  ])('%o is refused', (token, problem) => {
    expect(read('evm', token).problems).toEqual([expect.stringContaining(problem)])
  })

  test('names each address once, in any letter case', () => {
    const token = { symbol: 'USDC', decimals: 6 }
    const { problems } = read('evm', { ...token, address: USDC }, { ...token, address: USDC.toLowerCase() })
    expect(problems).toEqual(['networks[0].tokens[1].address is that of another token of the list'])
  })
})

test('an asset has the name that the network or the operator gives it, and no other', () => {
  const token = { address: USDC.toLowerCase(), symbol: 'USDC', decimals: 6 }
  const names = assetNamesOf({ ...SILENT_NETWORK, symbol: 'POL', tokens: [token] })
  expect(names('native')).toEqual({ symbol: 'POL', decimals: 18 })
  expect(names(token.address)).toEqual({ symbol: 'USDC', decimals: 6 })
  expect(names(`0x${'11'.repeat(20)}`)).toBeUndefined()
})
