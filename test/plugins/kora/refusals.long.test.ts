import { type Address, address, getAddressEncoder } from '@solana/kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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
  signContent,
  transfer,
  transferTokens,
  type Use,
  u32,
  u64,
  unitLimit,
  unitPrice,
} from '../../../simulators/solana/wallet.ts'
import { AS_PAYER, SELF } from '../../chains/solana/build.ts'
import {
  DELEGATED,
  EXTENDED,
  KORA_KEY,
  type Paymaster,
  PRICE,
  startPaymaster,
  TREASURY,
  USDC,
  type User,
} from './paymaster.ts'

let paymaster: Paymaster
let paid: Address
beforeAll(async () => {
  paymaster = await startPaymaster()
  paid = await associatedAddress(SELF, USDC)
}, 120_000)
afterAll(() => paymaster?.stop())

const stranger = createWallet()
const MEMO = address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')

/** An instruction by its accounts: `s` signs, `w` is written. */
function step(program: Address, accounts: readonly (readonly [Address, string])[], data: Uint8Array): Step {
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

interface Attack {
  /** All steps of the transaction; the payment is among them. */
  readonly steps: (user: User) => readonly Step[] | Promise<readonly Step[]>
  readonly code: number
  readonly says: RegExp
}

/** Pays to an account whose owner lets the user spend from it, and takes all of it back. */
async function payAndTakeBack(user: User, owner: Address): Promise<readonly Step[]> {
  const from = await paymaster.hold(user.address, PRICE, { mint: DELEGATED })
  const to = await paymaster.delegate(owner, user.address)
  const token = { mint: DELEGATED, program: TOKEN_PROGRAM }
  return [checked(from, token, to, user.address), transferTokens(to, from, user.address, PRICE)]
}

const IN_AN_INSTRUCTION = { code: -32_001, says: /may appear in no instruction/ }

const DRAINS: Readonly<Record<string, Attack>> = {
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
    steps: (user) => [user.pay(), transferTokens(paid, user.tokens, SELF, 1n)],
    ...IN_AN_INSTRUCTION,
  },
  'approves a delegate': {
    steps: (user) => [
      user.pay(),
      step(
        TOKEN_PROGRAM,
        [
          [paid, 'w'],
          [user.address, ''],
          [SELF, 's'],
        ],
        Buffer.concat([Buffer.from([4]), u64(9n)]),
      ),
    ],
    ...IN_AN_INSTRUCTION,
  },
  'closes the token account of the fee payer': {
    steps: (user) => [
      user.pay(),
      step(
        TOKEN_PROGRAM,
        [
          [paid, 'w'],
          [user.address, 'w'],
          [SELF, 's'],
        ],
        Buffer.from([9]),
      ),
    ],
    ...IN_AN_INSTRUCTION,
  },
  'pays with tokens of the fee payer': {
    steps: (user) => [
      transferTokens(paid, paid, SELF, PRICE),
      step(MEMO, [[user.address, 's']], Buffer.from('hi')),
    ],
    ...IN_AN_INSTRUCTION,
  },
  'hands the fee payer to a program': {
    steps: (user) => [user.pay(), step(MEMO, [[SELF, 's']], Buffer.from('hi'))],
    ...IN_AN_INSTRUCTION,
  },
  'takes the payment back as a delegate': {
    steps: (user) => payAndTakeBack(user, SELF),
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
    code: -32_003,
    says: /pays 1515 .* costs 16665\./,
  },
  'bids for priority with the limit of the network': {
    steps: (user) => [unitPrice(1_000_000n), user.pay()],
    code: -32_003,
    says: /pays 1515 .* costs 62115\./,
  },
  'pays less than the price': {
    steps: (user) => [user.pay(PRICE - 1n)],
    code: -32_003,
    says: /pays 1514 .* costs 1515\./,
  },
  'pays nothing': {
    steps: (user) => [transferTokens(user.tokens, user.tokens, user.address, PRICE)],
    code: -32_001,
    says: /pays nothing/,
  },
  'has spent the tokens before it pays': {
    steps: async (user) => [
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
        steps: async (user) => {
          const token = { mint, program: TOKEN_2022_PROGRAM }
          const from = await paymaster.hold(user.address, PRICE, token)
          return [checked(from, token, await paymaster.hold(SELF, 0n, token), user.address)]
        },
        code: -32_001,
        says: /pays nothing/,
      },
    ]),
  ),
}

