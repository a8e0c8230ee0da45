import { address } from '@solana/kit'
import type { KoraClient } from '@solana/kora/dist/src/client.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BlockEngine, startBlockEngine } from '../../../simulators/solana/block-engine.ts'
import { TOKEN_PROGRAM } from '../../../simulators/solana/runtime/programs.ts'
import { transfer } from '../../../simulators/solana/wallet.ts'
import { broadcastDirectly } from '../../support/solana-scenario.ts'
import { KORA_KEY, type Paymaster, startPaymaster, USDC, type User } from './paymaster.ts'

// What the integration tests of Kora's TypeScript client expect of a server, with the client of npm: a user transfers USDC to the payment
// address, once without and once with a fixed set of credentials, once for free.

const SECRET = 'a-secret-of-hmac-456'

let paymaster: Paymaster
let engine: BlockEngine
let client: KoraClient
let user: User
beforeAll(async () => {
  const credentials = { api_keys_env: 'KORA_KEYS', hmac: { secrets_env: 'KORA_HMAC' } }
  paymaster = await startPaymaster({
    plugins: {
      kora: { config: { bundles: { block_engine_url_env: 'ENGINE' } }, more: { env: ['ENGINE'] } },
      free: { config: { price: 'free' } },
      keyed: {
        config: credentials,
        more: {
          env: ['KORA_KEYS', 'KORA_HMAC'],
          raw_body: true,
          forward_headers: ['x-api-key', 'x-timestamp', 'x-hmac-signature'],
        },
      },
    },
    env: { KORA_HMAC: `app:${SECRET}` },
    envOf: async (solana) => {
      engine = await startBlockEngine(solana)
      return { ENGINE: engine.url }
    },
  })
  client = paymaster.client()
  user = await paymaster.user()
}, 120_000)
afterAll(async () => {
  await paymaster?.stop()
  engine?.stop()
})

/** A transfer of USDC to the payment address, as their helper builds it; the user has signed it. */
const paying = (amount: bigint) => paymaster.transaction(user, [user.pay(amount)])

/** The same without the signature of the user. */
function unsigned(transaction: string): string {
  const bytes = Buffer.from(transaction, 'base64')
  bytes.fill(0, 1, 129)
  return bytes.toString('base64')
}

describe('the configuration', () => {
  test('has every field that the client reads', async () => {
    const { fee_payers, validation_config: validation, enabled_methods: methods } = await client.getConfig()
    expect(fee_payers.length).toBeGreaterThan(0)
    const names = [
      'allowed_programs',
      'allowed_tokens',
      'max_allowed_lamports',
      'max_signatures',
      'price_source',
    ]
    for (const name of [...names, 'price.type', 'token2022.blocked_mint_extensions'])
      expect(validation).toHaveProperty(name)
    const { system, spl_token, token_2022 } = validation.fee_payer_policy
    for (const name of ['transfer', 'assign', 'create_account', 'allocate'])
      expect(system).toHaveProperty(`allow_${name}`, false)
    for (const name of ['initialize', 'advance', 'authorize', 'withdraw'])
      expect(system.nonce).toHaveProperty(`allow_${name}`, false)
    const kinds =
      'transfer burn close_account approve revoke set_authority mint_to freeze_account thaw_account'
    for (const name of kinds.split(' ')) {
      expect(spl_token).toHaveProperty(`allow_${name}`, false)
      expect(token_2022).toHaveProperty(`allow_${name}`, false)
    }
    const switches =
      'liveness estimate_transaction_fee get_supported_tokens sign_transaction sign_and_send_transaction get_blockhash get_config get_version'
    for (const name of switches.split(' ')) expect(methods).toHaveProperty(name, true)
  })

  test('has the payer, the tokens, a blockhash and a version', async () => {
    expect(await client.getPayerSigner()).toEqual({
      signer_address: expect.any(String),
      payment_address: expect.any(String),
    })
    expect((await client.getSupportedTokens()).tokens).toContain(USDC)
    expect((await client.getBlockhash()).blockhash).toMatch(/^[1-9A-HJ-NP-Za-km-z]{43,44}$/)
    const { result } = await paymaster.call('getVersion', undefined)
    expect(result?.version).toMatch(/^\d+\.\d+\.\d+/)
  })
})

