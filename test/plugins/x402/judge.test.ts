import { describe, expect, test } from 'vitest'
import { TOKEN_PROGRAM } from '../../../plugins/shared/solana-transaction.ts'
import type { EvmPayment } from '../../../plugins/x402/evm/payment.ts'
import { type EvmReadings, judgeEvmPayment } from '../../../plugins/x402/evm/verify.ts'
import { Refusal } from '../../../plugins/x402/refusal.ts'
import type { SolanaPayment } from '../../../plugins/x402/solana/payment.ts'
import { judgeSolanaPayment, type SolanaReadings } from '../../../plugins/x402/solana/verify.ts'
import { transfersIn } from '../../../plugins/x402/solana/wallet.ts'
import type { StellarPayment } from '../../../plugins/x402/stellar/payment.ts'
import {
  judgeStellarPayment,
  type Movement,
  type StellarReadings,
} from '../../../plugins/x402/stellar/verify.ts'

/** What the decision is: nothing, or the reason of the refusal. */
function decision(judge: () => void): string {
  try {
    judge()
    return 'settled'
  } catch (error) {
    if (error instanceof Refusal) return error.reason
    throw error
  }
}

const EVM = {
  method: 'eip3009',
  payer: '0xa',
  amount: 100n,
  signedByKey: true,
  creation: undefined,
} as unknown as EvmPayment

const EVM_READINGS: EvmReadings = {
  block: 1,
  payerHasCode: false,
  contractAccepts: false,
  nonceUsed: false,
  allowance: undefined,
  before: [500n, 0n],
  after: [400n, 100n],
  simulated: true,
  gas: 80_000n,
}

describe('a payment on EVM', () => {
  test.each<[string, Partial<EvmPayment>, Partial<EvmReadings>]>([
    ['settled', {}, {}],
    ['settled', {}, { nonceUsed: undefined }],
    ['settled', { signedByKey: false }, { contractAccepts: true, payerHasCode: true }],
    ['settled', { method: 'permit2' }, { allowance: 100n }],
    ['invalid_exact_evm_payload_signature', { signedByKey: false }, {}],
    ['invalid_permit2_signature', { method: 'permit2', signedByKey: false }, {}],
    ['invalid_exact_evm_nonce_already_used', {}, { nonceUsed: true }],
    ['permit2_invalid_nonce', { method: 'permit2' }, { nonceUsed: true }],
    ['permit2_allowance_required', { method: 'permit2' }, { allowance: 99n }],
    ['permit2_simulation_failed', { method: 'permit2' }, { simulated: false }],
    ['insufficient_funds', {}, { before: [99n, 0n] }],
    ['invalid_payment_requirements', {}, { before: undefined }],
    ['invalid_exact_evm_transaction_simulation_failed', {}, { simulated: false }],
    // The payer loses more, the payee gets less, or nothing moves at all.
    ['invalid_exact_evm_transaction_simulation_failed', {}, { after: [399n, 100n] }],
    ['invalid_exact_evm_transaction_simulation_failed', {}, { after: [400n, 99n] }],
    ['invalid_exact_evm_transaction_simulation_failed', {}, { after: [500n, 0n] }],
    ['invalid_exact_evm_transaction_simulation_failed', {}, { gas: { revert: 'out of gas' } }],
    ['invalid_exact_evm_transaction_simulation_failed', {}, { gas: 500_001n }],
  ])('is %s with %o and %o', (expected, payment, readings) => {
    const bounds = { maxGas: 500_000n, walletFactories: new Set<string>() }
    const judge = () => judgeEvmPayment({ ...EVM, ...payment }, { ...EVM_READINGS, ...readings }, bounds)
    expect(decision(judge)).toBe(expected)
  })
})

const TOKENS = { mint: 'mint', owner: 'payer' }
const SOLANA = {
  payer: 'payer',
  feePayer: 'relayer',
  mint: 'mint',
  amount: 100n,
  destination: 'to',
  instructions: [{ program: TOKEN_PROGRAM, accounts: [2, 3, 4, 1], data: new Uint8Array() }],
  transfer: { program: TOKEN_PROGRAM, accounts: [2, 3, 4, 1], data: new Uint8Array() },
} as unknown as SolanaPayment

const SOLANA_READINGS: SolanaReadings = {
  accounts: ['relayer', 'payer', 'from', 'mint', 'to'],
  before: [
    { ...TOKENS, amount: 500n },
    { mint: 'mint', owner: 'payee', amount: 0n },
  ],
  after: [
    { ...TOKENS, amount: 400n },
    { mint: 'mint', owner: 'payee', amount: 100n },
  ],
  slot: 1,
  failure: undefined,
  isSameSlot: true,
}

