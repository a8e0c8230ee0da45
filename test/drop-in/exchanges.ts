import { address } from '@solana/kit'
import { Account, Asset, Operation, TransactionBuilder } from '@stellar/stellar-sdk'
import { signContent, transfer, walletOf } from '../../simulators/solana/wallet.ts'
import { AS_PAYER, SELF } from '../chains/solana/build.ts'
import { type EveryKind, FEE_MINT } from '../support/every-kind.ts'
import { SOL, RECEIVER as SOLANA_TO, seedOf } from '../support/solana-scenario.ts'
import { keypairOf, MAIN as STELLAR_KEY } from '../support/stellar-scenario.ts'
import type { Shape } from './shape.ts'

const USER = walletOf(seedOf('sponsored user'))
const STELLAR_USER = keypairOf('sponsored user')

/** A transfer that the user's wallet has made, with the user as the fee payer. */
function userTransfer({ solana }: EveryKind): string {
  solana.airdrop(USER.address, SOL)
  const { blockhash } = solana.blocks.at(-2) ?? { blockhash: '' }
  const steps = [transfer(USER.address, address(SOLANA_TO), SOL / 100n)]
  return signContent({ signers: [USER], blockhash, steps }).base64
}

function userPayment({ ledger }: EveryKind): string {
  ledger.fund(STELLAR_USER.publicKey(), 10_000_000n)
  return new TransactionBuilder(new Account(STELLAR_USER.publicKey(), '1'), {
    fee: '100',
    networkPassphrase: ledger.passphrase,
  })
    .addOperation(
      Operation.payment({ destination: STELLAR_KEY.publicKey(), asset: Asset.native(), amount: '1' }),
    )
    .setTimeout(0)
    .build()
    .toXDR()
}

/** One call as clients of OpenZeppelin Relayer make it, and what they read of the answer. */
export interface Exchange {
  readonly operation: string
  /** What tells it apart from others of the same operation. */
  readonly about?: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below `/api/v1`. `{sent}` is a transaction of relayer `main` that waits. */
  readonly path: string
  readonly body?: object | ((world: EveryKind) => object)
  /** OpenZeppelin Relayer's success code. */
  readonly status?: 200 | 201
  readonly data: Shape
  readonly list?: true
}

const RELAYER: Shape = {
  id: 'string',
  name: 'string',
  network: 'string',
  network_type: 'string',
  paused: 'boolean',
  signer_id: 'string',
  address: 'string',
  system_disabled: 'boolean',
  notification_id: 'string?',
  policies: 'object?',
}

const NOTIFICATION: Shape = { id: 'string', type: '=webhook', url: 'string', has_signing_key: 'boolean' }

const SIGNER: Shape = { id: 'string', type: 'string', config: 'object' }

const NETWORK: Shape = {
  id: 'string',
  name: 'string',
  network_type: 'string',
  rpc_urls: [{ url: 'string', weight: 'integer' }],
  is_testnet: 'boolean',
  average_blocktime_ms: 'integer?',
  chain_id: 'integer?',
  required_confirmations: 'integer?',
  symbol: 'string?',
}

const PLUGIN: Shape = {
  id: 'string',
  path: 'string',
  timeout: 'integer',
  emit_logs: 'boolean',
  emit_traces: 'boolean',
  raw_response: 'boolean',
  allow_get_invocation: 'boolean',
  forward_logs: 'boolean',
  config: 'object?',
}

const EVM_TRANSACTION: Shape = {
  id: 'string',
  relayer_id: 'string',
  status: 'string',
  status_reason: 'string?',
  created_at: 'string',
  sent_at: 'string?',
  confirmed_at: 'string?',
  from: 'string',
  to: 'string?',
  value: 'string',
  data: 'string?',
  hash: 'string?',
  nonce: 'integer?',
  gas_limit: 'integer?',
  gas_price: 'string?',
  max_fee_per_gas: 'string?',
  max_priority_fee_per_gas: 'string?',
}

const STELLAR_TRANSACTION: Shape = {
  id: 'string',
  relayer_id: 'string',
  status: 'string',
  created_at: 'string',
  source_account: 'string',
  fee: 'integer?',
  sequence_number: 'string?',
  hash: 'string?',
}

const SOLANA_TRANSACTION: Shape = {
  id: 'string',
  relayer_id: 'string',
  status: 'string',
  created_at: 'string',
  transaction: 'string?',
}

const SIGNATURE: Shape = { r: 'string', s: 'string', sig: 'string', v: 'integer' }

