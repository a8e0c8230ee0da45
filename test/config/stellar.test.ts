import { describe, expect, test } from 'vitest'
import { goodFile, load, problemsOf } from './fixture.ts'

const PASSPHRASE = 'Test SDF Network ; September 2015'

const plainSigner = (id: string) => ({
  id,
  type: 'plain',
  config: { key: { type: 'plain', value: '01'.repeat(32) } },
})

const network = (fields: object = {}) => ({
  type: 'stellar',
  network: 'testnet',
  passphrase: PASSPHRASE,
  is_testnet: true,
  rpc_urls: ['https://rpc.example'],
  ...fields,
})

const relayer = (fields: object = {}) => ({
  id: 'stellar-1',
  network: 'testnet',
  network_type: 'stellar',
  signer_id: 'dev',
  ...fields,
})

/** The good file, with a Stellar network and what a case adds. The EVM relayer has the same signer. */
function fileWith({
  relayers = [relayer()],
  networks = [network()],
}: Partial<Record<string, object[]>> = {}) {
  const file = goodFile()
  return {
    ...file,
    signers: [...file.signers, ...['one', 'two', 'three'].map(plainSigner)],
    relayers: [...file.relayers, ...relayers],
    networks: [...(file.networks as object[]), ...networks],
  }
}

describe('a Stellar network', () => {
  test('needs a passphrase and urls; what a ledger includes is final', () => {
    expect(load({ file: fileWith() }).networks[1]).toEqual({
      type: 'stellar',
      name: 'testnet',
      passphrase: PASSPHRASE,
      isTestnet: true,
      averageBlocktimeMs: 5_000,
      requiredConfirmations: 0,
      rpcUrls: [{ url: 'https://rpc.example', weight: 100 }],
    })
  })

  test('of an existing deployment is taken as it is', () => {
    const existing = network({
      average_blocktime_ms: 6_000,
      required_confirmations: 1,
      horizon_url: 'https://horizon.example',
      explorer_urls: ['https://explorer.example'],
      tags: ['x'],
    })
    expect(load({ file: fileWith({ networks: [existing] }) }).networks[1]).toMatchObject({
      averageBlocktimeMs: 6_000,
      requiredConfirmations: 0,
    })
  })

  test('may have the name of an EVM network', () => {
    const file = fileWith({
      networks: [network({ network: 'anvil' })],
      relayers: [relayer({ network: 'anvil' })],
    })
    expect(load({ file }).relayers.map(({ network: name, networkType }) => [name, networkType])).toEqual([
      ['anvil', 'evm'],
      ['anvil', 'stellar'],
    ])
  })

  test.each<[string, object[], string]>([
    [
      'has no passphrase',
      [network({ passphrase: undefined })],
      'networks[1].passphrase is missing: it must be a non-empty text',
    ],
    ['has no urls', [network({ rpc_urls: [] })], 'networks[1] has no usable URL in "rpc_urls"'],
    ['has a chain id', [network({ chain_id: 1 })], 'networks[1].chain_id is not known'],
    ['is there twice', [network(), network()], 'network "testnet" is defined more than once'],
  ])('that %s is refused', (_what, networks, problem) => {
    expect(problemsOf({ file: fileWith({ networks }) })).toEqual([problem])
  })
})

