import { type Address, address, createKeyPairSignerFromPrivateKeyBytes, getAddressEncoder } from '@solana/kit'
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { ExactSvmScheme as PayerScheme } from '@x402/svm'
import { ExactSvmScheme as ShopScheme } from '@x402/svm/exact/server'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readSettings } from '../../../plugins/x402/config.ts'
import { settle, verify } from '../../../plugins/x402/facilitator.ts'
import { startSolana, type TestSolana } from '../../../simulators/solana/start-solana.ts'
import { associatedAddress, plantMint } from '../../../simulators/solana/tokens.ts'
import {
  createWallet,
  type Step,
  signContent,
  transfer,
  u64,
  unitLimit,
  unitPrice,
  type Wallet,
} from '../../../simulators/solana/wallet.ts'
import { AS_PAYER, SELF } from '../../chains/solana/build.ts'
import { type Service, startService } from '../../support/service.ts'
import { MAIN, SOL, seedOf, solanaConfig } from '../../support/solana-scenario.ts'
import { pluginEntry, untilReady } from './plugin-entry.ts'
import { startShop } from './shop.ts'
import {
  GENESIS,
  holdTokens,
  memo,
  SOLANA_NETWORK,
  solanaBody,
  TOKEN_PROGRAM,
  transferChecked,
} from './solana-payment.ts'
import { createWorld, type TestWorld } from './world.ts'

const TOKEN_2022_PROGRAM: Address = address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb')

const FUNDS = 1_000_000n
const AMOUNT = 10_000n
const merchant = createWallet().address
const mint = createWallet().address
const mint2022 = createWallet().address

let solana: TestSolana
let service: Service
let world: TestWorld

beforeAll(async () => {
  // A blockhash lasts 150 slots, half a minute: fifty payments at once take seconds, and more beside other tests.
  solana = await startSolana({ slotMs: 200, genesisHash: GENESIS })
  solana.airdrop(MAIN, 10n * SOL)
  plantMint(solana, mint, { decimals: 6 })
  plantMint(solana, mint2022, { decimals: 6, program: TOKEN_2022_PROGRAM })
  await hold(merchant, mint, 0n)
  await hold(merchant, mint2022, 0n, TOKEN_2022_PROGRAM)
  service = await startService({
    ...solanaConfig(solana),
    plugins: [pluginEntry([{ network: SOLANA_NETWORK, relayer_id: 'main' }])],
  })
  world = createWorld(service.url)
  await untilReady(service)
}, 120_000)

afterAll(async () => {
  await service.stop()
  await solana.stop()
})

function hold(owner: Address, of: Address, amount: bigint, program = TOKEN_PROGRAM): Promise<Address> {
  return holdTokens(solana, { owner, mint: of, amount, program })
}

async function balance(owner: Address, of = mint, program = TOKEN_PROGRAM): Promise<bigint> {
  const account = solana.account(await associatedAddress(owner, of, program))
  return account ? Buffer.from(account.data).readBigUInt64LE(64) : 0n
}

describe('the clients of npm on Solana', () => {
  test.each([
    ['SPL Token', mint, TOKEN_PROGRAM],
    ['Token-2022', mint2022, TOKEN_2022_PROGRAM],
  ])(
    'pay for a request in a token of %s',
    async (_, asset, program) => {
      const shop = await startShop({
        facilitator: `${service.url}/x402`,
        network: SOLANA_NETWORK,
        asset,
        payTo: merchant,
        scheme: new ShopScheme(),
      })
      onTestFinished(shop.stop)
      const payer = await createKeyPairSignerFromPrivateKeyBytes(seedOf(`payer of ${asset}`))
      await hold(payer.address, asset, FUNDS, program)
      const pay = wrapFetchWithPaymentFromConfig(fetch, {
        schemes: [{ network: 'solana:*', client: new PayerScheme(payer, { rpcUrl: solana.url }) }],
        spendControls: false,
      })
      const response = await pay(shop.url)
      expect([response.status, await response.json()]).toEqual([200, { report: 'sunny' }])
      const receipt = decodePaymentResponseHeader(response.headers.get('PAYMENT-RESPONSE') ?? '')
      expect(receipt).toMatchObject({ success: true, network: SOLANA_NETWORK, payer: payer.address })
      expect(await balance(merchant, asset, program)).toBe(AMOUNT)
      expect(await balance(payer.address, asset, program)).toBe(FUNDS - AMOUNT)
      expect(solana.included(receipt.transaction)).toBeDefined()
    },
    60_000,
  )
})

