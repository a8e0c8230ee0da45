import { describe, expect, test } from 'vitest'
import type { RelayerConfig } from '../../src/relayers/relayer.ts'
import { findSharedKeys } from '../../src/relayers/shared-keys.ts'
import { createKey, createSeparateKey } from '../../src/signers/key.ts'

const SECRET = new Uint8Array(32).fill(7)
const OTHER = new Uint8Array(32).fill(8)

const KEYS = new Map([
  ['old', createKey('old', SECRET)],
  ['copy', createKey('copy', SECRET)],
  ['other', createKey('other', OTHER)],
  ['new', createSeparateKey('new', SECRET)],
])

const relayer = (id: string, networkType: 'evm' | 'solana', signerId: string): RelayerConfig => ({
  id,
  name: id,
  network: 'net',
  networkType,
  signerId,
  paused: false,
  policies: {},
})
const onStellar = (id: string, signerId: string, channels: readonly string[] = []): RelayerConfig => ({
  ...relayer(id, 'evm', signerId),
  networkType: 'stellar',
  policies: {},
  channels,
})

const shared = (...relayers: RelayerConfig[]) => findSharedKeys(relayers, async (id) => KEYS.get(id))

describe('a shared key', () => {
  test('is named once, with every signer, relayer and network type that uses it', async () => {
    expect(
      await shared(onStellar('a', 'old'), relayer('b', 'evm', 'copy'), relayer('c', 'evm', 'old')),
    ).toEqual([{ signers: ['old', 'copy'], relayers: ['a', 'b', 'c'], networkTypes: ['evm', 'stellar'] }])
  })

  test('can be the key of a channel account', async () => {
    expect(await shared(onStellar('a', 'other', ['old']), relayer('b', 'solana', 'old'))).toEqual([
      { signers: ['old'], relayers: ['a', 'b'], networkTypes: ['solana', 'stellar'] },
    ])
  })

  test('is none that serves one network type, has a key for each, or is missing', async () => {
    expect(await shared(relayer('a', 'evm', 'old'), relayer('b', 'evm', 'old'))).toEqual([])
    expect(await shared(relayer('a', 'evm', 'old'), relayer('b', 'solana', 'other'))).toEqual([])
    expect(await shared(onStellar('a', 'new'), relayer('b', 'solana', 'new'))).toEqual([])
    expect(await shared(onStellar('a', 'gone'), relayer('b', 'solana', 'gone'))).toEqual([])
  })
})