describe('a transaction that', () => {
  test.each(Object.entries(DRAINS))('%s is neither signed nor sent', async (_, { steps, code, says }) => {
    const user = await paymaster.user()
    const transaction = paymaster.transaction(user, await steps(user))
    const before = paymaster.lamports()
    const expected = {
      code,
      message: expect.stringMatching(says),
      data: { error_type: expect.any(String), message: expect.any(String) },
    }
    for (const method of ['signTransaction', 'signAndSendTransaction']) {
      const { error, result } = await paymaster.call(method, { transaction })
      expect({ method, error, result }).toMatchObject({ method, error: expected, result: undefined })
    }
    expect(paymaster.lamports()).toBe(before)
    const { body } = await paymaster.service.api<object[]>('GET', '/transactions?relayer_id=main')
    expect(body.data).toEqual([])
  })

  test('leaves nothing of the payment with another owner than the relayer is refused', async () => {
    const user = await paymaster.user()
    const transaction = paymaster.transaction(user, await payAndTakeBack(user, TREASURY.address))
    const client = paymaster.client('keyed', KORA_KEY)
    const refusal = /RPC Error -32001: The transaction transfers 1515 base units, and leaves 0 of them/
    await expect(client.signTransaction({ transaction })).rejects.toThrow(refusal)
    await expect(client.signAndSendTransaction({ transaction })).rejects.toThrow(refusal)
  })

  test('takes from the fee payer is refused where the price is free as well', async () => {
    const user = await paymaster.user()
    const transaction = paymaster.transaction(user, [transfer(SELF, user.address, 5n)])
    const free = await paymaster.call('signTransaction', { transaction }, 'free')
    expect(free.error).toMatchObject({ code: -32_001 })
    const dear = [
      unitLimit(1_000_000),
      unitPrice(10n ** 7n),
      transferTokens(user.tokens, paid, user.address, 1n),
    ]
    const bids = await paymaster.call(
      'signTransaction',
      { transaction: paymaster.transaction(user, dear) },
      'free',
    )
    expect(bids.error).toMatchObject({
      code: -32_001,
      message: expect.stringMatching(/max_allowed_fee_lamports/),
    })
  })

  test.each<[string, number, RegExp, (user: User) => unknown]>([
    ['is no transaction', -32_000, /^transaction: /, () => 'AQAB'],
    ['is no text', -32_000, /^transaction: /, () => 7],
    [
      'has another fee payer',
      -32_001,
      /fee payer must be/,
      (user) => signContent({ ...content(user), signers: [user, AS_PAYER] }).base64,
    ],
    [
      'nobody else signs',
      -32_001,
      /signed by a user/,
      (user) =>
        signContent({ ...content(user), signers: [AS_PAYER], steps: [step(MEMO, [], Buffer.from('hi'))] })
          .base64,
    ],
    [
      'has the signature of another transaction',
      -32_000,
      /is not of this transaction/,
      (user) => {
        const bytes = Buffer.from(paymaster.transaction(user, [user.pay()]), 'base64')
        bytes.fill(3, 65, 129)
        return bytes.toString('base64')
      },
    ],
    [
      'needs a table that does not exist',
      -32_000,
      /cannot be resolved/,
      (user) =>
        signContent({
          ...content(user),
          lookups: [{ table: stranger.address, writable: [paid] }],
          tables: { [stranger.address]: [paid] },
        }).base64,
    ],
    [
      'has a blockhash that nobody knows',
      -32_000,
      /Blockhash not found/,
      (user) => signContent({ ...content(user), blockhash: stranger.address }).base64,
    ],
  ])('%s is refused', async (_, code, says, make) => {
    const transaction = make(await paymaster.user())
    const expected = { error: { code, message: expect.stringMatching(says) } }
    expect(await paymaster.call('signTransaction', { transaction })).toMatchObject(expected)
    expect(await paymaster.call('signAndSendTransaction', { transaction })).toMatchObject(expected)
  })

  test('lacks a signature of the user is signed, and not sent', async () => {
    const user = await paymaster.user()
    const bytes = Buffer.from(paymaster.transaction(user, [user.pay()]), 'base64')
    bytes.fill(0, 65, 129)
    const params = { transaction: bytes.toString('base64') }
    expect((await paymaster.call('signTransaction', params)).error).toBeUndefined()
    const missing = { error: { code: -32_000, message: expect.stringMatching(/signature of .* is missing/) } }
    expect(await paymaster.call('signTransaction', { ...params, sig_verify: true })).toMatchObject(missing)
    expect(await paymaster.call('signAndSendTransaction', params)).toMatchObject(missing)
  })
})

