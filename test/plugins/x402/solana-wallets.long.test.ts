import { type Address, createKeyPairSignerFromPrivateKeyBytes, getAddressEncoder } from '@solana/kit'
import { toFacilitatorSvmSigner } from '@x402/svm'
import { ExactSvmScheme as ReferenceScheme } from '@x402/svm/exact/facilitator'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { World } from '../../../plugins/shared/host.ts'
import { readSettings } from '../../../plugins/x402/config.ts'
import { settle, verify } from '../../../plugins/x402/facilitator.ts'
import { supported } from '../../../plugins/x402/supported.ts'
import { startSolana, type TestSolana } from '../../../simulators/solana/start-solana.ts'
import { associatedAddress, plantMint } from '../../../simulators/solana/tokens.ts'
import {
  advanceNonce,
  createWallet,
  type Step,
  signContent,
  transfer,
  unitLimit,
  unitPrice,
  type Wallet,
} from '../../../simulators/solana/wallet.ts'
import {
  plantWalletProgram,
  type Vault,
  vaultOf,
  type WalletCall,
  walletStep,
} from '../../../simulators/solana/wallet-program.ts'
import { AS_PAYER, SELF } from '../../chains/solana/build.ts'
import { type Service, startService } from '../../support/service.ts'
import { MAIN, SOL, seedOf, solanaConfig } from '../../support/solana-scenario.ts'
import { pluginEntry, untilReady } from './plugin-entry.ts'
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

// Rows with a number are what scheme_exact_svm of x402 demands of facilitators about smart wallets, by its sections.

const FUNDS = 1_000_000n
const AMOUNT = 10_000n
const merchant = createWallet().address
const mint = createWallet().address
/** The program of a wallet that the operator lists, and of one that he does not. */
const listed = createWallet().address
const unknown = createWallet().address

let solana: TestSolana
let service: Service
let world: TestWorld
let reference: ReferenceScheme

beforeAll(async () => {
  solana = await startSolana({ slotMs: 200, genesisHash: GENESIS })
  solana.airdrop(MAIN, 10n * SOL)
  plantMint(solana, mint, { decimals: 6 })
  plantWalletProgram(solana, listed)
  plantWalletProgram(solana, unknown)
  await holdTokens(solana, { owner: merchant, mint, amount: 0n })
  service = await startService({
    ...solanaConfig(solana),
    plugins: [pluginEntry([{ network: SOLANA_NETWORK, relayer_id: 'main', wallet_programs: [listed] }])],
  })
  world = createWorld(service.url)
  const signer = await createKeyPairSignerFromPrivateKeyBytes(seedOf('main'))
  reference = new ReferenceScheme(toFacilitatorSvmSigner(signer, { defaultRpcUrl: solana.url }), undefined, {
    enableSmartWalletVerification: true,
    smartWalletAllowedPrograms: [listed],
  })
  await untilReady(service)
}, 120_000)

afterAll(async () => {
  await service.stop()
  await solana.stop()
})

async function balance(owner: Address): Promise<bigint> {
  const account = solana.account(await associatedAddress(owner, mint))
  return account ? Buffer.from(account.data).readBigUInt64LE(64) : 0n
}

interface Parts {
  readonly owner: Wallet
  readonly vault: Vault
  readonly source: Address
  readonly destination: Address
}

/** The transfer of what is required, with changes. */
function transferOf(
  { vault, source, destination }: Parts,
  changes: Partial<Parameters<typeof transferChecked>[0]> = {},
): WalletCall {
  return transferChecked({ source, mint, destination, authority: vault.address, amount: AMOUNT, ...changes })
}

const PAYING = (parts: Parts): readonly WalletCall[] => [transferOf(parts)]
const NORMAL = (step: Step): readonly Step[] => [unitLimit(200_000), unitPrice(1n), step]

interface Made {
  readonly program?: Address
  readonly calls?: (parts: Parts) => readonly WalletCall[]
  readonly steps?: (step: Step, parts: Parts) => readonly Step[]
  readonly owner?: Wallet
  readonly switchAt?: Address
  readonly tokens?: bigint
  readonly payTo?: Address
  readonly extra?: object
  readonly cosigners?: readonly Wallet[]
  readonly transaction?: (base64: string) => string
  readonly lookUp?: { readonly table: Address; readonly loaded: Address }
}

