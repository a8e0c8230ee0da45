import { expect, test } from 'vitest'
import type { Attempt } from '../../src/chains/attempt.ts'
import type { BlockHeight, SolanaDraft, SolanaRequest } from '../../src/chains/solana/content.ts'
import type { CommonRecord } from '../../src/handlers/codecs/codec.ts'
import { isSolanaRequest, readSolanaRequest, SOLANA_CODEC } from '../../src/handlers/codecs/solana.ts'
import { itemOf } from '../transactions/build.ts'

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

/** A record of which nothing is included yet. */
const { transaction: WAITING } = itemOf([], { status: 'pending', block: undefined })

const CHAIN = { speed: () => ({ priceMultiplier: 1.25, raiseAfterSeconds: 60 }) }

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

const COMMON: CommonRecord = {
  id: 'tx',
  relayer_id: 'relayer',
  status: 'pending',
  created_at: '1970-01-01T00:00:00.000Z',
  from: 'self',
  status_reason: undefined,
  awaits_approval: undefined,
  undecided_since: undefined,
  top_up_of: undefined,
  lane: undefined,
  reference: undefined,
  no_op: undefined,
  valid_from: undefined,
  sent_at: undefined,
  confirmed_at: undefined,
  hash: undefined,
  signature: undefined,
  transfers: undefined,
  transfers_truncated: undefined,
}

const NONE = { transfers: undefined, transfers_truncated: undefined }

const shownBy = (shown: Attempt | undefined) =>
  SOLANA_CODEC.presentRecord({
    common: COMMON,
    transaction: WAITING,
    request: REQUEST,
    requestedTransfers: () => NONE,
    shown,
    chain: CHAIN,
  })

test('a transaction of which nothing is signed shows its request', () => {
  expect(shownBy(undefined)).toMatchObject({
    network_type: 'solana',
    instructions: [WIRE],
    speed: { level: 'average', price_multiplier: 1.25, raise_after_seconds: 60 },
    valid_until: '2030-01-01T00:00:00.000Z',
  })
  for (const name of ['transaction', 'transaction_signature', 'fee', 'last_valid_block_height', 'receipt'])
    expect(shownBy(undefined)).not.toHaveProperty(name)
})

test('a signed transaction shows its bytes, their signature, and the last height that takes them', () => {
  expect(shownBy(ATTEMPT)).toMatchObject({
    transaction: 'AQID',
    transaction_signature: 'sig',
    fee: 5_002n,
    last_valid_block_height: 150n,
  })
  const { attempts } = SOLANA_CODEC.withAttempts(shownBy(ATTEMPT), [ATTEMPT], 'self')
  expect(attempts).toEqual([
    {
      number: 1,
      kind: 'send',
      outcome: 'broadcast',
      hash: 'sig',
      signed_at: '1970-01-01T00:00:00.000Z',
      transaction: 'AQID',
      fee: 5_002n,
      last_valid_block_height: 150n,
    },
  ])
})
