import { describe, expect, test } from 'vitest'
import { goodFile, load, problemsOf } from './fixture.ts'

const NETWORK = { type: 'solana', network: 'mine', is_testnet: true, rpc_urls: ['https://s'] }
const PROGRAM = '11111111111111111111111111111111'

const RELAYER = {
  id: 'sol-1',
  name: 'Solana',
  network: 'mine',
  network_type: 'solana',
  paused: false,
  signer_id: 'dev',
}

/** A file whose only relayer is on Solana. */
function fileWith(relayer: object = {}, networks: object[] = [NETWORK]) {
  return { ...goodFile(), relayers: [{ ...RELAYER, ...relayer }], networks }
}

describe('a relayer on a Solana network', () => {
  test('needs no policies', () => {
    const { relayers, networks } = load({ file: fileWith() })
    expect(relayers).toMatchObject([{ networkType: 'solana', policies: {} }])
    expect(networks).toEqual([
      {
        type: 'solana',
        name: 'mine',
        isTestnet: true,
        averageBlocktimeMs: 400,
        requiredConfirmations: 0,
        rpcUrls: [{ url: 'https://s', weight: 100 }],
      },
    ])
  })

  test('takes all of them, and those of existing files that mean the same here', () => {
    const policies = {
      min_balance: 5_000,
      max_allowed_fee_lamports: '20000',
      allowed_programs: [PROGRAM],
      allowed_accounts: [],
      max_signatures: 2,
      max_tx_data_size: 1_000,
      fee_payer_spending: 'never',
      fee_payment_strategy: 'relayer',
    }
    const { relayers } = load({ file: fileWith({ policies }) })
    expect(relayers[0]?.policies).toEqual({
      minBalance: 5_000n,
      maxFee: 20_000n,
      allowedPrograms: [PROGRAM],
      allowedAccounts: [],
      maxSignatures: 2,
      maxDataSize: 1_000,
      feePayerSpending: 'never',
      feePaymentStrategy: 'relayer',
    })
  })

  test.each([
    [
      { fee_payment_strategy: 'nobody' },
      'relayers[0].policies.fee_payment_strategy must be "user" or "relayer"',
    ],
    [
      { allowed_accounts: [PROGRAM], disallowed_accounts: [PROGRAM] },
      'relayers[0].policies has both "allowed_accounts" and "disallowed_accounts"; one of the two decides',
    ],
    [
      { allowed_tokens: [{ mint: 'x' }] },
      'relayers[0].policies.allowed_tokens[0].mint must be an address: 32 bytes in base58',
    ],
    [
      { allowed_tokens: [{ mint: PROGRAM }, { mint: PROGRAM }] },
      `relayers[0].policies.allowed_tokens names ${PROGRAM} twice`,
    ],
    [
      { allowed_tokens: [{ mint: PROGRAM, price: { sources: [] } }] },
      'relayers[0].policies.allowed_tokens[0].price.sources must have one or two items',
    ],
    [
      { allowed_tokens: [{ mint: PROGRAM, price: { sources: [{ type: 'fixed', price: '-1' }] } }] },
      'relayers[0].policies.allowed_tokens[0].price.sources[0].price must be a positive number in decimal digits as a text, such as "148.25"',
    ],
    [
      { allowed_tokens: [{ mint: PROGRAM, price: { sources: [{ type: 'fixed', price: '1', url: 'x' }] } }] },
      'relayers[0].policies.allowed_tokens[0].price.sources[0].url is not known',
    ],
    [
      { allowed_tokens: [{ mint: PROGRAM, price: { sources: [{ type: 'guess', price: '1' }] } }] },
      'relayers[0].policies.allowed_tokens[0].price.sources[0].type must be "fixed", "oracle", "http", "jupiter" or "pyth"',
    ],
    [
      { allowed_tokens: [{ mint: PROGRAM, price: { sources: [{ type: 'jupiter' }] } }] },
      'relayers[0].policies.allowed_tokens[0].price.sources[0].url is missing: it must be an http:// or https:// url',
    ],
    [
      {
        allowed_tokens: [
          { mint: PROGRAM, price: { sources: [{ type: 'pyth', url: 'https://p', native: 'SOL' }] } },
        ],
      },
      'relayers[0].policies.allowed_tokens[0].price.sources[0].native must be the id of a price feed of Pyth: 64 hex digits',
    ],
    [
      { fee_payer_spending: 'sometimes' },
      'relayers[0].policies.fee_payer_spending must be "own" or "always" or "never" or "token_accounts"',
    ],
    [{ max_signatures: 20 }, 'relayers[0].policies.max_signatures must be a whole number from 1 to 19'],
    [
      { max_tx_data_size: 1_233 },
      'relayers[0].policies.max_tx_data_size must be a whole number from 1 to 1232',
    ],
    [
      { allowed_programs: ['0x00'] },
      'relayers[0].policies.allowed_programs[0] must be an address: 32 bytes in base58',
    ],
    [
      { gas_price_cap: 1 },
      'relayers[0].policies.gas_price_cap is a policy of evm networks; this relayer is on one of type solana',
    ],
  ])('is refused with %j', (policies, problem) => {
    expect(problemsOf({ file: fileWith({ policies }) })).toEqual([problem])
  })

  test.each([
    ['mainnet-beta', '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d'],
    ['devnet', 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG'],
    ['testnet', '4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY'],
  ])(
    'may name %s without describing it, and its endpoints have to serve just that',
    (network, genesisHash) => {
      const { networks } = load({ file: fileWith({ network }, []) })
      expect(networks).toMatchObject([{ type: 'solana', name: network, genesisHash }])
      // Described again, it is still that one.
      const described = load({ file: fileWith({ network }, [{ ...NETWORK, network }]) })
      expect(described.networks).toMatchObject([
        { genesisHash, rpcUrls: [{ url: 'https://s', weight: 100 }] },
      ])
    },
  )

  test('shares its account with no other on the same cluster', () => {
    const file = { ...fileWith(), relayers: [RELAYER, { ...RELAYER, id: 'sol-2' }] }
    expect(problemsOf({ file })).toEqual([
      'relayers "sol-1" and "sol-2" are the same account: signer "dev" on cluster mine',
    ])
  })
})