async function paymentOf(made: Made = {}) {
  const { owner = createWallet(), program = listed, payTo = merchant, lookUp } = made
  const vault = await vaultOf(program, owner.address)
  const source = await associatedAddress(vault.address, mint)
  if (made.tokens !== undefined || solana.account(source) === undefined)
    await holdTokens(solana, { owner: vault.address, mint, amount: made.tokens ?? FUNDS })
  const parts = { owner, vault, source, destination: await associatedAddress(payTo, mint) }
  const step = walletStep(vault, (made.calls ?? PAYING)(parts), made.switchAt)
  const { blockhash } = solana.blocks.at(-2) ?? { blockhash: '' }
  const { base64 } = signContent({
    signers: [AS_PAYER, owner, ...(made.cosigners ?? [])],
    blockhash,
    steps: (made.steps ?? NORMAL)(step, parts),
    ...(lookUp && {
      lookups: [{ table: lookUp.table, writable: [lookUp.loaded] }],
      tables: { [lookUp.table]: [lookUp.loaded] },
    }),
  })
  const body = solanaBody({
    transaction: made.transaction?.(base64) ?? base64,
    mint,
    payTo,
    feePayer: MAIN,
    amount: AMOUNT,
    extra: made.extra,
  })
  return { ...parts, body }
}

const settings = (network: object = { wallet_programs: [listed] }, more: object = {}) =>
  readSettings({
    networks: [{ network: SOLANA_NETWORK, relayer_id: 'main', ...network }],
    timeout_seconds: 20,
    ...more,
  })
const ask = (body: unknown) => ({ body, caller: 'shop' })

/** Puts a table there, as if it had been made long ago. */
function plantTable(addresses: readonly Address[]): Address {
  const table = createWallet().address
  const header = Buffer.alloc(56)
  header.writeUInt32LE(1, 0)
  header.writeBigUInt64LE(2n ** 64n - 1n, 4)
  const entries = addresses.map((each) => Buffer.from(getAddressEncoder().encode(each)))
  const data = Uint8Array.from(Buffer.concat([header, ...entries]))
  const owner = 'AddressLookupTab1e1111111111111111111111111' as Address
  solana.plant(table, { lamports: solana.rentExemption(data.length), data, owner, executable: false })
  return table
}

/** Puts an account there of which the wallet reads the first byte. */
function turn(switchAt: Address, isOn: boolean): void {
  const data = Uint8Array.from([isOn ? 1 : 0])
  solana.plant(switchAt, { lamports: SOL, data, owner: listed, executable: false })
}

/** Takes away the payer's signature: the second of two. */
function unsigned(base64: string): string {
  const bytes = Buffer.from(base64, 'base64')
  bytes.fill(0, 65, 129)
  return bytes.toString('base64')
}

describe('a smart wallet on Solana', () => {
  test('pays, once for any number of requests (exact-svm 1.1, 3.2)', async () => {
    const { owner, vault, body } = await paymentOf()
    const before = await balance(merchant)
    expect(await verify(ask(body), settings(), world)).toEqual({ isValid: true, payer: owner.address })
    const [first, second] = await Promise.all([1, 2].map(() => settle(ask(body), settings(), world)))
    expect(first).toMatchObject({ success: true, payer: owner.address, amount: AMOUNT.toString() })
    expect(second?.transaction).toBe(first?.transaction)
    expect(solana.included(first?.transaction ?? '')?.err).toBeNull()
    expect([await balance(merchant), await balance(vault.address)]).toEqual([before + AMOUNT, FUNDS - AMOUNT])
    expect(await verify(ask(body), settings(), world)).toMatchObject({
      isValid: false,
      invalidReason: 'duplicate_settlement',
    })
  }, 30_000)

  test('pays over HTTP, and the facilitator says that wallets can (exact-svm 3)', async () => {
    const { body } = await paymentOf()
    const post = async (step: string) => {
      const response = await service.api('POST', `/plugins/x402/call/${step}`, body)
      return response.body as unknown
    }
    expect(await post('verify')).toMatchObject({ isValid: true })
    expect(await post('settle')).toMatchObject({ success: true })
    const told = (network?: object) => supported(settings(network), world)
    expect(await told()).toMatchObject({
      kinds: [{ extra: { feePayer: MAIN, features: { smartWalletSupported: true } } }, {}],
    })
    expect(JSON.stringify(await told({}))).not.toContain('smartWalletSupported')
  }, 30_000)

  test('is served by the facilitator of npm in the same way', async () => {
    const { body } = await paymentOf()
    const { paymentPayload, paymentRequirements } = body
    expect(await reference.verify(paymentPayload as never, paymentRequirements as never)).toMatchObject({
      isValid: true,
    })
  })

  test('may pay more than it must, and others beside (exact-svm 1.1, 1.3)', async () => {
    const other = createWallet().address
    const fee = await holdTokens(solana, { owner: other, mint, amount: 0n })
    const { vault, body } = await paymentOf({
      calls: (parts) => [
        transferOf(parts, { amount: AMOUNT + 1n }),
        transferOf(parts, { destination: fee, amount: 5n }),
      ],
      steps: (step) => [memo('order 1'), step],
      extra: { memo: 'order 1' },
    })
    expect(await settle(ask(body), settings(), world)).toMatchObject({
      success: true,
      amount: AMOUNT.toString(),
    })
    expect([await balance(other), await balance(vault.address)]).toEqual([5n, FUNDS - AMOUNT - 6n])
  }, 30_000)

  test('takes accounts from a look-up table (exact-svm 2.1.2)', async () => {
    const loaded = await associatedAddress(merchant, mint)
    const { vault, body } = await paymentOf({ lookUp: { table: plantTable([loaded]), loaded } })
    expect(await settle(ask(body), settings(), world)).toMatchObject({ success: true })
    expect(await balance(vault.address)).toBe(FUNDS - AMOUNT)
  }, 30_000)
})

