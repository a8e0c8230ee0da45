import { describe, expect, test } from 'vitest'
import { checkRequest } from '../../../src/chains/stellar/check/request.ts'
import type { StellarRequest } from '../../../src/chains/stellar/content.ts'
import type { StellarOperation } from '../../../src/chains/stellar/model/operation.ts'
import { accountWith, addressOf, NETWORK, OTHER, paymentOf, requestOf, SELF } from './build.ts'

const TYPO = `${OTHER.slice(0, -1)}${OTHER.endsWith('A') ? 'B' : 'A'}`
const CONTRACT = 'CA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUWDA'
const MUXED = 'MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUQ'
const USD = { type: 'credit4', code: 'USD', issuer: OTHER } as const
const CALL: StellarOperation = {
  type: 'invoke_contract',
  contract_address: CONTRACT,
  function_name: 'f',
  args: [],
}
const pay = paymentOf(1n)

const check = (change: Partial<StellarRequest>) => checkRequest(requestOf(change), accountWith(), NETWORK)

const FRAMES: readonly (readonly [Partial<StellarRequest>, string])[] = [
  [{ network: 'pubnet', operations: [pay] }, 'network: local is expected, the network of the relayer.'],
  [{}, 'operations, transaction_xdr: one of the two is expected.'],
  [
    { operations: [pay], transactionXdr: 'AAAA' },
    'operations, transaction_xdr: one of the two is expected, not both.',
  ],
  [{ operations: [] }, 'operations: 1 to 100 operations are expected, 0 were given.'],
  [
    { operations: Array.from({ length: 101 }, () => pay) },
    'operations: 1 to 100 operations are expected, 101 were given.',
  ],
  [{ operations: [pay], feeBump: true }, 'fee_bump: expected only with a signed transaction_xdr'],
  [{ operations: [pay], maxFee: 0n }, 'max_fee: at least 1 stroop is expected.'],
  [
    { operations: [pay], sourceAccount: OTHER },
    `source_account: the relayer's own account ${SELF} is expected`,
  ],
  [
    { operations: [pay], sourceAccount: TYPO },
    'source_account: the address of a Stellar account is expected; its checksum is wrong.',
  ],
  [
    { operations: [pay], memo: { type: 'text', value: 'ü'.repeat(15) } },
    'memo.value: at most 28 bytes of UTF-8 are expected, 30 were given.',
  ],
  [
    { operations: [pay], memo: { type: 'id', value: 2n ** 64n } },
    'memo.value: a number from 0 to 18446744073709551615 is expected.',
  ],
  [{ operations: [pay], memo: { type: 'hash', value: [1, 2] } }, 'memo.value: 32 bytes are expected'],
  [
    { operations: [pay, CALL] },
    'operations[1]: invoke_contract has to be the only operation of its transaction.',
  ],
  [
    { operations: [CALL], memo: { type: 'text', value: 'x' } },
    'memo: none is expected with invoke_contract.',
  ],
  [{ transactionXdr: 'AAAA' }, 'transaction_xdr: a TransactionEnvelope is expected, XDR in base64.'],
]

describe('what is refused before anybody is asked', () => {
  test.each(FRAMES)('%#: %s', (change, detail) => {
    const refusal = check(change)
    expect(refusal?.code).toBe('invalid_request')
    expect(refusal?.detail.startsWith(detail), refusal?.detail).toBe(true)
  })

  test('the place of the operation stands in the answer', () => {
    expect(check({ operations: [pay, pay, paymentOf(-1n)] })?.detail).toMatch(/^operations\[2\]\.amount: /)
  })

  test('signatures that only others can give', () => {
    const refusal = check({
      operations: [{ ...CALL, auth: { type: 'addresses', signers: [OTHER] } } as StellarOperation],
    })
    expect(refusal?.code).toBe('not_supported')
    expect(refusal?.detail).toMatch(/^operations\[0\]\.auth\.type: /)
  })

  test('more than the relayer allows', () => {
    const request = requestOf({ operations: [pay], maxFee: 501n })
    expect(checkRequest(request, accountWith({ maxFee: 500n }), NETWORK)?.code).toBe('fee_above_cap')
    expect(checkRequest({ ...request, maxFee: 500n }, accountWith({ maxFee: 500n }), NETWORK)).toBeUndefined()
  })

  test('more than the default, where the relayer has no policy', () => {
    const checkFee = (maxFee: bigint, policies = {}) =>
      checkRequest(requestOf({ operations: [pay], maxFee }), accountWith(policies), NETWORK)
    expect(checkFee(1_000_000n)).toBeUndefined()
    expect(checkFee(1_000_001n)).toEqual({
      code: 'fee_above_cap',
      detail: "max_fee: 1000001 is above the relayer's max_fee of 1000000 stroops.",
    })
    expect(checkFee(5_000_000n, { maxFee: 5_000_000n })).toBeUndefined()
  })
})

describe('what passes', () => {
  const PASSING: readonly Partial<StellarRequest>[] = [
    { operations: [pay] },
    { operations: Array.from({ length: 100 }, () => pay), memo: { type: 'hash', value: 'ab'.repeat(32) } },
    { operations: [pay], memo: { type: 'return', value: Array.from({ length: 32 }, () => 255) } },
    { operations: [pay], memo: { type: 'text', value: 'ü'.repeat(14) }, sourceAccount: SELF },
    { operations: [CALL], memo: { type: 'none' } },
    {
      operations: [
        { type: 'payment', destination: MUXED, asset: { ...USD, type: 'credit_alphanum4' }, amount: 1n },
      ],
    },
    { operations: [{ type: 'bump_sequence', bump_to: 0n }] },
    {
      operations: [
        { type: 'set_options', signer: { key: addressOf('third'), weight: 255 }, home_domain: 'example.com' },
      ],
    },
  ]

  test.each(PASSING)('%#', (change) => {
    expect(check(change)).toBeUndefined()
  })
})
