import { describe, expect, test } from 'vitest'
import { SYSTEM_PROGRAM } from '../../../simulators/solana/runtime/programs.ts'
import {
  advanceNonce,
  createWallet,
  type Step,
  signContent,
  transfer,
  unitPrice,
} from '../../../simulators/solana/wallet.ts'
import { checkRequest } from '../../../src/chains/solana/check.ts'
import type { SolanaInstruction, SolanaPolicies, SolanaRequest } from '../../../src/chains/solana/content.ts'
import {
  AS_PAYER,
  accountWith,
  instructionOf,
  instructionsOf,
  OTHER,
  requestOf,
  SELF,
  someAddress,
} from './build.ts'

const BLOCKHASH = someAddress(9)
const STEP = transfer(SELF, OTHER, 1n)
const GOOD = instructionOf(STEP)

const check = (request: SolanaRequest, policies: SolanaPolicies = {}) =>
  checkRequest(request, accountWith(policies))

/** A prebuilt transaction that the relayer pays for, in bytes. */
function wire(...steps: readonly Step[]): Buffer {
  return Buffer.from(signContent({ signers: [AS_PAYER], blockhash: BLOCKHASH, steps }).bytes)
}

const prebuilt = (bytes: Uint8Array) => requestOf({ transaction: Buffer.from(bytes).toString('base64') })

/** The transfer with one byte set: `at` counts from the start of the message. */
function withByte(at: number, value: number): SolanaRequest {
  const bytes = wire(STEP)
  bytes[1 + 64 + at] = value
  return prebuilt(bytes)
}

describe('a prebuilt transaction', () => {
  test('of which nothing can be said is taken', () => {
    expect(check(prebuilt(wire(STEP)))).toBeUndefined()
  })

  test('of version 1 is refused, and the refusal says so', () => {
    const bytes = Buffer.concat([Buffer.from([0x81]), Buffer.alloc(4_000)])
    expect(check(prebuilt(bytes))).toEqual({
      code: 'invalid_request',
      detail:
        'transaction: a legacy transaction or one of version 0 is expected; version 1 (SIMD-0385, up to 4096 bytes) is not supported.',
    })
  })

  test('may be of version 0', () => {
    const bytes = wire(STEP)
    const versioned = Buffer.concat([
      bytes.subarray(0, 65),
      Buffer.from([0x80]),
      bytes.subarray(65),
      Buffer.from([0]),
    ])
    expect(check(prebuilt(versioned))).toBeUndefined()
  })

  const CASES: [string, () => SolanaRequest, string][] = [
    [
      'is no base64',
      () => requestOf({ transaction: 'AQ=A' }),
      'transaction: base64 with padding is expected.',
    ],
    [
      'is base64 with bits that mean nothing',
      () => requestOf({ transaction: 'AR==' }),
      'transaction: base64 with padding is expected.',
    ],
    [
      'is larger than a packet',
      () => prebuilt(Buffer.alloc(1_233)),
      'transaction: at most 1232 bytes are expected, 1233 were given.',
    ],
    ['is empty', () => requestOf({ transaction: '' }), 'a transaction in wire format is expected'],
    ['has bytes left over', () => prebuilt(Buffer.concat([wire(STEP), Buffer.alloc(1)])), 'in wire format'],
    ['ends too early', () => prebuilt(wire(STEP).subarray(0, -1)), 'in wire format'],
    ['is of a version that is not known', () => withByte(0, 0x81), 'in wire format'],
    ['wants more signatures than it has', () => withByte(0, 2), 'in wire format'],
    ['has a payer that cannot be written to', () => withByte(1, 1), 'in wire format'],
    ['calls the payer as a program', () => withByte(4 + 3 * 32 + 32 + 1, 0), 'in wire format'],
    ['names an account that it does not have', () => withByte(4 + 3 * 32 + 32 + 3, 7), 'in wire format'],
    [
      'has another fee payer',
      () =>
        requestOf({
          transaction: signContent({ signers: [createWallet()], blockhash: BLOCKHASH, steps: [STEP] }).base64,
        }),
      `the relayer ${SELF} is expected as the fee payer`,
    ],
  ]

  test.each(CASES)('that %s is refused', (_what, request, phrase) => {
    expect(check(request())).toMatchObject({
      code: 'invalid_request',
      detail: expect.stringMatching(/^transaction: /),
    })
    expect(check(request())?.detail).toContain(phrase)
  })

  test('may say a number in one way only', () => {
    const bytes = wire(STEP)
    // The number of instructions in two bytes where one is enough.
    const at = 65 + 4 + 3 * 32 + 32
    const longer = Buffer.concat([bytes.subarray(0, at), Buffer.from([0x81, 0x00]), bytes.subarray(at + 1)])
    expect(check(prebuilt(longer))?.detail).toContain('in wire format')
  })

  test('names no account twice', () => {
    const bytes = wire(STEP)
    bytes.copy(bytes, 65 + 4 + 32, 65 + 4, 65 + 4 + 32)
    expect(check(prebuilt(bytes))?.detail).toContain('in wire format')
  })
})