const SVM = 'invalid_exact_svm'
const WALLET = `${SVM}_smart_wallet`
const FEE_PAYER = `${WALLET}_fee_payer_not_isolated`

/** What the reference says of it besides: the same, or `accepted` where the bounds of this facilitator are tighter. */
type Row = readonly [reason: string, what: string, made: Made, reference?: 'accepted']

const ROWS: readonly Row[] = [
  [
    `${WALLET}_program_not_allowed`,
    'is of a program that is not listed (exact-svm 2.2.2)',
    { program: unknown },
  ],
  [
    `${WALLET}_program_not_allowed`,
    'also transfers lamports',
    { steps: (step, { owner }) => [...NORMAL(step), transfer(owner.address, merchant, 1n)] },
  ],
  [
    `${WALLET}_program_not_allowed`,
    'counts until a durable nonce is used',
    { steps: (step, { owner }) => [advanceNonce(createWallet().address, owner.address), ...NORMAL(step)] },
  ],
  [
    `${WALLET}_program_not_allowed`,
    'transfers beside the wallet',
    {
      steps: (step, { owner, destination }) => [
        ...NORMAL(step),
        transferChecked({ source: destination, mint, destination, authority: owner.address, amount: AMOUNT }),
      ],
    },
  ],
  [
    FEE_PAYER,
    'lets the wallet use the fee payer as a signer (exact-svm 2.1.1)',
    { calls: (parts) => [transferOf(parts), transfer(SELF, merchant, 1n)] },
  ],
  [
    FEE_PAYER,
    'names the fee payer in any instruction (exact-svm 2.1.1)',
    { steps: (step) => [...NORMAL(step), { ...memo('x'), accounts: [{ address: SELF }] }] },
  ],
  [
    FEE_PAYER,
    'lets the fee payer authorize the transfer (exact-svm 2.1.3)',
    { calls: (parts) => [transferOf(parts, { authority: SELF })] },
  ],
  [
    `${WALLET}_transfer_mismatch`,
    'pays less (exact-svm 1.1)',
    { calls: (parts) => [transferOf(parts, { amount: AMOUNT - 1n })] },
  ],
  [
    `${WALLET}_multiple_matching_transfers`,
    'pays twice (exact-svm 1.4)',
    { calls: (parts) => [transferOf(parts), transferOf(parts)] },
  ],
  [
    `${WALLET}_multiple_matching_transfers`,
    'pays in two parts, each of which suffices (exact-svm 1.4)',
    { calls: (parts) => [transferOf(parts, { amount: AMOUNT + 5n }), transferOf(parts)] },
  ],
  [`${WALLET}_simulation_failed`, 'has less than it pays (exact-svm 2.2.3)', { tokens: AMOUNT - 1n }],
  [
    `${WALLET}_compute_units_too_high`,
    'asks for too many units (exact-svm 2.2.1)',
    { steps: (step) => [unitLimit(400_001), step] },
  ],
  [
    `${WALLET}_compute_units_too_high`,
    'may use too many units because it sets no limit (exact-svm 2.2.1)',
    { steps: (step) => [memo('1'), memo('2'), step] },
    'accepted',
  ],
  [
    `${WALLET}_priority_fee_too_high`,
    'lets the relayer pay a priority without bound (exact-svm 2.2.1)',
    { steps: (step) => [unitLimit(200_000), unitPrice(50_001n), step] },
  ],
  [
    `${WALLET}_unsupported_compute_budget_instruction`,
    'asks for more memory (exact-svm 2.2.1)',
    {
      steps: (step) => [{ ...unitLimit(0), data: Buffer.from([1, 0, 0, 1, 0]) }, ...NORMAL(step)],
    },
  ],
  [`${SVM}_payload_memo_count`, 'lacks the memo of the shop (exact-svm 3.2)', { extra: { memo: 'order 1' } }],
  [
    `${SVM}_payload_memo_mismatch`,
    'has another memo than the shop wants (exact-svm 3.2)',
    { extra: { memo: 'order 1' }, steps: (step) => [memo('order 2'), ...NORMAL(step)] },
  ],
  [`${SVM}_payload_signature_invalid`, 'is not signed by the owner', { transaction: unsigned }],
]