interface Parts {
  readonly payer: Wallet
  readonly source: Address
  readonly destination: Address
}

/** A transfer of what is required, with changes. */
function transferOf(
  { payer, source, destination }: Parts,
  changes: Partial<Parameters<typeof transferChecked>[0]> = {},
): Step {
  return transferChecked({ source, mint, destination, authority: payer.address, amount: AMOUNT, ...changes })
}

interface Made {
  readonly steps?: (parts: Parts) => readonly Step[]
  readonly cosigners?: readonly Wallet[]
  readonly extra?: object
  readonly requirements?: object
  readonly transaction?: (base64: string) => unknown
  readonly tokens?: bigint
  readonly fresh?: Wallet
}

const NORMAL = (parts: Parts) => [unitLimit(60_000), unitPrice(1n), transferOf(parts), memo('a memo')]

async function paymentOf(made: Made = {}) {
  const payer = made.fresh ?? createWallet()
  const source = await hold(payer.address, mint, made.tokens ?? FUNDS)
  const parts = { payer, source, destination: await associatedAddress(merchant, mint) }
  const { blockhash } = solana.blocks.at(-2) ?? { blockhash: '' }
  const { base64 } = signContent({
    signers: [AS_PAYER, payer, ...(made.cosigners ?? [])],
    blockhash,
    steps: (made.steps ?? NORMAL)(parts),
  })
  const body = solanaBody({
    transaction: made.transaction?.(base64) ?? base64,
    mint,
    payTo: merchant,
    feePayer: MAIN,
    amount: AMOUNT,
    extra: made.extra,
    requirements: made.requirements,
  })
  return { payer, body }
}

const settings = (seconds = 10) =>
  readSettings({ networks: [{ network: SOLANA_NETWORK, relayer_id: 'main' }], timeout_seconds: seconds })
const ask = (body: unknown) => ({ body, caller: 'shop' })

/** Takes away the payer's signature: the second of two. */
function unsigned(base64: string): string {
  const bytes = Buffer.from(base64, 'base64')
  bytes.fill(0, 65, 129)
  return bytes.toString('base64')
}

const SVM = 'invalid_exact_svm'

