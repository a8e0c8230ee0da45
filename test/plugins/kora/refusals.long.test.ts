import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  signContent,
  transfer,
  transferTokens,
  unitLimit,
  unitPrice,
} from '../../../simulators/solana/wallet.ts'
import { AS_PAYER, SELF } from '../../chains/solana/build.ts'
import { DRAINS, MEMO, payAndTakeBack, step, stranger } from './drains.ts'
import {
  EXTENDED,
  KORA_KEY,
  type Paymaster,
  PRICE,
  startPaymaster,
  TREASURY,
  type User,
} from './paymaster.ts'

let paymaster: Paymaster
beforeAll(async () => {
  paymaster = await startPaymaster()
}, 120_000)
afterAll(() => paymaster?.stop())

describe('a transaction that', () => {
  test.each(Object.entries(DRAINS))('%s is neither signed nor sent', async (_, { steps, code, says }) => {
    const user = await paymaster.user()
    const transaction = paymaster.transaction(user, await steps(user, paymaster))
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
    const transaction = paymaster.transaction(user, await payAndTakeBack(paymaster, user, TREASURY.address))
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
      transferTokens(user.tokens, paymaster.paid, user.address, 1n),
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
          lookups: [{ table: stranger.address, writable: [paymaster.paid] }],
          tables: { [stranger.address]: [paymaster.paid] },
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
      body: JSON.stringify([]),
    })
    expect(await response.json()).toMatchObject({ id: null, error: { code: -32_600 } })
  })

  test('in a batch is answered like one alone, in the order of the batch', async () => {
    const response = await fetch(`${paymaster.service.url}/kora/rpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([
        { jsonrpc: '2.0', id: 'a', method: 'liveness' },
        { jsonrpc: '2.0', id: 2, method: 'signBundle', params: {} },
        7,
      ]),
    })
    expect(await response.json()).toMatchObject([
      { id: 'a', result: null },
      { id: 2, error: { code: -32_601 } },
      { id: null, error: { code: -32_600 } },
    ])
  })
})

describe('the quota of a user', () => {
  test('is one transaction, also for two at the same moment, and others have their own', async () => {
    const user = await paymaster.user()
    const request = (amount: bigint, user_id?: string) => {
      const transaction = paymaster.transaction(user, [user.pay(amount)])
      return paymaster.call('signAndSendTransaction', { transaction, ...(user_id && { user_id }) }, 'quota')
    }
    const both = await Promise.all([request(PRICE), request(PRICE + 1n)])
    expect(both.filter(({ result }) => result !== undefined)).toHaveLength(1)
    const refused = both.find(({ error }) => error !== undefined)
    expect(refused?.error).toMatchObject({ code: -32_031, message: expect.stringMatching(/user_limits/) })
    // What a caller without a key says about himself is not believed.
    expect((await request(PRICE + 2n, 'alice')).error).toMatchObject({ code: -32_031 })
  })

  test('is not used up by a stranger who has no signature of the user', async () => {
    const user = await paymaster.user()
    const sign = (amount: bigint) => {
      const bytes = Buffer.from(paymaster.transaction(user, [user.pay(amount)]), 'base64')
      bytes.fill(0, 65, 129)
      return paymaster.call('signTransaction', { transaction: bytes.toString('base64') }, 'quota')
    }
    await Promise.all([1n, 2n, 3n].map((more) => sign(PRICE + more)))
    const transaction = paymaster.transaction(user, [user.pay()])
    expect((await paymaster.call('signAndSendTransaction', { transaction }, 'quota')).error).toBeUndefined()
  })
})

describe('a payer', () => {
  test('with funds for one payment gets one signature, however many transactions he makes', async () => {
    const user = await paymaster.user()
    await paymaster.hold(user.address, PRICE + 100n)
    const transactions = Array.from({ length: 8 }, (_, index) =>
      paymaster.transaction(user, [user.pay(PRICE + BigInt(index))]),
    )
    const answers = await Promise.all(
      transactions.map((transaction) => paymaster.call('signTransaction', { transaction })),
    )
    expect(answers.filter(({ error }) => error === undefined)).toHaveLength(1)
    expect(answers.filter(({ error }) => error?.code === -32_003)).toHaveLength(7)
  })

  test('who signs later is in the same position, and takes nothing from others', async () => {
    const user = await paymaster.user()
    await paymaster.hold(user.address, PRICE + 100n)
    const unsigned = (amount: bigint) => {
      const bytes = Buffer.from(paymaster.transaction(user, [user.pay(amount)]), 'base64')
      bytes.fill(0, 65, 129)
      return paymaster.call('signTransaction', { transaction: bytes.toString('base64') })
    }
    const answers = await Promise.all([1n, 2n, 3n, 4n].map((more) => unsigned(PRICE + more)))
    expect(answers.filter(({ error }) => error === undefined)).toHaveLength(1)
    const transaction = paymaster.transaction(user, [user.pay()])
    expect((await paymaster.call('signAndSendTransaction', { transaction })).error).toBeUndefined()
  })

  test('may give lamports to the fee payer', async () => {
    const user = await paymaster.user()
    paymaster.solana.airdrop(user.address, 1_000_000_000n)
    const before = paymaster.lamports()
    const transaction = paymaster.transaction(user, [user.pay(), transfer(user.address, SELF, 1_000_000n)])
    expect((await paymaster.call('signAndSendTransaction', { transaction })).error).toBeUndefined()
    expect(paymaster.lamports()).toBe(before + 1_000_000n - 10_000n)
  })
})
