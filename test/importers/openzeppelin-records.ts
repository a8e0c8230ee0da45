/** A secret of a record: JSON with a nonce and a ciphertext, in base64. */
export const SEALED = Buffer.from(
  '{"nonce":"AAAAAAAAAAAAAAAA","ciphertext":"c2VjcmV0LXRleHQ=","version":1}',
).toString('base64')

/** A secret that a person typed into the file. */
export const TYPED_SECRET = 'typed-into-the-file'

/** A configuration file as OpenZeppelin Relayer takes it. */
export const OPENZEPPELIN_FILE = {
  relayers: [
    {
      id: 'sepolia-example',
      name: 'Sepolia Example',
      network: 'sepolia',
      paused: false,
      notification_id: 'hooks',
      signer_id: 'local-signer',
      network_type: 'evm',
      policies: { min_balance: 0, include_revert_data: true },
    },
    {
      id: 'sponsored',
      name: 'Sponsored',
      network: 'devnet',
      paused: false,
      signer_id: 'local-signer',
      network_type: 'solana',
      policies: {
        fee_payment_strategy: 'user',
        allowed_tokens: [
          { mint: 'So11111111111111111111111111111111111111112', decimals: 9, max_allowed_fee: null },
        ],
      },
    },
    { id: 'night', name: 'Night', network: 'testnet', signer_id: 'local-signer', network_type: 'midnight' },
  ],
  signers: [
    {
      id: 'local-signer',
      type: 'local',
      config: { path: 'config/keys/local.json', passphrase: { type: 'env', value: 'KEYSTORE_PASSPHRASE' } },
    },
    {
      id: 'plain-pass',
      type: 'local',
      config: { path: 'config/keys/other.json', passphrase: { type: 'plain', value: TYPED_SECRET } },
    },
  ],
  notifications: [
    { id: 'hooks', type: 'webhook', url: 'https://hooks.example/hook-token', signing_key: null },
    { id: 'plain-hook', type: 'webhook', url: 'https://hook.example' },
  ],
  networks: [
    {
      type: 'evm',
      network: 'sepolia',
      chain_id: 11_155_111,
      symbol: 'ETH',
      is_testnet: true,
      features: ['eip1559'],
      average_blocktime_ms: 12_000,
      required_confirmations: 6,
      rpc_urls: ['https://sepolia.example/v3/infura-key'],
    },
  ],
  plugins: [{ id: 'channels', path: 'channels/index.ts' }],
}

interface StoredRecord {
  readonly kind: 'relayer' | 'signer' | 'notification' | 'network'
  readonly id: string
  readonly value: object
}

/** Records as its stores write them to Redis (`src/repositories/…_redis.rs`, `src/models/…/repository.rs`). */
export const OPENZEPPELIN_RECORDS: readonly StoredRecord[] = [
  {
    kind: 'relayer',
    id: 'sepolia-example',
    value: {
      id: 'sepolia-example',
      name: 'Sepolia Example',
      network: 'sepolia',
      paused: true,
      network_type: 'evm',
      signer_id: 'local-signer',
      policies: { network_type: 'evm', gas_price_cap: '340282366920938463463', min_balance: '7' },
      address: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
      notification_id: 'hooks',
      system_disabled: false,
      disabled_reason: null,
      custom_rpc_urls: null,
    },
  },
  {
    kind: 'relayer',
    id: 'treasury',
    value: {
      id: 'treasury',
      name: 'Treasury',
      network: 'mainnet',
      paused: false,
      network_type: 'evm',
      signer_id: 'treasury-kms',
      policies: { Evm: { eip1559_pricing: true, whitelist_receivers: null } },
      address: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
      notification_id: null,
      system_disabled: false,
      custom_rpc_urls: null,
    },
  },
  {
    kind: 'relayer',
    id: 'stars',
    value: {
      id: 'stars',
      name: 'Stars',
      network: 'testnet',
      paused: false,
      network_type: 'stellar',
      signer_id: 'made',
      policies: { network_type: 'stellar', max_fee: 1_000_000, fee_payment_strategy: 'relayer' },
      address: 'GA',
      notification_id: null,
      system_disabled: false,
    },
  },
  {
    kind: 'signer',
    id: 'treasury-kms',
    value: { id: 'treasury-kms', config: { AwsKms: { region: 'eu-central-1', key_id: 'alias/treasury' } } },
  },
  { kind: 'signer', id: 'made', value: { id: 'made', config: { Local: { raw_key: SEALED } } } },
  {
    kind: 'signer',
    id: 'vaulted',
    value: {
      id: 'vaulted',
      config: {
        VaultTransit: {
          key_name: 'hot',
          address: 'https://vault.example',
          namespace: null,
          role_id: SEALED,
          secret_id: SEALED,
          pubkey: 'J9eBkyLhwMLBTLL0OGTpSEJfYSVF4BUkVmTEHDRmGSM=',
          mount_point: null,
        },
      },
    },
  },
  {
    kind: 'notification',
    id: 'hooks',
    value: {
      id: 'hooks',
      notification_type: 'webhook',
      url: 'https://hooks.example/hook-token',
      signing_key: SEALED,
    },
  },
  {
    kind: 'network',
    id: 'evm:mainnet',
    value: {
      id: 'evm:mainnet',
      name: 'mainnet',
      network_type: 'evm',
      config: {
        Evm: {
          network: 'mainnet',
          from: null,
          rpc_urls: [
            { url: 'https://node.example', weight: 30 },
            { url: 'https://mainnet.example/v3/infura-key', weight: 100 },
            { url: 'https://mainnet.example/v3/second-key', weight: 100 },
          ],
          explorer_urls: ['https://etherscan.io'],
          average_blocktime_ms: 12_000,
          is_testnet: false,
          tags: null,
          chain_id: 1,
          required_confirmations: 12,
          features: ['eip1559'],
          symbol: 'ETH',
          gas_price_cache: null,
        },
      },
    },
  },
  {
    kind: 'network',
    id: 'evm:unused',
    value: {
      id: 'evm:unused',
      name: 'unused',
      network_type: 'evm',
      config: { Evm: { network: 'unused', rpc_urls: [{ url: 'https://unused.example', weight: 100 }] } },
    },
  },
]