const EVM_TO = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const STELLAR_TO = 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ'
const HASH = `0x${'ab'.repeat(32)}`

/** In an order in which each finds what it needs. */
export const EXCHANGES: readonly Exchange[] = [
  { operation: 'listPlugins', method: 'GET', path: '/plugins', data: [PLUGIN], list: true },
  { operation: 'getPlugin', method: 'GET', path: '/plugins/echo', data: PLUGIN },
  { operation: 'updatePlugin', method: 'PATCH', path: '/plugins/echo', body: { timeout: 60 }, data: PLUGIN },
  {
    operation: 'callPlugin',
    method: 'POST',
    path: '/plugins/echo/call?route=%2Fkv',
    body: { params: { n: 1 } },
    data: { removed: 'boolean', left: 'integer' },
  },
  {
    operation: 'callPluginGet',
    method: 'GET',
    path: '/plugins/echo/call',
    data: { method: '=GET', params: 'object' },
  },
  {
    operation: 'listRelayers',
    method: 'GET',
    path: '/relayers?page=1&per_page=10',
    data: [RELAYER],
    list: true,
  },
  { operation: 'getRelayer', method: 'GET', path: '/relayers/main', data: RELAYER },
  {
    operation: 'createSigner',
    method: 'POST',
    path: '/signers',
    body: { id: 'made-signer', type: 'plain', config: { key: '11'.repeat(32) } },
    status: 201,
    data: { ...SIGNER, id: '=made-signer', type: '=local' },
  },
  {
    operation: 'listSigners',
    method: 'GET',
    path: '/signers?page=1&per_page=10',
    data: [SIGNER],
    list: true,
  },
  { operation: 'getSigner', method: 'GET', path: '/signers/made-signer', data: SIGNER },
  {
    operation: 'createNotification',
    method: 'POST',
    path: '/notifications',
    body: {
      id: 'made-notification',
      type: 'webhook',
      url: 'https://example.com/hook',
      signing_key: 'a-signing-key-of-thirty-two-characters',
    },
    status: 201,
    data: { ...NOTIFICATION, id: '=made-notification' },
  },
  {
    operation: 'listNotifications',
    method: 'GET',
    path: '/notifications?page=1&per_page=10',
    data: [NOTIFICATION],
    list: true,
  },
  {
    operation: 'getNotification',
    method: 'GET',
    path: '/notifications/made-notification',
    data: NOTIFICATION,
  },
  {
    operation: 'updateNotification',
    method: 'PATCH',
    path: '/notifications/made-notification',
    body: { url: 'https://example.com/other', signing_key: '' },
    data: NOTIFICATION,
  },
  {
    operation: 'listNetworks',
    method: 'GET',
    path: '/networks?page=1&per_page=100',
    data: [NETWORK],
    list: true,
  },
  {
    operation: 'getNetwork',
    method: 'GET',
    path: '/networks/evm:sepolia',
    data: { ...NETWORK, chain_id: 'integer' },
  },
  {
    operation: 'updateNetwork',
    method: 'PATCH',
    path: '/networks/evm:hoodi',
    body: { rpc_urls: [{ url: 'https://rpc.example/v1/key', weight: 100 }, 'https://other.example'] },
    data: NETWORK,
  },
  {
    operation: 'createRelayer',
    method: 'POST',
    path: '/relayers',
    body: {
      id: 'made-relayer',
      name: 'Made',
      network: 'anvil',
      paused: false,
      network_type: 'evm',
      signer_id: 'made-signer',
      notification_id: 'made-notification',
      policies: {
        gas_price_cap: 100000000000,
        min_balance: 0,
        eip1559_pricing: true,
        gas_limit_estimation: true,
        whitelist_receivers: [EVM_TO],
        private_transactions: false,
      },
    },
    status: 201,
    data: { ...RELAYER, id: '=made-relayer', policies: 'object' },
  },
  {
    operation: 'updateRelayer',
    method: 'PATCH',
    path: '/relayers/made-relayer',
    body: { name: 'Renamed', policies: { gas_price_cap: null }, notification_id: null },
    data: { ...RELAYER, name: '=Renamed' },
  },
  {
    operation: 'updateRelayer',
    about: 'pause',
    method: 'PATCH',
    path: '/relayers/made-relayer',
    body: { paused: true },
    data: RELAYER,
  },
  {
    operation: 'getRelayerStatus',
    about: 'evm',
    method: 'GET',
    path: '/relayers/main/status',
    data: {
      network_type: '=evm',
      balance: 'string',
      nonce: 'string',
      pending_transactions_count: 'integer',
      oldest_pending_transaction_timestamp: 'string?',
      last_confirmed_transaction_timestamp: 'string?',
      system_disabled: 'boolean',
      paused: 'boolean',
    },
  },
  {
    operation: 'getRelayerStatus',
    about: 'stellar',
    method: 'GET',
    path: '/relayers/stellar/status',
    data: {
      network_type: '=stellar',
      balance: 'string',
      sequence_number: 'string',
      pending_transactions_count: 'integer',
      system_disabled: 'boolean',
      paused: 'boolean',
    },
  },
  {
    operation: 'getRelayerStatus',
    about: 'solana',
    method: 'GET',
    path: '/relayers/solana/status',
    data: {
      network_type: '=solana',
      balance: 'string',
      pending_transactions_count: 'integer',
      system_disabled: 'boolean',
      paused: 'boolean',
    },
  },
  {
    operation: 'getRelayerBalance',
    about: 'evm',
    method: 'GET',
    path: '/relayers/main/balance',
    data: { balance: 'integer', unit: '=wei' },
  },
  {
    operation: 'getRelayerBalance',
    about: 'stellar',
    method: 'GET',
    path: '/relayers/stellar/balance',
    data: { balance: 'integer', unit: '=stroop' },
  },
  {
    operation: 'getRelayerBalance',
    about: 'solana',
    method: 'GET',
    path: '/relayers/solana/balance',
    data: { balance: 'integer', unit: '=lamport' },
  },
  {
    operation: 'sendTransaction',
    about: 'evm by speed',
    method: 'POST',
    path: '/relayers/main/transactions',
    body: { to: EVM_TO, value: 1, data: '0x', gas_limit: 21000, speed: 'fast' },
    data: { ...EVM_TRANSACTION, status: '=pending' },
  },
  {
    operation: 'sendTransaction',
    about: 'evm legacy',
    method: 'POST',
    path: '/relayers/main/transactions',
    body: { to: EVM_TO, value: 1, data: '0x', gas_limit: 21000, gas_price: 20000000000 },
    data: EVM_TRANSACTION,
  },
  {
    operation: 'sendTransaction',
    about: 'evm EIP-1559',
    method: 'POST',
    path: '/relayers/main/transactions',
    body: {
      to: EVM_TO,
      value: 1,
      data: '0x',
      gas_limit: 21000,
      max_fee_per_gas: 30000000000,
      max_priority_fee_per_gas: 20000000000,
    },
    data: EVM_TRANSACTION,
  },
  {
    operation: 'sendTransaction',
    about: 'evm, value in hexadecimal',
    method: 'POST',
    path: '/relayers/main/transactions',
    body: { to: EVM_TO, value: '0x1', data: '0x', gas_limit: 21000, speed: 'fast' },
    data: EVM_TRANSACTION,
  },
  {
    operation: 'sendTransaction',
    about: 'stellar payment',
    method: 'POST',
    path: '/relayers/stellar/transactions',
    body: {
      network: 'standalone',
      operations: [{ type: 'create_account', destination: STELLAR_TO, starting_balance: '100000000' }],
      memo: { type: 'text', value: 'hello' },
      valid_until: '2099-01-01T00:00:00Z',
    },
    data: STELLAR_TRANSACTION,
  },
  {
    operation: 'sendTransaction',
    about: 'solana instructions',
    method: 'POST',
    path: '/relayers/solana/transactions',
    body: {
      instructions: [
        {
          program_id: 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
          accounts: [],
          data: 'aGVsbG8=',
        },
      ],
    },
    data: SOLANA_TRANSACTION,
  },
  {
    operation: 'listTransactions',
    about: 'with the slash of the SDK',
    method: 'GET',
    path: '/relayers/main/transactions/?page=1&per_page=10',
    data: [EVM_TRANSACTION],
    list: true,
  },
  {
    operation: 'listTransactions',
    about: 'by status',
    method: 'GET',
    path: '/relayers/main/transactions?status=Submitted',
    data: [EVM_TRANSACTION],
    list: true,
  },
  {
    operation: 'getTransactionById',
    method: 'GET',
    path: '/relayers/main/transactions/{sent}',
    data: EVM_TRANSACTION,
  },
  {
    operation: 'getTransactionByNonce',
    method: 'GET',
    path: '/relayers/main/transactions/by-nonce/0',
    data: EVM_TRANSACTION,
  },
  {
    operation: 'replaceTransaction',
    method: 'PUT',
    path: '/relayers/main/transactions/{sent}',
    body: { to: EVM_TO, value: 2, data: '0x', gas_limit: 21000, speed: 'fastest' },
    data: EVM_TRANSACTION,
  },
  {
    operation: 'quoteSponsoredTransaction',
    about: 'on Stellar',
    method: 'POST',
    path: '/relayers/stellar/transactions/sponsored/quote',
    body: (world) => ({ transaction_xdr: userPayment(world), fee_token: 'native' }),
    data: { fee_in_token: 'string', fee_in_token_ui: 'string', conversion_rate: 'string' },
  },
  {
    operation: 'buildSponsoredTransaction',
    about: 'on Stellar',
    method: 'POST',
    path: '/relayers/stellar/transactions/sponsored/build',
    body: (world) => ({ transaction_xdr: userPayment(world), fee_token: 'native' }),
    data: {
      transaction: 'string',
      fee_in_token: 'string',
      fee_in_token_ui: 'string',
      fee_in_stroops: 'string',
      fee_token: 'string',
      valid_until: 'string',
    },
  },
  {
    operation: 'quoteSponsoredTransaction',
    about: 'on Solana',
    method: 'POST',
    path: '/relayers/solana/transactions/sponsored/quote',
    body: (world) => ({ transaction: userTransfer(world), fee_token: FEE_MINT }),
    data: { estimated_fee: 'string', conversion_rate: 'string' },
  },
  {
    operation: 'buildSponsoredTransaction',
    about: 'on Solana',
    method: 'POST',
    path: '/relayers/solana/transactions/sponsored/build',
    body: (world) => ({ transaction: userTransfer(world), fee_token: FEE_MINT }),
    data: {
      transaction: 'string',
      fee_in_spl: 'string',
      fee_in_lamports: 'string',
      fee_token: 'string',
      valid_until_blockheight: 'integer',
    },
  },
  {
    operation: 'cancelTransaction',
    method: 'DELETE',
    path: '/relayers/main/transactions/{sent}',
    data: EVM_TRANSACTION,
  },
  {
    operation: 'deletePendingTransactions',
    method: 'DELETE',
    path: '/relayers/main/transactions/pending',
    data: {
      queued_for_cancellation_transaction_ids: ['string'],
      failed_to_queue_transaction_ids: ['string'],
      total_processed: 'integer',
    },
  },
  {
    operation: 'signMessage',
    method: 'POST',
    path: '/relayers/main/sign',
    body: { message: 'hello' },
    data: SIGNATURE,
  },
  {
    operation: 'signTypedData',
    method: 'POST',
    path: '/relayers/main/sign-typed-data',
    body: { domain_separator: HASH, hash_struct_message: HASH },
    data: SIGNATURE,
  },
  {
    operation: 'signTransaction',
    about: 'stellar',
    method: 'POST',
    path: '/relayers/stellar/sign-transaction',
    body: ({ ledger: { passphrase } }) => ({ unsigned_xdr: unsignedPayment(passphrase) }),
    data: { signedXdr: 'string', signature: 'string' },
  },
  {
    operation: 'signTransaction',
    about: 'solana',
    method: 'POST',
    path: '/relayers/solana/sign-transaction',
    body: ({ solana }) => ({ transaction: unsignedTransfer(solana.blocks.at(-1)?.blockhash ?? '') }),
    data: { transaction: 'string', signature: 'string' },
  },
  {
    operation: 'deleteRelayer',
    method: 'DELETE',
    path: '/relayers/made-relayer',
    data: '=Relayer deleted successfully',
  },
  {
    operation: 'deleteSigner',
    method: 'DELETE',
    path: '/signers/made-signer',
    data: '=Signer deleted successfully',
  },
  {
    operation: 'deleteNotification',
    method: 'DELETE',
    path: '/notifications/made-notification',
    data: '=Notification deleted successfully',
  },
]

function unsignedPayment(networkPassphrase: string): string {
  const source = new Account(STELLAR_KEY.publicKey(), '1')
  return new TransactionBuilder(source, { fee: '100', networkPassphrase })
    .addOperation(Operation.payment({ destination: STELLAR_TO, asset: Asset.native(), amount: '1' }))
    .setTimeout(60)
    .build()
    .toXDR()
}

/** With zeros in the place of the relayer's signature. */
function unsignedTransfer(blockhash: string): string {
  const steps = [transfer(SELF, address(SOLANA_TO), SOL)]
  return signContent({ signers: [AS_PAYER], blockhash, steps }).base64
}
