import { describe, expect, test } from 'vitest'
import { findContradiction, findMissingRight } from '../../src/access/manage.ts'
import type { Rights } from '../../src/access/principal.ts'
import { isWithin, principalOf, ROOT, seesRelayerId } from '../../src/access/principal.ts'

const OWN: Rights = {
  scopes: ['transactions:read', 'transactions:write'],
  visibility: { relayers: ['pay-*', 'main'], networks: ['evm:sepolia', 'evm:anvil'] },
  expiresAt: new Date(2_000),
}
const own = principalOf('own', OWN, ROOT.ended)

describe('a key gives what it has', () => {
  test.each<[string, Partial<Rights>]>([
    ['the same', {}],
    ['fewer scopes', { scopes: ['transactions:read'] }],
    ['fewer relayers', { visibility: { ...OWN.visibility, relayers: ['pay-1', 'pay-eu-*'] } }],
    ['one network', { visibility: { ...OWN.visibility, networks: ['evm:anvil'] } }],
    ['an earlier end', { expiresAt: new Date(1_000) }],
  ])('%s', (_what, part) => {
    expect(findMissingRight({ ...OWN, ...part }, own)).toBeUndefined()
  })

  test('the key of the environment gives everything', () => {
    expect(findMissingRight({ scopes: ['api-keys:admin'], visibility: {} }, ROOT)).toBeUndefined()
  })
})

describe('a key does not give what it lacks', () => {
  test.each<[string, Partial<Rights>, string]>([
    ['a scope', { scopes: ['transactions:read', 'sign', 'rpc'] }, 'lacks sign, rpc'],
    ['all relayers', { visibility: { networks: ['evm:anvil'] } }, 'does not see all'],
    ['all networks', { visibility: { relayers: ['main'] } }, 'does not see all'],
    ['a wider pattern', { visibility: { ...OWN.visibility, relayers: ['pa*'] } }, 'does not see all'],
    [
      'ids that begin like its own',
      { visibility: { ...OWN.visibility, relayers: ['main*'] } },
      'does not see',
    ],
    ['another network', { visibility: { ...OWN.visibility, networks: ['evm:mainnet'] } }, 'does not see'],
    ['a later end', { expiresAt: new Date(2_001) }, '1970-01-01T00:00:02.000Z'],
    ['no end', { expiresAt: undefined }, 'body.expires_at'],
  ])('%s', (_what, part, reason) => {
    expect(findMissingRight({ ...OWN, ...part }, own)).toContain(reason)
  })
})

test.each([
  [['signers:admin', 'transactions:read'], { relayers: ['main'] }, 'signers:admin'],
  [['relayers:admin', 'api-keys:read'], { networks: ['evm:anvil'] }, 'relayers:admin, api-keys:read'],
] as const)('scopes of the deployment %j cannot be limited to %j', (scopes, visibility, named) => {
  expect(findContradiction({ scopes, visibility })).toContain(named)
  expect(findContradiction({ scopes, visibility: {} })).toBeUndefined()
})

test('every id that a narrower visibility shows, the wider one shows', () => {
  const ids = ['', 'a', 'ab', 'abc', 'b', 'ba']
  const patterns = ['*', 'a*', 'ab*', 'a', 'ab', 'b*', 'ba']
  for (const inner of patterns)
    for (const outer of patterns) {
      const within = isWithin({ relayers: [inner] }, { relayers: [outer] })
      const shows = (pattern: string) => ids.filter((id) => seesRelayerId({ relayers: [pattern] }, id))
      if (within) expect(shows(outer)).toEqual(expect.arrayContaining(shows(inner)))
    }
})
