import { expect, test } from 'vitest'
import type { Attempt } from '../../src/chains/attempt.ts'
import type { BlockHeight, SolanaDraft, SolanaRequest } from '../../src/chains/solana/content.ts'
import { presentSolanaAttempt, presentSolanaContent } from '../../src/handlers/present/transaction.ts'
import { isSolanaRequest, readSolanaRequest } from '../../src/handlers/read/request.ts'

const PROGRAM = '11111111111111111111111111111111'

const DRAFT: SolanaDraft = {
  type: 'solana',
  transaction: 'AQ==',
  fee: 5_002n,
  unitPrice: 7n,
  spends: 1n,
  expiresAt: 151n as BlockHeight,
}

const ATTEMPT: Attempt<SolanaDraft> = {
  number: 1,
  kind: 'send',
  sourceAccount: 'self',
  draft: DRAFT,
  signed: {
    raw: Uint8Array.of(1, 2, 3),
    hash: 'sig',
    signature: { r: '', s: '', v: 0, sig: '' },
  },
  signedAt: new Date(0),
  outcome: 'broadcast',
}

const WIRE = {
  program_id: PROGRAM,
  accounts: [{ pubkey: PROGRAM, is_signer: false, is_writable: true }],
  data: 'AA==',
}

const REQUEST: SolanaRequest = {
  type: 'solana',
  instructions: [
    { programId: PROGRAM, accounts: [{ pubkey: PROGRAM, isSigner: false, isWritable: true }], data: 'AA==' },
  ],
  speed: 'average',
  validUntil: new Date('2030-01-01T00:00:00Z'),
}

const chain = { speed: () => ({ priceMultiplier: 1.25, raiseAfterSeconds: 60 }) }

test('a body is read, null as absent, and fast where it names no speed', () => {
  expect(
    readSolanaRequest({ instructions: [WIRE], speed: 'average', valid_until: '2030-01-01T00:00:00Z' }),
  ).toEqual(REQUEST)
  expect(readSolanaRequest({ transaction: 'AQ==', valid_until: null })).toEqual({
    type: 'solana',
    transaction: 'AQ==',
    speed: 'fast',
  })
})

test('a body of another group is none', () => {
  expect(isSolanaRequest({ value: 1n })).toBe(false)
  expect(isSolanaRequest({ transaction: 'AQ==' })).toBe(true)
})

test('the request is shown before anything is signed', () => {
  expect(presentSolanaContent({ request: REQUEST, shown: undefined, chain })).toEqual({
    network_type: 'solana',
    transaction: undefined,
    transaction_signature: undefined,
    instructions: [WIRE],
    fee: undefined,
    last_valid_block_height: undefined,
    speed: { level: 'average', price_multiplier: 1.25, raise_after_seconds: 60 },
    valid_until: '2030-01-01T00:00:00.000Z',
  })
})

test('the signed bytes are shown with their signature and the last height that takes them', () => {
  expect(presentSolanaContent({ request: REQUEST, shown: ATTEMPT, chain: undefined })).toMatchObject({
    transaction: 'AQID',
    transaction_signature: 'sig',
    fee: 5_002n,
    last_valid_block_height: 150n,
    speed: undefined,
  })
  expect(presentSolanaAttempt(ATTEMPT)).toEqual({
    number: 1,
    kind: 'send',
    outcome: 'broadcast',
    hash: 'sig',
    signed_at: '1970-01-01T00:00:00.000Z',
    transaction: 'AQID',
    fee: 5_002n,
    last_valid_block_height: 150n,
  })
})
