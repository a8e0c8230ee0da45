import { expect, test } from 'vitest'
import { createNetworkDirectory } from '../../src/networks/directory.ts'
import { SILENT_NETWORK } from '../transactions/stub-chain.ts'

const urls = (...names: string[]) => names.map((url) => ({ url, weight: 100 }))
const OURS = { ...SILENT_NETWORK, name: 'ours', rpcUrls: urls('http://ours') }
const KNOWN = { ...SILENT_NETWORK, name: 'known', rpcUrls: urls('http://known') }

const open = (...configured: (typeof OURS)[]) =>
  createNetworkDirectory(configured, [KNOWN, { ...OURS, chainId: 1 }])

test('what the configuration describes is what it says, and stands first', () => {
  const directory = open(OURS)
  expect(directory.list()).toEqual([OURS, KNOWN])
  expect(directory.find('evm', 'ours')).toBe(OURS)
  expect(directory.find('stellar', 'ours')).toBeUndefined()
})

test('urls that a caller gave take the place of its own, and the others stay the same object', () => {
  const directory = open(OURS)
  const given = {
    type: 'evm',
    name: 'known',
    rpcUrls: urls('http://given'),
    insteadOf: directory.insteadOf('evm', 'known'),
  } as const
  directory.update({ untrusted: [given], untrustedPrivate: [], resets: [] })
  const changed = directory.find('evm', 'known')
  expect(changed).toEqual({ ...KNOWN, rpcUrls: given.rpcUrls })
  directory.update({ untrusted: [given], untrustedPrivate: [], resets: [] })
  expect(directory.find('evm', 'known')).toBe(changed)
  expect(directory.find('evm', 'ours')).toBe(OURS)
  directory.update({ untrusted: [], untrustedPrivate: [], resets: [] })
  expect(directory.find('evm', 'known')).toBe(KNOWN)
})

test('given urls count no more when the configuration has others than they were given for', () => {
  const before = open(OURS)
  const given = {
    type: 'evm',
    name: 'ours',
    rpcUrls: urls('http://given'),
    insteadOf: before.insteadOf('evm', 'ours'),
  } as const
  const now = { ...OURS, rpcUrls: urls('http://moved') }
  const directory = open(now)
  directory.update({ untrusted: [given], untrustedPrivate: [], resets: [] })
  expect(directory.find('evm', 'ours')).toBe(now)
})

test('a reset of its chain makes a network another object, once', () => {
  const directory = open(OURS)
  const resets = [{ type: 'evm', name: 'ours', resets: 1 }] as const
  directory.update({ untrusted: [], untrustedPrivate: [], resets })
  const changed = directory.find('evm', 'ours')
  expect(changed).toEqual(OURS)
  expect(changed).not.toBe(OURS)
  directory.update({ untrusted: [], untrustedPrivate: [], resets })
  expect(directory.find('evm', 'ours')).toBe(changed)
  expect(directory.find('evm', 'known')).toBe(KNOWN)
})