const REFUSALS: readonly (readonly [string, string, Made])[] = [
  [`${SVM}_payload_transaction_could_not_be_decoded`, 'is no transaction', { transaction: () => 'AAAA' }],
  [`${SVM}_payload_transaction_could_not_be_decoded`, 'is no text', { transaction: () => 7 }],
  [`${SVM}_payload_missing_fee_payer`, 'names no fee payer', { extra: { feePayer: undefined } }],
  [
    `${SVM}_fee_payer_not_managed_by_facilitator`,
    'names another fee payer',
    { extra: { feePayer: merchant } },
  ],
  [`${SVM}_payload_signature_invalid`, 'is not signed (exact-svm 3.1)', { transaction: unsigned }],
  [
    `${SVM}_payload_excessive_signers`,
    'needs a third signature (exact-svm 2.1.4)',
    { cosigners: [createWallet()] },
  ],
  [
    `${SVM}_payload_transaction_instructions_length`,
    'has too few instructions (exact-svm 3.1)',
    { steps: (parts) => [unitLimit(60_000), transferOf(parts)] },
  ],
  [
    `${SVM}_payload_transaction_instructions_length`,
    'has too many instructions (exact-svm 3.1)',
    { steps: (parts) => [...NORMAL(parts), memo('1'), memo('2'), memo('3'), memo('4')] },
  ],
  [
    `${SVM}_payload_transaction_instructions_compute_limit_instruction`,
    'begins with the price',
    { steps: (parts) => [unitPrice(1n), unitLimit(60_000), transferOf(parts)] },
  ],
  [
    `${SVM}_payload_transaction_instructions_compute_limit_instruction_too_high`,
    'asks for too many units (exact-svm 2.2.1)',
    { steps: (parts) => [unitLimit(400_001), unitPrice(1n), transferOf(parts)] },
  ],
  [
    `${SVM}_payload_transaction_instructions_compute_price_instruction`,
    'has no price',
    { steps: (parts) => [unitLimit(60_000), memo('x'), transferOf(parts)] },
  ],
  [
    `${SVM}_payload_transaction_instructions_compute_price_instruction_too_high`,
    'lets the relayer pay a priority without bound (exact-svm 2.2.1)',
    { steps: (parts) => [unitLimit(60_000), unitPrice(5_000_001n), transferOf(parts)] },
  ],
  [
    `${SVM}_payload_no_transfer_instruction`,
    'transfers nothing (exact-svm 1.4)',
    { steps: ({ payer }) => [unitLimit(60_000), unitPrice(1n), memo(payer.address), memo('2')] },
  ],
  [
    `${SVM}_payload_no_transfer_instruction`,
    'transfers without a check of the token (exact-svm 1.1)',
    {
      steps: ({ payer, source, destination }) => [
        unitLimit(60_000),
        unitPrice(1n),
        {
          program: TOKEN_PROGRAM,
          accounts: [
            { address: source, writes: true },
            { address: destination, writes: true },
            { address: payer.address, signs: true },
          ],
          data: Buffer.concat([Buffer.from([3]), u64(AMOUNT)]),
        },
      ],
    },
  ],
  [
    `${SVM}_payload_unknown_optional_instruction`,
    'also transfers lamports',
    { steps: (parts) => [...NORMAL(parts), transfer(parts.payer.address, merchant, 1n)] },
  ],
  [
    `${SVM}_payload_unknown_optional_instruction`,
    'transfers twice (exact-svm 1.4)',
    { steps: (parts) => [...NORMAL(parts), transferOf(parts)] },
  ],
  [
    `${SVM}_payload_unknown_optional_instruction`,
    'transfers the tokens back',
    {
      steps: (parts) => [
        ...NORMAL(parts),
        transferOf(parts, { source: parts.destination, destination: parts.source }),
      ],
    },
  ],
  [
    `${SVM}_payload_amount_mismatch`,
    'is for less (exact-svm 1.1)',
    { steps: (parts) => [unitLimit(60_000), unitPrice(1n), transferOf(parts, { amount: 9_999n })] },
  ],
  [
    `${SVM}_payload_amount_mismatch`,
    'is for more',
    { steps: (parts) => [unitLimit(60_000), unitPrice(1n), transferOf(parts, { amount: 10_001n })] },
  ],
  [
    `${SVM}_payload_mint_mismatch`,
    'is in another token (exact-svm 1.2)',
    { steps: (parts) => [unitLimit(60_000), unitPrice(1n), transferOf(parts, { mint: mint2022 })] },
  ],
  [
    `${SVM}_payload_recipient_mismatch`,
    'pays someone else (exact-svm 1.2)',
    {
      steps: (parts) => [unitLimit(60_000), unitPrice(1n), transferOf(parts, { destination: parts.source })],
    },
  ],
  [
    `${SVM}_payload_memo_count`,
    'lacks the memo of the shop (exact-svm 3.1)',
    { extra: { memo: 'order 1' }, steps: (parts) => NORMAL(parts).slice(0, 3) },
  ],
  [
    `${SVM}_payload_memo_mismatch`,
    'has another memo than the shop wants (exact-svm 3.1)',
    { extra: { memo: 'order 1' } },
  ],
  [
    `${SVM}_payload_transaction_fee_payer_transferring_funds`,
    'names the fee payer in an instruction (exact-svm 2.1.1)',
    {
      steps: (parts) => [
        ...NORMAL(parts).slice(0, 3),
        { ...memo('x'), accounts: [{ address: SELF, signs: true }] },
      ],
    },
  ],
  [
    `${SVM}_payload_transaction_fee_payer_transferring_funds`,
    'lets the fee payer authorize the transfer (exact-svm 2.1.1)',
    {
      steps: (parts) => [
        unitLimit(60_000),
        unitPrice(1n),
        transferOf(parts, { authority: SELF }),
        { ...memo('x'), accounts: [{ address: parts.payer.address, signs: true }] },
      ],
    },
  ],
  [
    `${SVM}_payload_unknown_optional_instruction`,
    'opens an account at the expense of the fee payer (exact-svm 2.1.3)',
    {
      steps: (parts) => [
        ...NORMAL(parts),
        {
          program: address('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'),
          accounts: [{ address: SELF, signs: true, writes: true }],
          data: Buffer.from([1]),
        },
      ],
    },
  ],
  [
    `${SVM}_payload_unknown_optional_instruction`,
    'closes an account',
    {
      steps: (parts) => [
        ...NORMAL(parts),
        {
          program: TOKEN_PROGRAM,
          accounts: [
            { address: parts.source, writes: true },
            { address: parts.payer.address, writes: true },
            { address: parts.payer.address, signs: true },
          ],
          data: Buffer.from([9]),
        },
      ],
    },
  ],
  ['insufficient_funds', 'is for more than the payer has', { tokens: 9_999n }],
  ['invalid_payment_requirements', 'names a payee that is no address', { requirements: { payTo: 'nobody' } }],
]

