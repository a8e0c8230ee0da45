import { type Address, address, getAddressEncoder } from '@solana/kit'
import {
  LOOKUP_TABLE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../../simulators/solana/runtime/programs.ts'
import { associatedAddress } from '../../../simulators/solana/tokens.ts'
import {
  advanceNonce,
  createAccount,
  createTable,
  createWallet,
  openTokenAccount,
  type Step,
  transfer,
  transferTokens,
  type Use,
  u32,
  u64,
  unitLimit,
  unitPrice,
} from '../../../simulators/solana/wallet.ts'
import { SELF } from '../../chains/solana/build.ts'
import { DELEGATED, EXTENDED, type Paymaster, PRICE, type User } from './paymaster.ts'

/** Someone who has nothing to do with the relayer. */
export const stranger = createWallet()
export const MEMO = address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')

/** An instruction by its accounts: `s` signs, `w` is written. */
export function step(
  program: Address,
  accounts: readonly (readonly [Address, string])[],
  data: Uint8Array,
): Step {
  const uses = accounts.map(
    ([name, rights]): Use => ({ address: name, signs: rights.includes('s'), writes: rights.includes('w') }),
  )
  return { program, accounts: uses, data }
}

function checked(
  from: Address,
  token: { mint: Address; program: Address },
  to: Address,
  owner: Address,
): Step {
  const data = Buffer.concat([Buffer.from([12]), u64(PRICE), Buffer.from([6])])
  const accounts = [
    [from, 'w'] as const,
    [token.mint, ''] as const,
    [to, 'w'] as const,
    [owner, 's'] as const,
  ]
  return step(token.program, accounts, data)
}

/** A transaction that would cost the relayer more than it gets, and the answer. */
export interface Attack {
  /** All steps of the transaction; the payment is among them. */
  readonly steps: (user: User, paymaster: Paymaster) => readonly Step[] | Promise<readonly Step[]>
  readonly code: number
  readonly says: RegExp
}

/** Pays to an account whose owner lets the user spend from it, and takes all of it back. */
export async function payAndTakeBack(
  paymaster: Paymaster,
  user: User,
  owner: Address,
): Promise<readonly Step[]> {
  const from = await paymaster.hold(user.address, PRICE, { mint: DELEGATED })
  const to = await paymaster.delegate(owner, user.address)
  const token = { mint: DELEGATED, program: TOKEN_PROGRAM }
  return [checked(from, token, to, user.address), transferTokens(to, from, user.address, PRICE)]
}

const IN_AN_INSTRUCTION = { code: -32_001, says: /may appear in no instruction/ }

/** Drains that are known of paymasters, and payments that are none. */
export const DRAINS: Readonly<Record<string, Attack>> = {
  'opens a token account of the user': {
    steps: async (user) => [
      user.pay(),
      openTokenAccount(SELF, await associatedAddress(user.address, DELEGATED), user.address, DELEGATED),
    ],
    ...IN_AN_INSTRUCTION,
  },
  'transfers lamports': {
    steps: (user) => [user.pay(), transfer(SELF, user.address, 5n)],
    ...IN_AN_INSTRUCTION,
  },
  'creates an account': {
    steps: (user) => [
      user.pay(),
      createAccount(SELF, user.address, { lamports: 2_000_000n, space: 0, owner: SYSTEM_PROGRAM }),
    ],
    ...IN_AN_INSTRUCTION,
  },
  'gives the account of the fee payer to a program': {
    steps: (user) => [
      user.pay(),
      step(
        SYSTEM_PROGRAM,
        [[SELF, 'sw']],
        Buffer.concat([u32(1), Buffer.from(getAddressEncoder().encode(stranger.address))]),
      ),
    ],
    ...IN_AN_INSTRUCTION,
  },
  'withdraws from a nonce account of the fee payer': {
    steps: (user) => [
      user.pay(),
      step(
        SYSTEM_PROGRAM,
        [
          [stranger.address, 'w'],
          [user.address, 'w'],
          [address('SysvarRecentB1ockHashes11111111111111111111'), ''],
          [address('SysvarRent111111111111111111111111111111111'), ''],
          [SELF, 's'],
        ],
        Buffer.concat([u32(5), u64(1_000_000n)]),
      ),
    ],
    ...IN_AN_INSTRUCTION,
  },
  'advances a nonce account of the fee payer': {
    steps: (user) => [user.pay(), advanceNonce(stranger.address, SELF)],
    ...IN_AN_INSTRUCTION,
  },
  'opens a look-up table': {
    steps: (user) => [user.pay(), createTable(stranger.address, SELF, 1n, 255)],
    ...IN_AN_INSTRUCTION,
  },
  'closes a look-up table of the fee payer': {
    steps: (user) => [
      user.pay(),
      step(
        LOOKUP_TABLE_PROGRAM,
        [
          [stranger.address, 'w'],
          [SELF, 's'],
          [user.address, 'w'],
        ],
        u32(4),
      ),
    ],
    ...IN_AN_INSTRUCTION,
  },
  'transfers tokens of the fee payer': {
    steps: (user, paymaster) => [user.pay(), transferTokens(paymaster.paid, user.tokens, SELF, 1n)],
    ...IN_AN_INSTRUCTION,
  },
  'approves a delegate': {
    steps: (user, paymaster) => [
      user.pay(),
      step(
        TOKEN_PROGRAM,
        [
          [paymaster.paid, 'w'],
          [user.address, ''],
          [SELF, 's'],
        ],
        Buffer.concat([Buffer.from([4]), u64(9n)]),
      ),
    ],
    ...IN_AN_INSTRUCTION,
  },
  'closes the token account of the fee payer': {
    steps: (user, paymaster) => [
      user.pay(),
      step(
        TOKEN_PROGRAM,
        [
          [paymaster.paid, 'w'],
          [user.address, 'w'],
          [SELF, 's'],
        ],
        Buffer.from([9]),
      ),
    ],
    ...IN_AN_INSTRUCTION,
  },
  'pays with tokens of the fee payer': {
    steps: (user, paymaster) => [
      transferTokens(paymaster.paid, paymaster.paid, SELF, PRICE),
      step(MEMO, [[user.address, 's']], Buffer.from('hi')),
    ],
    ...IN_AN_INSTRUCTION,
  },
  'hands the fee payer to a program': {
    steps: (user) => [user.pay(), step(MEMO, [[SELF, 's']], Buffer.from('hi'))],
    ...IN_AN_INSTRUCTION,
  },
  'takes the payment back as a delegate': {
    steps: (user, paymaster) => payAndTakeBack(paymaster, user, SELF),
    code: -32_001,
    says: /would get rights in the relayer's token account/,
  },
  'has a durable nonce': {
    steps: (user) => [advanceNonce(stranger.address, user.address), user.pay()],
    code: -32_001,
    says: /durable nonce never expires/,
  },
  'bids for priority without a cap': {
    steps: (user) => [unitLimit(100_000), unitPrice(10n ** 12n), user.pay(9_000_000n)],
    code: -32_001,
    says: /max_allowed_fee_lamports is 1000000/,
  },
  'bids for priority and pays for a signature': {
    steps: (user) => [unitLimit(100_000), unitPrice(1_000_000n), user.pay()],
    code: -32_000,
    says: /pays 1515 .* costs 16665\./,
  },
  'bids for priority with the limit of the network': {
    steps: (user) => [unitPrice(1_000_000n), user.pay()],
    code: -32_000,
    says: /pays 1515 .* costs 62115\./,
  },
  'pays less than the price': {
    steps: (user) => [user.pay(PRICE - 1n)],
    code: -32_000,
    says: /pays 1514 .* costs 1515\./,
  },
  'pays nothing': {
    steps: (user) => [transferTokens(user.tokens, user.tokens, user.address, PRICE)],
    code: -32_000,
    says: /pays nothing/,
  },
  'has spent the tokens before it pays': {
    steps: async (user, paymaster) => [
      transferTokens(user.tokens, await paymaster.hold(stranger.address, 0n), user.address, 10_000_000n),
      user.pay(),
    ],
    code: -32_006,
    says: /insufficient funds/,
  },
  ...Object.fromEntries(
    Object.entries(EXTENDED).map(([name, { mint }]): [string, Attack] => [
      `pays in a token of Token-2022 with ${name}`,
      {
        steps: async (user, paymaster) => {
          const token = { mint, program: TOKEN_2022_PROGRAM }
          const from = await paymaster.hold(user.address, PRICE, token)
          return [checked(from, token, await paymaster.hold(SELF, 0n, token), user.address)]
        },
        code: -32_000,
        says: /pays nothing/,
      },
    ]),
  ),
}