describe('a Stellar relayer', () => {
  test('has no policies and no channels unless it names them', () => {
    expect(load({ file: fileWith() }).relayers[1]).toEqual({
      id: 'stellar-1',
      name: 'stellar-1',
      network: 'testnet',
      networkType: 'stellar',
      signerId: 'dev',
      paused: false,
      policies: {},
    })
  })

  test('has exact amounts, and takes the policies of an existing deployment', () => {
    const policies = {
      min_balance: '9223372036854775807',
      max_fee: 1_000_000,
      timeout_seconds: 60,
      fee_payment_strategy: 'relayer',
      concurrent_transactions: true,
    }
    const file = fileWith({ relayers: [relayer({ policies })] })
    expect(load({ file }).relayers[1]?.policies).toEqual({
      minBalance: 2n ** 63n - 1n,
      maxFee: 1_000_000n,
      timeoutSeconds: 60,
      feePaymentStrategy: 'relayer',
    })
  })

  test.each([
    [0, 0],
    [100, 100],
    [
      ['one', 'two'],
      ['one', 'two'],
    ],
    [[], []],
  ])('may have channels: %j', (channels, want) => {
    expect(load({ file: fileWith({ relayers: [relayer({ channels })] }) }).relayers[1]).toMatchObject({
      channels: want,
    })
  })

  test.each<[string, object, string]>([
    [
      'more channels than are of use',
      { channels: 101 },
      'relayers[1].channels must be a whole number from 0 to 100',
    ],
    [
      'channels that are a text',
      { channels: 'one' },
      'relayers[1].channels must be a whole number from 0 to 100',
    ],
    [
      'a channel that is no id',
      { channels: ['one', 2] },
      'relayers[1].channels[1] must be an id of 1 to 100 letters, digits, ".", "_" or "-", not beginning with "."',
    ],
    [
      'a channel that no one signs for',
      { channels: ['onne'] },
      'relayer "stellar-1" refers to the signer "onne", which does not exist (did you mean "one"?)',
    ],
    [
      'a channel twice',
      { channels: ['one', 'two', 'one'] },
      'relayer "stellar-1" names the signer "one" more than once',
    ],
    [
      'itself as a channel',
      { channels: ['dev'] },
      'relayer "stellar-1" names the signer "dev" more than once',
    ],
    [
      'a fee beyond 64 bits',
      { policies: { max_fee: '9223372036854775808' } },
      'relayers[1].policies.max_fee must be a whole number of stroops or lamports from 0 to 2^63-1, also as a string',
    ],
    [
      'no time at all',
      { policies: { timeout_seconds: 0 } },
      'relayers[1].policies.timeout_seconds must be a whole number from 1 to 86400',
    ],
    [
      'fees that someone else pays',
      { policies: { fee_payment_strategy: 'nobody' } },
      'relayers[1].policies.fee_payment_strategy must be "user" or "relayer"',
    ],
    [
      'a policy of EVM',
      { policies: { gas_price_cap: 1 } },
      'relayers[1].policies.gas_price_cap is a policy of evm networks; this relayer is on one of type stellar',
    ],
    [
      'an EVM network',
      { network: 'anvil' },
      'relayer "stellar-1" refers to the stellar network "anvil", which does not exist; known are testnet, pubnet, futurenet, local',
    ],
  ])('with %s is refused', (_what, fields, problem) => {
    expect(problemsOf({ file: fileWith({ relayers: [relayer(fields)] }) })).toEqual([problem])
  })

  test('with more channels than are of use, one by one, is refused', () => {
    const channels = Array.from({ length: 101 }, (_, index) => `c${index}`)
    expect(problemsOf({ file: fileWith({ relayers: [relayer({ channels })] }) })).toContain(
      'relayers[1] has more than 100 "channels"',
    )
  })
})

test('only Stellar relayers have channels', () => {
  const file = goodFile()
  Object.assign(file.relayers[0] ?? {}, { channels: 2 })
  expect(problemsOf({ file })).toEqual(['relayers[0].channels is not known'])
})

describe('two relayers that would number the same account', () => {
  const two = (first: object, second: object) => [relayer(first), relayer({ id: 'stellar-2', ...second })]

  test.each<[string, object[], string]>([
    ['have the same signer', two({}, {}), 'dev'],
    [
      'lend from the same channel',
      two({ channels: ['one'] }, { signer_id: 'two', channels: ['one'] }),
      'one',
    ],
    ['are each the channel of the other', two({ channels: ['one'] }, { signer_id: 'one' }), 'one'],
  ])('are refused when they %s', (_what, relayers, signer) => {
    expect(problemsOf({ file: fileWith({ relayers }) })).toEqual([
      `relayers "stellar-1" and "stellar-2" are the same account: signer "${signer}" on "${PASSPHRASE}"`,
    ])
  })

  test('are refused when only the name of their network differs', () => {
    const file = fileWith({
      networks: [network(), network({ network: 'again' })],
      relayers: two({ channels: ['one'] }, { network: 'again', signer_id: 'one' }),
    })
    expect(problemsOf({ file })).toEqual([
      `relayers "stellar-1" and "stellar-2" are the same account: signer "one" on "${PASSPHRASE}"`,
    ])
  })

  test('are fine on networks with different passphrases', () => {
    const file = fileWith({
      networks: [network(), network({ network: 'mine', passphrase: 'Mine' })],
      relayers: two({ channels: ['one'] }, { network: 'mine', channels: ['one'] }),
    })
    expect(problemsOf({ file })).toEqual([])
  })
})
