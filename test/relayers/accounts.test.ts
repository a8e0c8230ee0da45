import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createEvmChain } from '../../src/chains/evm/evm-chain.ts'
import type { Database } from '../../src/database/db.ts'
import { ConfigError } from '../../src/lib/fields.ts'
import { systemClock } from '../../src/lib/time.ts'
import { createLogger } from '../../src/log.ts'
import { findGenesis } from '../../src/networks/chain-identity-store.ts'
import type { Network } from '../../src/networks/network.ts'
import { configuredAccounts } from '../../src/relayers/accounts/accounts.ts'
import { createChainResetDetector } from '../../src/relayers/chain-reset.ts'
import type { RelayerConfig } from '../../src/relayers/relayer.ts'
import { findSharedKeys } from '../../src/relayers/shared-keys.ts'
import { stellarAddress } from '../../src/signers/ed25519.ts'
import { createKey, createSeparateKey } from '../../src/signers/key.ts'
import { evmAddress } from '../../src/signers/secp256k1.ts'
import { startAnvil } from '../support/anvil.ts'
import { openTestDatabase } from '../support/database.ts'
import { SILENT_NETWORK } from '../transactions/stub-chain.ts'

/** `copy` is another name for the key of `one`. */
const KEYS = new Map(
  Object.entries({ one: 1, copy: 1, two: 2, three: 3 }).map(([id, byte]) => [
    id,
    createKey(id, new Uint8Array(32).fill(byte)),
  ]),
)
const keyOf = (id: string) => {
  const key = KEYS.get(id)
  if (!key) throw new Error(`there is no key ${id}`)
  return key
}
const accountOf = (id: string) => stellarAddress(keyOf(id).stellar.publicKey)

const PASSPHRASE = 'Test SDF Network ; September 2015'
const stellarNetwork = (name: string, passphrase = PASSPHRASE): Network => ({
  type: 'stellar',
  name,
  passphrase,
  isTestnet: true,
  averageBlocktimeMs: 5_000,
  requiredConfirmations: 0,
  rpcUrls: [],
})
const NETWORKS: readonly Network[] = [
  SILENT_NETWORK,
  { ...SILENT_NETWORK, name: 'again' },
  { ...SILENT_NETWORK, name: 'other', chainId: 1 },
  // The same name as the EVM network: names are unique within their type.
  stellarNetwork('testnet'),
  stellarNetwork('again'),
  stellarNetwork('mine', 'Mine'),
]

const shared = (id: string, signerId: string, network: string) => ({
  id,
  name: id,
  network,
  signerId,
  paused: false,
  policies: {},
})
const evm = (id: string, signerId: string, network = 'testnet'): RelayerConfig => ({
  ...shared(id, signerId, network),
  networkType: 'evm',
})
const stellar = (
  id: string,
  signerId: string,
  { network = 'testnet', channels = [] }: { network?: string; channels?: readonly string[] } = {},
): RelayerConfig => ({ ...shared(id, signerId, network), networkType: 'stellar', channels })

const accounts = (...relayers: RelayerConfig[]) =>
  configuredAccounts({ relayers, networks: [...NETWORKS] }, KEYS)

describe('the accounts of a relayer', () => {
  test('share no channel, because two accounts would assign its sequence numbers', async () => {
    const relayer = stellar('b', 'one', { channels: ['two'] })
    const sources = ['one', 'three'].map((signerId) => ({ signerId, count: 1 }))
    const { addresses, further } = (await accounts({ ...relayer, accounts: sources })).get('b') ?? {}
    expect(addresses).toEqual([accountOf('one'), accountOf('two')])
    expect(further).toMatchObject([{ address: accountOf('three'), channels: 0 }])
  })

  test('are those of its keys, as its network writes them', async () => {
    expect(await accounts(evm('a', 'one'), stellar('b', 'one', { channels: ['two'] }))).toEqual(
      new Map([
        ['a', { chain: 'chain id 31337', addresses: [evmAddress(keyOf('one').evm.publicKey)] }],
        ['b', { chain: `"${PASSPHRASE}"`, addresses: [accountOf('one'), accountOf('two')] }],
      ]),
    )
  })

  test.each<[string, RelayerConfig[]]>([
    ['chain ids', [evm('a', 'one'), evm('b', 'one', 'other')]],
    ['passphrases', [stellar('a', 'one'), stellar('b', 'two', { network: 'mine', channels: ['copy'] })]],
  ])('may be those of another on networks with different %s', async (_what, relayers) => {
    expect((await accounts(...relayers)).size).toBe(2)
  })
})

describe('an account that would be worked twice is told, whatever its signer and its network are called', () => {
  const onTestnet = (id: string) => `${accountOf(id)} on "${PASSPHRASE}"`

  test.each<[string, RelayerConfig[], string]>([
    [
      'two EVM relayers',
      [evm('a', 'one'), evm('b', 'copy', 'again')],
      `relayers "a" and "b" are the same account: ${evmAddress(keyOf('one').evm.publicKey)} on chain id 31337`,
    ],
    [
      'two Stellar relayers',
      [stellar('a', 'one'), stellar('b', 'copy', { network: 'again' })],
      `relayers "a" and "b" are the same account: ${onTestnet('one')}`,
    ],
    [
      'a relayer and the channel of another',
      [stellar('a', 'one'), stellar('b', 'two', { channels: ['three', 'copy'] })],
      `relayers "a" and "b" are the same account: ${onTestnet('one')}`,
    ],
    [
      'the channels of two',
      [stellar('a', 'two', { channels: ['one'] }), stellar('b', 'three', { channels: ['copy'] })],
      `relayers "a" and "b" are the same account: ${onTestnet('one')}`,
    ],
    [
      'a relayer and its own channel',
      [stellar('a', 'one', { channels: ['copy'] })],
      `relayer "a" has the same account more than once: ${onTestnet('one')}`,
    ],
  ])('%s', async (_what, relayers, problem) => {
    await expect(accounts(...relayers)).rejects.toThrow(new ConfigError([problem]))
  })
})

describe('a chain that was reset', () => {
  let database: Database
  beforeAll(async () => {
    database = await openTestDatabase()
  })
  afterAll(() => database.close())

  /** Looks at a network whose endpoint serves the chain with this id, and returns the first block that is remembered for it afterwards. */
  async function rememberedAfterLookAt(served: string): Promise<string | undefined> {
    const anvil = await startAnvil({ args: ['--chain-id', served] })
    onTestFinished(() => anvil.stop())
    const network = { ...SILENT_NETWORK, chainId: 31_337, rpcUrls: [{ url: anvil.url, weight: 100 }] }
    const log = createLogger({ level: 'silent' })
    const chain = createEvmChain({ network, rpcTimeoutMs: 5_000, clock: systemClock, log })
    const detector = createChainResetDetector({
      db: database.db,
      clock: systemClock,
      networks: { find: () => network },
    })
    expect(await detector.find(chain, network)).toBe(undefined)
    return findGenesis(database.db, network)
  }

  test('the first block of another chain is never remembered', async () => {
    expect(await rememberedAfterLookAt('31338')).toBe(undefined)
    expect(await rememberedAfterLookAt('31337')).toMatch(/^0x[0-9a-f]{64}$/)
  })
})

describe('a shared key', () => {
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
})