function content(user: User) {
  const { blockhash } = paymaster.solana.blocks.at(-3) ?? { blockhash: '' }
  return { signers: [AS_PAYER, user] as const, blockhash, steps: [user.pay()] }
}

describe('a request', () => {
  test.each<[string, string, unknown, number]>([
    ['for a bundle', 'signBundle', {}, -32_601],
    ['for what does not exist', 'toString', {}, -32_601],
    ['with a text as its parameters', 'getConfig', 'x', -32_602],
    ['with two parameters', 'getConfig', [{}, {}], -32_602],
    [
      'for another signer',
      'estimateTransactionFee',
      { transaction: 'AQAB', signer_key: stranger.address },
      -32_004,
    ],
    ['with an unknown time of the answer', 'signAndSendTransaction', { respond_after: 'soon' }, -32_602],
    ['for a transfer of nothing', 'transferTransaction', { amount: 0 }, -32_602],
    ['for a transfer of no token', 'transferTransaction', { amount: 1, token: 'USDC' }, -32_602],
  ])('%s is refused', async (_, method, params, code) => {
    const { id, error } = await paymaster.call(method, params)
    expect({ id, error }).toMatchObject({ id: 7, error: { code, data: { message: error?.message } } })
  })

  test('for a price in a token that is not accepted is refused', async () => {
    const user = await paymaster.user()
    const transaction = paymaster.transaction(user, [user.pay()])
    for (const mint of [stranger.address, EXTENDED['a transfer hook'].mint])
      expect(await paymaster.call('estimateTransactionFee', { transaction, fee_token: mint })).toMatchObject({
        error: { code: -32_002 },
      })
  })

  test('that is switched off is refused', async () => {
    expect(await paymaster.call('transferTransaction', {}, 'free')).toMatchObject({
      error: { code: -32_601 },
    })
  })

  test('that is no JSON-RPC is refused', async () => {
    const response = await fetch(`${paymaster.service.url}/kora/rpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([{ jsonrpc: '2.0', id: 1, method: 'liveness' }]),
    })
    expect(await response.json()).toMatchObject({ id: null, error: { code: -32_600 } })
  })
})

describe('the quota of a user', () => {
  test('is one transaction, also for two at the same moment, and others have their own', async () => {
    const user = await paymaster.user()
    const request = (amount: bigint, user_id?: string) => {
      const transaction = paymaster.transaction(user, [user.pay(amount)])
      return paymaster.call('signAndSendTransaction', { transaction, ...(user_id && { user_id }) }, 'quota')
    }
    const both = await Promise.all([request(PRICE, 'alice'), request(PRICE + 1n, 'alice')])
    expect(both.filter(({ result }) => result !== undefined)).toHaveLength(1)
    const refused = both.find(({ error }) => error !== undefined)
    expect(refused?.error).toMatchObject({ code: -32_031, message: expect.stringMatching(/user_limits/) })
    expect((await request(PRICE + 2n, 'bob')).result).toBeDefined()
    expect((await request(PRICE + 3n, 'bob')).error).toMatchObject({ code: -32_031 })
    // Without the name of a user, the one who signs counts.
    expect((await request(PRICE + 4n)).result).toBeDefined()
    expect((await request(PRICE + 5n)).error).toMatchObject({ code: -32_031 })
  })
})
