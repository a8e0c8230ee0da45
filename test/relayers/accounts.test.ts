import { describe, expect, test } from 'vitest'
import { ConfigError } from '../../src/lib/fields.ts'
import type { Network } from '../../src/networks/network.ts'
import { configuredAccounts } from '../../src/relayers/accounts.ts'
import type { RelayerConfig } from '../../src/relayers/relayer.ts'
import { stellarAddress } from '../../src/signers/ed25519.ts'
import { createKey } from '../../src/signers/key.ts'
import { evmAddress } from '../../src/signers/secp256k1.ts'
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