describe('a transfer to the payment address', () => {
  test('has a fee in lamports and in the token', async () => {
    const fee = await client.estimateTransactionFee({ transaction: paying(1_000_000n), fee_token: USDC })
    expect(fee.fee_in_lamports).toBeGreaterThan(0)
    expect(fee.fee_in_token).toBeGreaterThan(0)
  })

  test('is signed before the user has signed it, and can be sent when he has', async () => {
    const transaction = paying(1_000_000n)
    const { signed_transaction } = await client.signTransaction({ transaction: unsigned(transaction) })
    const bytes = Buffer.from(signed_transaction, 'base64')
    bytes.set(Buffer.from(transaction, 'base64').subarray(65, 129), 65)
    const before = await paymaster.balance(paymaster.relayer)
    await broadcastDirectly(paymaster.solana, bytes.toString('base64'))
    await expect.poll(() => paymaster.balance(paymaster.relayer)).toBe(before + 1_000_000n)
  })

  test('is signed and sent', async () => {
    const sent = await client.signAndSendTransaction({ transaction: paying(1_000_001n) })
    expect(sent).toMatchObject({ signed_transaction: expect.any(String), signature: expect.any(String) })
    expect(paymaster.solana.included(sent.signature)).toBeDefined()
  })

  test('gets an instruction that pays', async () => {
    const transaction = paying(1_000_000n)
    const paid = await client.getPaymentInstruction({
      transaction,
      fee_token: USDC,
      source_wallet: user.address,
    })
    const { payment_instruction: instruction } = paid
    expect(instruction.programAddress).toBe(TOKEN_PROGRAM)
    expect(instruction.accounts?.map((one) => one.address)).toEqual([
      user.tokens,
      paymaster.paid,
      user.address,
    ])
    expect(paid).toMatchObject({
      payment_token: USDC,
      payment_address: paymaster.relayer,
      signer_address: paymaster.relayer,
      original_transaction: transaction,
    })
  })

  test('is signed and sent for free where the price is free', async () => {
    const gratis = paymaster.client('free')
    const sent = await gratis.signAndSendTransaction({ transaction: paying(500_000n) })
    expect(paymaster.solana.included(sent.signature)).toBeDefined()
  })
})

describe('a bundle of two such transfers', () => {
  test('is signed', async () => {
    const transactions = [paying(1_000_002n), paying(500_000n)]
    const { result } = await paymaster.call('signBundle', { transactions })
    expect(result).toMatchObject({
      signed_transactions: [expect.any(String), expect.any(String)],
      signer_pubkey: paymaster.relayer,
    })
  })

  test('is signed and handed over, with a tip', async () => {
    paymaster.solana.airdrop(user.address, 10_000_000n)
    const tip = transfer(user.address, address(engine.tipAccounts[0] ?? ''), 10_000n)
    const transactions = [paymaster.transaction(user, [user.pay(1_000_003n), tip]), paying(500_001n)]
    const { result } = await paymaster.call('signAndSendBundle', { transactions })
    expect(result).toMatchObject({
      signed_transactions: [expect.any(String), expect.any(String)],
      signer_pubkey: paymaster.relayer,
      bundle_uuid: expect.any(String),
    })
  })
})

describe('what is wrong', () => {
  test.each(['signTransaction', 'estimateTransactionFee'] as const)('is refused by %s', async (method) => {
    const request = { transaction: 'invalid_transaction', fee_token: USDC }
    await expect(client[method](request)).rejects.toThrow(/^RPC Error -32000: /)
  })

  test.each([
    ['a token that is none', { token: 'InvalidTokenAddress' }],
    ['an amount below zero', { amount: -1 }],
    ['a mint of another network', { token: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' }],
  ])('is refused by transferTransaction: %s', async (_, wrong) => {
    const request = { amount: 1, token: USDC, source: user.address, destination: paymaster.relayer, ...wrong }
    await expect(client.transferTransaction(request)).rejects.toThrow(/^RPC Error -32/)
  })
})

describe('credentials', () => {
  test('are needed, both and right', async () => {
    const clientOf = (apiKey: string | undefined, hmacSecret: string | undefined) =>
      paymaster.client('keyed', apiKey, hmacSecret)
    expect((await clientOf(KORA_KEY, SECRET).getConfig()).fee_payers).toHaveLength(1)
    for (const [key, secret] of [
      ['WRONG-API-KEY', undefined],
      [undefined, 'WRONG-HMAC-SECRET'],
      ['WRONG-API-KEY', 'WRONG-HMAC-SECRET'],
      [undefined, undefined],
    ])
      await expect(clientOf(key, secret).getConfig()).rejects.toThrow('RPC Error -32032')
  })
})