describe('a payment on Solana that', () => {
  test.each(REFUSALS)('is refused as %s if it %s', async (reason, _, made) => {
    const { body } = await paymentOf(made)
    const before = solana.account(MAIN)?.lamports
    expect(await verify(ask(body), settings(), world)).toMatchObject({
      isValid: false,
      invalidReason: reason,
    })
    expect(await settle(ask(body), settings(), world)).toMatchObject({
      success: false,
      errorReason: reason,
      transaction: '',
    })
    expect(solana.account(MAIN)?.lamports).toBe(before)
  })

  test('arrives again, with other bytes in the place of the fee payer’s signature, is the same payment', async () => {
    const { payer, body } = await paymentOf()
    const first = await settle(ask(body), settings(), world)
    expect(first).toMatchObject({ success: true, payer: payer.address, amount: AMOUNT.toString() })
    const bytes = Buffer.from(String(body.paymentPayload.payload.transaction), 'base64')
    bytes.fill(7, 1, 65)
    const { paymentPayload } = body
    const again = {
      ...body,
      paymentPayload: { ...paymentPayload, payload: { transaction: bytes.toString('base64') } },
    }
    const answers = await Promise.all(
      [body, again, again].map((each) => settle(ask(each), settings(), world)),
    )
    const expected = [true, first.transaction]
    expect(answers.map(({ success, transaction }) => [success, transaction])).toEqual([
      expected,
      expected,
      expected,
    ])
    expect(await balance(payer.address)).toBe(FUNDS - AMOUNT)
  })

  test('was made to one payee is no success for another who asks with it', async () => {
    const { body } = await paymentOf()
    expect(await settle(ask(body), settings(), world)).toMatchObject({ success: true })
    const other = createWallet().address
    await hold(other, mint, 0n)
    const asOther = (requirements: object) => ({ ...requirements, payTo: other })
    const { paymentPayload, paymentRequirements } = body
    const resold = {
      ...body,
      paymentPayload: { ...paymentPayload, accepted: asOther(paymentPayload.accepted) },
      paymentRequirements: asOther(paymentRequirements),
    }
    expect(await settle(ask(resold), settings(), world)).toMatchObject({ success: false, transaction: '' })
    expect(await balance(other)).toBe(0n)
  }, 30_000)

  test('is one of fifty to the same payee at the same moment is settled like the others', async () => {
    const before = await balance(merchant)
    const made = await Promise.all(Array.from({ length: 50 }, () => paymentOf()))
    const answers = await Promise.all(made.map(({ body }) => settle(ask(body), settings(60), world)))
    expect(answers.map(({ success, errorMessage }) => errorMessage ?? success)).toEqual(made.map(() => true))
    expect(new Set(answers.map(({ transaction }) => transaction)).size).toBe(50)
    expect(await balance(merchant)).toBe(before + 50n * AMOUNT)
  }, 120_000)

  test('goes to a payee without an account is refused', async () => {
    const stranger = createWallet().address
    const destination = await associatedAddress(stranger, mint)
    const { body } = await paymentOf({
      requirements: { payTo: stranger },
      steps: (parts) => [unitLimit(60_000), unitPrice(1n), transferOf(parts, { destination })],
    })
    expect(await settle(ask(body), settings(), world)).toMatchObject({
      errorReason: `${SVM}_transaction_simulation_failed`,
    })
  })

  describe('takes accounts from a look-up table', () => {
    /** Puts a table there, as if it had been made long ago. */
    function plantTable(addresses: readonly Address[]): Address {
      const table = createWallet().address
      const header = Buffer.alloc(56)
      header.writeUInt32LE(1, 0)
      header.writeBigUInt64LE(2n ** 64n - 1n, 4)
      const entries = addresses.map((each) => Buffer.from(getAddressEncoder().encode(each)))
      const data = Uint8Array.from(Buffer.concat([header, ...entries]))
      const owner = address('AddressLookupTab1e1111111111111111111111111')
      solana.plant(table, { lamports: solana.rentExemption(data.length), data, owner, executable: false })
      return table
    }

    /** A payment whose message loads `loaded` from a table. */
    async function lookingUp(
      table: Address,
      loaded: Address,
      steps: (parts: Parts) => readonly Step[] = NORMAL,
    ) {
      const payer = createWallet()
      const source = await hold(payer.address, mint, FUNDS)
      const destination = await associatedAddress(merchant, mint)
      const { blockhash } = solana.blocks.at(-2) ?? { blockhash: '' }
      const { base64 } = signContent({
        signers: [AS_PAYER, payer],
        blockhash,
        steps: steps({ payer, source, destination }),
        lookups: [{ table, writable: [loaded] }],
        tables: { [table]: [loaded] },
      })
      const { body } = await paymentOf({ transaction: () => base64 })
      return { payer, body }
    }

    test('is settled if the table has them', async () => {
      const destination = await associatedAddress(merchant, mint)
      const { payer, body } = await lookingUp(plantTable([destination]), destination)
      expect(await settle(ask(body), settings(), world)).toMatchObject({
        success: true,
        payer: payer.address,
      })
      expect(await balance(payer.address)).toBe(FUNDS - AMOUNT)
    })

    test('is refused if there is no such table', async () => {
      const destination = await associatedAddress(merchant, mint)
      const { body } = await lookingUp(createWallet().address, destination)
      const refused = { isValid: false, invalidReason: `${SVM}_smart_wallet_alt_resolution_failed` }
      expect(await verify(ask(body), settings(), world)).toMatchObject(refused)
    })

    test('is refused if the table hides another payee', async () => {
      const destination = await associatedAddress(merchant, mint)
      const { body } = await lookingUp(
        plantTable([await hold(createWallet().address, mint, 0n)]),
        destination,
      )
      const refused = { isValid: false, invalidReason: `${SVM}_payload_recipient_mismatch` }
      expect(await verify(ask(body), settings(), world)).toMatchObject(refused)
    })

    test('is refused if the table hides the fee payer', async () => {
      const hidden = createWallet().address
      const steps = (parts: Parts) => [
        ...NORMAL(parts).slice(0, 3),
        { ...memo('x'), accounts: [{ address: hidden, writes: true }] },
      ]
      const { body } = await lookingUp(plantTable([SELF]), hidden, steps)
      const refused = {
        isValid: false,
        invalidReason: `${SVM}_payload_transaction_fee_payer_transferring_funds`,
      }
      expect(await verify(ask(body), settings(), world)).toMatchObject(refused)
    })
  })
})