describe('a payment by a smart wallet that', () => {
  test.each(ROWS.map(([reason, what, made, told]) => ({ reason, what, made, told })))(
    'is refused as $reason if it $what',
    async ({ reason, made, told: ofReference }) => {
      const { body } = await paymentOf(made)
      const before = [solana.account(MAIN)?.lamports, await balance(merchant)]
      expect(await verify(ask(body), settings(), world)).toMatchObject({
        isValid: false,
        invalidReason: reason,
      })
      expect(await settle(ask(body), settings(), world)).toMatchObject({
        success: false,
        errorReason: reason,
        transaction: '',
      })
      expect([solana.account(MAIN)?.lamports, await balance(merchant)]).toEqual(before)
      const { paymentPayload, paymentRequirements } = body
      const told = await reference.verify(paymentPayload as never, paymentRequirements as never)
      expect(told.isValid).toBe(ofReference === 'accepted')
      if (!told.isValid) expect(told.invalidReason?.slice(0, reason.length)).toBe(reason)
    },
  )

  test('is refused if it pays another one', async () => {
    const stranger = createWallet().address
    const elsewhere = await holdTokens(solana, { owner: stranger, mint, amount: 0n })
    const { body } = await paymentOf({
      calls: (parts) => [transferOf(parts, { destination: elsewhere })],
      steps: (step, parts) => [
        ...NORMAL(step).slice(0, 2),
        { ...step, accounts: [...step.accounts, { address: parts.destination }] },
      ],
    })
    expect(await verify(ask(body), settings(), world)).toMatchObject({
      invalidReason: `${WALLET}_transfer_mismatch`,
    })
  })

  test('is refused if it takes back what it pays', async () => {
    const payTo = createWallet().address
    const owner = createWallet()
    const vault = await vaultOf(listed, owner.address)
    const destination = await holdTokens(solana, { owner: payTo, mint, amount: 0n })
    // The payee lets the vault spend: for once a wallet can take back.
    const account = solana.account(destination)
    const data = Buffer.from(account?.data ?? [])
    data.writeUInt32LE(1, 72)
    data.set(getAddressEncoder().encode(vault.address), 76)
    data.writeBigUInt64LE(FUNDS, 121)
    solana.plant(destination, {
      lamports: account?.lamports ?? 0n,
      data: Uint8Array.from(data),
      owner: TOKEN_PROGRAM,
      executable: false,
    })
    const { body } = await paymentOf({
      owner,
      payTo,
      calls: (parts) => [
        transferOf(parts),
        transferOf(parts, { source: parts.destination, destination: parts.source }),
      ],
    })
    expect(await settle(ask(body), settings(), world)).toMatchObject({
      success: false,
      errorReason: `${WALLET}_transfer_mismatch`,
      transaction: '',
    })
  })

  test.each([
    ['cannot be read', () => createWallet().address, `${WALLET}_alt_resolution_failed`],
    ['hides the fee payer', () => plantTable([SELF]), FEE_PAYER],
  ])('is refused if a look-up table %s (exact-svm 2.1.2)', async (_, tableOf, reason) => {
    const loaded = createWallet().address
    const { body } = await paymentOf({
      lookUp: { table: tableOf(), loaded },
      steps: (step) => [
        ...NORMAL(step).slice(0, 2),
        { ...step, accounts: [...step.accounts, { address: loaded, writes: true }] },
      ],
    })
    expect(await verify(ask(body), settings(), world)).toMatchObject({
      isValid: false,
      invalidReason: reason,
    })
  })

  test('needs a third signature is refused (exact-svm 2.1.4)', async () => {
    const { body } = await paymentOf({ cosigners: [createWallet()] })
    expect(await verify(ask(body), settings(), world)).toMatchObject({
      invalidReason: `${SVM}_payload_excessive_signers`,
    })
  })

  test('is refused by the form of plain payments where the operator lists no wallet (exact-svm 3)', async () => {
    const { body } = await paymentOf()
    expect(await verify(ask(body), settings({}), world)).toMatchObject({
      invalidReason: `${SVM}_payload_no_transfer_instruction`,
    })
  })

  test('pays two payees at once is one transaction, and no one is told of what he did not get', async () => {
    const other = createWallet().address
    const second = await holdTokens(solana, { owner: other, mint, amount: 0n })
    const { vault, body } = await paymentOf({
      calls: (parts) => [transferOf(parts), transferOf(parts, { destination: second })],
    })
    const asOther = (requirements: object) => ({ ...requirements, payTo: other })
    const { paymentPayload, paymentRequirements } = body
    const resold = {
      ...body,
      paymentPayload: { ...paymentPayload, accepted: asOther(paymentPayload.accepted) },
      paymentRequirements: asOther(paymentRequirements),
    }
    const answers = await Promise.all([body, resold].map((each) => settle(ask(each), settings(), world)))
    expect(new Set(answers.filter(({ success }) => success).map(({ transaction }) => transaction)).size).toBe(
      1,
    )
    expect(await balance(other)).toBe(AMOUNT)
    expect(await balance(vault.address)).toBe(FUNDS - 2n * AMOUNT)
  }, 60_000)
})