const [, PAYEE_BEFORE] = SOLANA_READINGS.before
const [PAYER_AFTER, PAYEE_AFTER] = SOLANA_READINGS.after
const OTHER_PROGRAM = { ...SOLANA.transfer, program: 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb' }

describe('a payment on Solana', () => {
  test.each<[string, Partial<SolanaPayment>, Partial<SolanaReadings>]>([
    ['settled', {}, {}],
    ['settled', {}, { isSameSlot: false, after: [PAYER_AFTER, PAYEE_BEFORE] }],
    ['unexpected_verify_error', { transfer: OTHER_PROGRAM }, { isSameSlot: false }],
    ['insufficient_funds', {}, { before: [undefined, PAYEE_BEFORE] }],
    ['invalid_exact_svm_transaction_simulation_failed', {}, { failure: 'InsufficientFundsForFee' }],
    // The token keeps a fee, or the payer gets it back.
    [
      'invalid_exact_svm_transaction_simulation_failed',
      {},
      { after: [PAYER_AFTER, { mint: 'mint', owner: 'payee', amount: 99n }] },
    ],
    [
      'invalid_exact_svm_transaction_simulation_failed',
      {},
      { after: [{ ...TOKENS, amount: 500n }, PAYEE_AFTER] },
    ],
    [
      'invalid_exact_svm_payload_transaction_fee_payer_transferring_funds',
      {},
      { before: [{ mint: 'mint', owner: 'relayer', amount: 500n }, PAYEE_BEFORE] },
    ],
    [
      'invalid_exact_svm_payload_transaction_fee_payer_transferring_funds',
      {},
      { accounts: ['relayer', 'payer', 'relayer', 'mint', 'to'] },
    ],
    [
      'invalid_exact_svm_smart_wallet_alt_resolution_failed',
      {},
      { accounts: ['relayer', 'payer', 'from', 'mint', 'to', undefined] },
    ],
  ])('is %s with %o and %o', (expected, payment, readings) => {
    expect(
      decision(() => judgeSolanaPayment({ ...SOLANA, ...payment }, { ...SOLANA_READINGS, ...readings })),
    ).toBe(expected)
  })
})

const STELLAR: StellarPayment = {
  payer: 'GA',
  payTo: 'GB',
  asset: 'CA',
  amount: 100n,
  nonce: 1n,
  expirationLedger: 110,
  entry: '',
  entryHash: '',
  maxTimeoutSeconds: 60,
}

const TRANSFER: Movement = { contract: 'CA', name: 'transfer', from: 'GA', to: 'GB', amount: 100n }
const moving = (...movements: readonly (Movement | undefined)[]) => ({ simulation: { movements } })

describe('a payment on Stellar', () => {
  test.each<[string, Partial<StellarReadings>]>([
    ['settled', {}],
    ['settled', { balance: undefined }],
    ['settled', { ledger: 96 }],
    ['invalid_exact_stellar_signature_expiration_too_far', { ledger: 95 }],
    ['invalid_exact_stellar_payload_simulation_failed', { ledger: 110 }],
    ['invalid_exact_stellar_payload_simulation_failed', { simulation: { failure: 'HostError' } }],
    ['insufficient_funds', { balance: 99n }],
    ['invalid_exact_stellar_payload_no_transfer_events', moving()],
    ['invalid_exact_stellar_payload_multiple_transfers', moving(TRANSFER, TRANSFER)],
    ['invalid_exact_stellar_payload_multiple_transfers', moving(TRANSFER, undefined)],
    ['invalid_exact_stellar_payload_event_not_transfer', moving(undefined)],
    ['invalid_exact_stellar_payload_event_not_transfer', moving({ ...TRANSFER, name: 'burn' })],
    ['invalid_exact_stellar_payload_event_wrong_asset', moving({ ...TRANSFER, contract: 'CB' })],
    ['invalid_exact_stellar_payload_event_wrong_from', moving({ ...TRANSFER, from: 'GC' })],
    ['invalid_exact_stellar_payload_event_wrong_to', moving({ ...TRANSFER, to: 'GC' })],
    ['invalid_exact_stellar_payload_event_wrong_amount', moving({ ...TRANSFER, amount: 99n })],
  ])('is %s with %o', (expected, readings) => {
    const all: StellarReadings = { ledger: 100, balance: 500n, ...moving(TRANSFER), ...readings }
    expect(decision(() => judgeStellarPayment(STELLAR, all))).toBe(expected)
  })
})

describe('the transfers of a smart wallet on Solana', () => {
  const addresses = ['from', 'mint', 'to', 'vault', TOKEN_PROGRAM]
  // TransferChecked of 100 with 6 decimals.
  const data = 'hNmtbNYibdzwf'
  const call = { programId: TOKEN_PROGRAM, accounts: addresses.slice(0, 4), data }
  const info = {
    source: 'from',
    mint: 'mint',
    destination: 'to',
    authority: 'vault',
    tokenAmount: { amount: '100' },
  }

  test.each<[string, number, object]>([
    ['decoded', 1, { programId: TOKEN_PROGRAM, parsed: { type: 'transferChecked', info } }],
    ['with addresses', 1, call],
    ['with indexes', 1, { programIdIndex: 4, accounts: [0, 1, 2, 3], data }],
    ['of another program', 0, { ...call, programId: 'other' }],
    ['without an account', 0, { ...call, accounts: addresses.slice(0, 3) }],
    ['that cannot be read', 0, { ...call, data: '0OIl' }],
    ['decoded and of another kind', 0, { programId: TOKEN_PROGRAM, parsed: { type: 'burn', info } }],
  ])('are read: %s', (_, count, instruction) => {
    const transfer = { source: 'from', mint: 'mint', destination: 'to', authority: 'vault', amount: 100n }
    expect(transfersIn([{ index: 0, instructions: [instruction] }], addresses)).toEqual(
      Array.from({ length: count }, () => transfer),
    )
  })
})