describe('what no network takes', () => {
  const nonce = someAddress(40)
  const advance = advanceNonce(nonce, SELF)
  const readonlyNonce = {
    ...advance,
    accounts: advance.accounts.map((use) => (use.address === nonce ? { address: nonce } : use)),
  }
  const CASES: [string, readonly Step[], string][] = [
    ['sets its price twice', [unitPrice(1n), STEP, unitPrice(2n)], 'instruction 2 sets the same part'],
    [
      'sets an unknown part of its budget',
      [{ ...unitPrice(1n), data: Buffer.from([5, 0, 0, 0, 0]) }],
      'the compute budget program cannot read instruction 0',
    ],
    [
      'cuts a part of its budget short',
      [STEP, { ...unitPrice(1n), data: Buffer.from([3, 0]) }],
      'the compute budget program cannot read instruction 1',
    ],
    [
      'advances a nonce that it cannot write to',
      [readonlyNonce, STEP],
      'instruction 0 advances a nonce account',
    ],
  ]

  test.each(CASES)('is refused immediately: what %s', (_what, steps, phrase) => {
    for (const [at, request] of Object.entries({
      transaction: prebuilt(wire(...steps)),
      instructions: instructionsOf(...steps),
    })) {
      expect(check(request)).toMatchObject({ code: 'invalid_request' })
      expect(check(request)?.detail).toMatch(new RegExp(`^${at}: ${phrase}`))
    }
  })

  test('is refused immediately: more than 64 instructions', () => {
    const empty = { ...STEP, accounts: [], data: Buffer.from([]) }
    expect(check(prebuilt(wire(...Array(64).fill(empty))))).toBeUndefined()
    expect(check(prebuilt(wire(...Array(65).fill(empty))))?.detail).toBe(
      'transaction: at most 64 instructions are expected, these are 65.',
    )
  })

  test.each([
    [124, undefined],
    [125, 'transaction: at most 128 accounts are expected, with those from tables these are 129.'],
  ])('counts accounts from tables: %i of them', (count, detail) => {
    const addresses = Array.from({ length: count }, (_, index) => someAddress(index + 100))
    const table = someAddress(7)
    // With the relayer, the receiver, the system program and one from the instruction: four.
    const steps = [
      STEP,
      { ...STEP, accounts: [{ address: SELF, signs: true, writes: true }, { address: someAddress(50) }] },
    ]
    const { base64 } = signContent({
      signers: [AS_PAYER],
      blockhash: BLOCKHASH,
      steps,
      lookups: [{ table, writable: addresses }],
      tables: { [table]: addresses },
    })
    expect(check(requestOf({ transaction: base64 }))?.detail).toBe(detail)
  })
})