describe('a wallet that does in the block what it did not do in the simulation', () => {
  /** The world in which the wallet turns as soon as a payment is accepted. */
  function turning(switchAt: Address): World {
    return {
      ...world,
      api: {
        request: async (request) => {
          const answer = await world.api.request(request)
          if (request.method === 'POST' && request.path.includes('/transactions?')) turn(switchAt, true)
          return answer
        },
      },
    }
  }

  /** A payment that is made only until it is accepted. */
  async function cheating(owner: Wallet, instead: (parts: Parts) => readonly WalletCall[] = () => []) {
    const switchAt = createWallet().address
    turn(switchAt, false)
    const calls = (parts: Parts) => [
      ...PAYING(parts).map((each) => ({ ...each, when: 'off' as const })),
      ...instead(parts).map((each) => ({ ...each, when: 'on' as const })),
    ]
    const made = await paymentOf({
      owner,
      switchAt,
      calls,
      steps: (step) => [...NORMAL(step), memo(switchAt)],
    })
    return { ...made, world: turning(switchAt) }
  }

  test.each<[string, (parts: Parts) => readonly WalletCall[]]>([
    ['pays nothing', () => []],
    ['pays less', (parts) => [transferOf(parts, { amount: AMOUNT - 1n })]],
    ['pays itself', (parts) => [transferOf(parts, { destination: parts.source })]],
  ])(
    'is no success if it %s (exact-svm 3.4)',
    async (_, instead) => {
      const before = await balance(merchant)
      const { body, world: turned } = await cheating(createWallet(), instead)
      const answer = await settle(ask(body), settings(), turned)
      expect(answer).toMatchObject({
        success: false,
        errorReason: 'invalid_transaction_state',
        transaction: '',
      })
      // The network executed it: what it did decides, not that it succeeded.
      const [, hash = ''] = /transaction (\S+) is confirmed/.exec(answer.errorMessage ?? '') ?? []
      expect(solana.included(hash)?.err).toBeNull()
      expect((await balance(merchant)) - before).toBeLessThan(AMOUNT)
      expect(await settle(ask(body), settings(), world)).toMatchObject({ success: false, transaction: '' })
    },
    60_000,
  )

  test('is refused for a day after its second time, also if no one waited for the first', async () => {
    const owner = createWallet()
    for (const seconds of [1, 20]) {
      const { body, world: turned } = await cheating(owner)
      const answer = await settle(ask(body), settings(undefined, { timeout_seconds: seconds }), turned)
      expect(answer.success).toBe(false)
    }
    const { body } = await paymentOf({ owner })
    expect(await settle(ask(body), settings(), world)).toMatchObject({
      success: false,
      errorReason: 'limit_exceeded',
      transaction: '',
    })
  }, 60_000)

  test('pays one of its payments, if it has funds for one', async () => {
    const owner = createWallet()
    const first = await paymentOf({ owner, tokens: AMOUNT })
    const second = await paymentOf({ owner, steps: (step) => [...NORMAL(step), memo('2')] })
    const answers = await Promise.all([first, second].map(({ body }) => settle(ask(body), settings(), world)))
    expect(answers.map(({ success }) => success).sort()).toEqual([false, true])
    expect(await balance(first.vault.address)).toBe(0n)
  }, 60_000)
})
