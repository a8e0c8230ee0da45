import type { Address } from '@solana/kit'
import { describe, expect, test } from 'vitest'
import {
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../../simulators/solana/runtime/programs.ts'
import {
  createAccount,
  openTokenAccount,
  type Step,
  signContent,
  transfer,
  transferTokens,
  u64,
} from '../../../simulators/solana/wallet.ts'
import { solanaTransfers } from '../../../src/chains/solana/effects/transfers.ts'
import { AS_PAYER, instructionsOf, OTHER, requestOf, SELF, someAddress } from './build.ts'

const [NEW, SOURCE, TARGET, MINT, PROGRAM, THIRD] = [31, 32, 33, 34, 35, 36].map(someAddress) as [
  Address,
  Address,
  Address,
  Address,
  Address,
  Address,
]
const LARGEST = 2n ** 64n - 1n

const transfersOf = (...steps: readonly Step[]) => solanaTransfers(instructionsOf(...steps), SELF).transfers
const step = (program: Address, accounts: readonly Address[], ...data: readonly Uint8Array[]): Step => ({
  program,
  accounts: accounts.map((address) => ({ address, writes: true })),
  data: Buffer.concat(data),
})
const bytes = (...values: readonly number[]) => Buffer.from(values)
const checked = (kind: readonly number[], accounts: readonly Address[], program: Address, amount = 9n) =>
  step(program, accounts, bytes(...kind), u64(amount), bytes(6))
const SEND = [SOURCE, MINT, TARGET, SELF] as const
const paid = { from: SELF, to: TARGET, asset: MINT, amount: 9n, decimals: 6 }

test.each<[string, Step, object]>([
  ['lamports', transfer(SELF, OTHER, LARGEST), { from: SELF, to: OTHER, asset: 'native', amount: LARGEST }],
  [
    'lamports of others',
    step(SYSTEM_PROGRAM, [OTHER, SELF], transfer(SELF, OTHER, 5n).data),
    {
      from: OTHER,
      to: SELF,
      asset: 'native',
      amount: 5n,
    },
  ],
  [
    'a new account',
    createAccount(SELF, NEW, { lamports: 6n, space: 165, owner: TOKEN_PROGRAM }),
    { from: SELF, to: NEW, asset: 'native', amount: 6n },
  ],
])('the system program: %s', (_name, one, want) => {
  expect(transfersOf(one)).toEqual([want])
})

describe.each([
  ['SPL Token', TOKEN_PROGRAM],
  ['Token-2022', TOKEN_2022_PROGRAM],
])('%s', (_name, program) => {
  test.each<[string, Step, object]>([
    ['transferChecked', checked([12], SEND, program), paid],
    [
      'transferChecked of others',
      checked([12], [SOURCE, MINT, TARGET, THIRD], program),
      { ...paid, from: THIRD },
    ],
    [
      'burnChecked',
      checked([15], [SOURCE, MINT, SELF], program),
      { from: SELF, asset: MINT, amount: 9n, decimals: 6 },
    ],
    ['the largest amount', checked([12], SEND, program, LARGEST), { ...paid, amount: LARGEST }],
  ])('%s', (_what, one, want) => {
    expect(transfersOf(one)).toEqual([want])
  })

  test.each<[string, Step]>([
    ['an allowance', checked([13], SEND, program)],
    ['a transfer that names no mint', { ...transferTokens(SOURCE, TARGET, SELF, 9n), program }],
    ['a byte too many', step(program, SEND, bytes(12), u64(9n), bytes(6, 0))],
    ['a byte too few', step(program, SEND, bytes(12), u64(9n))],
    ['no accounts', step(program, [], bytes(12), u64(9n), bytes(6))],
    ['another program', checked([12], SEND, PROGRAM)],
  ])('%s is none', (_what, one) => {
    expect(transfersOf(one)).toEqual([])
  })
})

test('a transfer with a fee exists in Token-2022 only', () => {
  const withFee = (program: Address) => step(program, SEND, bytes(26, 1), u64(9n), bytes(6), u64(1n))
  expect(transfersOf(withFee(TOKEN_2022_PROGRAM))).toEqual([paid])
  expect(transfersOf(withFee(TOKEN_PROGRAM))).toEqual([])
})

test('the owner receives, where the content opens the account of the token, and in the order of the instructions', () => {
  const steps = [
    openTokenAccount(SELF, TARGET, OTHER, MINT),
    checked([12], SEND, TOKEN_PROGRAM),
    transfer(SELF, NEW, 1n),
  ]
  expect(transfersOf(...steps)).toEqual([
    { ...paid, to: OTHER },
    { from: SELF, to: NEW, asset: 'native', amount: 1n },
  ])
})

test('the wire format tells the same, without the accounts that are in a table', () => {
  const table = someAddress(40)
  const hidden = [TARGET]
  const { base64 } = signContent({
    signers: [AS_PAYER],
    blockhash: someAddress(9),
    steps: [checked([12], SEND, TOKEN_PROGRAM)],
    lookups: [{ table, writable: hidden }],
    tables: { [table]: hidden },
  })
  const { to: _to, ...rest } = paid
  expect(solanaTransfers(requestOf({ transaction: base64 }), SELF).transfers).toEqual([rest])
})