describe('instructions', () => {
  const changed = (change: Partial<SolanaInstruction>) =>
    requestOf({ instructions: [{ ...GOOD, ...change }] })
  const account = (pubkey: string, isSigner = false) => ({ pubkey, isSigner, isWritable: false })

  test('of which nothing can be said are taken', () => {
    expect(check(instructionsOf(STEP, unitPrice(1n)))).toBeUndefined()
  })

  const CASES: [string, SolanaRequest, string][] = [
    [
      'call no program',
      changed({ programId: '1'.repeat(31) }),
      'instructions[0].program_id: 32 bytes in base58',
    ],
    [
      'call 33 bytes',
      changed({ programId: '1'.repeat(33) }),
      'instructions[0].program_id: 32 bytes in base58',
    ],
    ['call the relayer', changed({ programId: SELF }), 'instructions[0].program_id: a program is expected'],
    [
      'name no account',
      changed({ accounts: [account('z'.repeat(44))] }),
      'instructions[0].accounts[0].pubkey:',
    ],
    [
      'want a third party to sign',
      changed({ accounts: [account(SELF, true), account(OTHER, true)] }),
      `instructions[0].accounts[1].is_signer: only the relayer ${SELF} signs`,
    ],
    [
      'have too many accounts',
      changed({ accounts: Array.from({ length: 65 }, () => account(OTHER)) }),
      'instructions[0].accounts: at most 64 are expected, 65 were given.',
    ],
    ['have data that is no base64', changed({ data: 'A' }), 'instructions[0].data: base64'],
    [
      'have too much data',
      changed({ data: Buffer.alloc(1_233).toString('base64') }),
      'instructions[0].data: at most 1232 bytes are expected, 1233 were given.',
    ],
    [
      'are too many',
      requestOf({ instructions: Array.from({ length: 65 }, () => GOOD) }),
      'instructions: at most 64 are expected, 65 were given.',
    ],
    [
      'name too many accounts together',
      requestOf({
        instructions: [1, 2].map((half) => ({
          ...GOOD,
          accounts: Array.from({ length: 33 }, (_, index) => account(someAddress(half * 40 + index))),
        })),
      }),
      'instructions: together at most 64 different accounts are expected, 68 were given.',
    ],
    [
      'make a transaction that is too large',
      changed({ data: Buffer.alloc(1_200).toString('base64') }),
      'instructions: at most 1232 bytes of a transaction are expected',
    ],
  ]

  test.each(CASES)('that %s are refused', (_what, request, phrase) => {
    expect(check(request)).toMatchObject({ code: 'invalid_request', detail: expect.stringContaining(phrase) })
  })

  test('exclude a transaction in the same request, and one of the two is needed', () => {
    expect(check(requestOf({}))?.detail).toBe('transaction, instructions: one of the two is expected.')
    const both = { ...prebuilt(wire(STEP)), instructions: [GOOD] }
    expect(check(both)?.detail).toBe(
      'transaction, instructions: exactly one of the two is expected, not both.',
    )
  })
})

describe('the rules of the relayer', () => {
  const CASES: [string, SolanaPolicies, string | undefined][] = [
    ['allow what they name', { allowedPrograms: [SYSTEM_PROGRAM], allowedAccounts: [OTHER] }, undefined],
    [
      'allow no program',
      { allowedPrograms: [] },
      `program ${SYSTEM_PROGRAM} is not among the relayer's allowed_programs`,
    ],
    [
      'allow no account',
      { allowedAccounts: [] },
      `account ${OTHER} is not among the relayer's allowed_accounts`,
    ],
    [
      'forbid an account',
      { disallowedAccounts: [OTHER] },
      `account ${OTHER} is among the relayer's disallowed_accounts`,
    ],
    ['forbid a program by its account', { disallowedAccounts: [SYSTEM_PROGRAM] }, 'disallowed_accounts'],
    [
      'limit the bytes',
      { maxDataSize: 214 },
      'at most 214 bytes are allowed (max_tx_data_size), this transaction has 215',
    ],
    ['allow just this many bytes', { maxDataSize: 215 }, undefined],
  ]

  test.each(CASES)('%s', (_what, policies, phrase) => {
    for (const [at, request] of Object.entries({
      transaction: prebuilt(wire(STEP)),
      instructions: instructionsOf(STEP),
    })) {
      const refusal = check(request, policies)
      if (phrase === undefined) expect(refusal).toBeUndefined()
      else {
        expect(refusal?.code).toBe('policy_violation')
        expect(refusal?.detail).toContain(`${at}: `)
        expect(refusal?.detail).toContain(phrase)
      }
    }
  })

  test('limit the signatures', () => {
    const friend = createWallet()
    const steps = [transfer(friend.address, OTHER, 1n)]
    const { base64 } = signContent({ signers: [AS_PAYER, friend], blockhash: BLOCKHASH, steps })
    const request = requestOf({ transaction: base64 })
    expect(check(request, { maxSignatures: 2 })).toBeUndefined()
    expect(check(request, { maxSignatures: 1 })?.detail).toContain('this transaction needs 2')
  })

  test('limit the fee, and do not forbid to name its price', () => {
    const request = prebuilt(wire(STEP, unitPrice(1_000_000n)))
    // Two instructions of builtin programs, 3000 units each (SIMD-170), at a lamport for each unit.
    expect(check(request, { maxFee: 11_000n, allowedPrograms: [SYSTEM_PROGRAM] })).toBeUndefined()
    expect(check(request, { maxFee: 10_999n })).toEqual({
      code: 'fee_above_cap',
      detail: 'The fee of the transaction is up to 11000 lamports, and max_allowed_fee_lamports is 10999.',
    })
  })
})
