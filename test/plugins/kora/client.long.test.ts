import type { Instruction } from '@solana/kit'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { TOKEN_2022_PROGRAM } from '../../../simulators/solana/runtime/programs.ts'
import { createWallet, type Step, transfer, transferTokens } from '../../../simulators/solana/wallet.ts'
import { broadcastDirectly, MAIN } from '../../support/solana-scenario.ts'
import { KORA_KEY, type Paymaster, PRICE, startPaymaster, TREASURY, TWENTY_TWO, USDC } from './paymaster.ts'

let paymaster: Paymaster
beforeAll(async () => {
  paymaster = await startPaymaster()
}, 120_000)
afterAll(() => paymaster?.stop())

/** An instruction of the client as a step. */
function stepOf({ programAddress, accounts = [], data }: Instruction): Step {
  return {
    program: programAddress,
    accounts: accounts.map(({ address, role }) => ({ address, signs: role >= 2, writes: role % 2 === 1 })),
    data: Uint8Array.from(data ?? []),
  }
}

describe('a user without SOL, with the client of npm', () => {
  test('asks for the price, pays in tokens, and has a transaction confirmed', async () => {
    const client = paymaster.client()
    const user = await paymaster.user()
    const friend = createWallet().address
    const friendTokens = await paymaster.hold(friend, 0n)
    const gift = transferTokens(user.tokens, friendTokens, user.address, 2_000_000n)
    const before = { lamports: paymaster.lamports(), tokens: await paymaster.balance(paymaster.relayer) }
    const payment = await client.getPaymentInstruction({
      transaction: paymaster.transaction(user, [gift]),
      fee_token: USDC,
      source_wallet: user.address,
    })
    expect(payment).toMatchObject({
      payment_amount: Number(PRICE),
      payment_address: MAIN,
      signer_address: MAIN,
    })
    const transaction = paymaster.transaction(user, [gift, stepOf(payment.payment_instruction)])
    const sent = await client.signAndSendTransaction({ transaction })
    expect(sent.signer_pubkey).toBe(MAIN)
    expect(paymaster.solana.included(sent.signature)).toMatchObject({ meta: expect.anything() })
    expect(await paymaster.balance(friend)).toBe(2_000_000n)
    expect(await paymaster.balance(paymaster.relayer)).toBe(before.tokens + PRICE)
    expect(paymaster.lamports()).toBe(before.lamports - 10_000n)
    const bytes = Buffer.from(sent.signed_transaction, 'base64')
    expect(bytes.subarray(129)).toEqual(Buffer.from(transaction, 'base64').subarray(129))
  })

  test('signs a transaction, has it signed, and sends it alone', async () => {
    const user = await paymaster.user()
    const transaction = paymaster.transaction(user, [user.pay()])
    const { signed_transaction } = await paymaster.client().signTransaction({ transaction })
    const before = await paymaster.balance(paymaster.relayer)
    await broadcastDirectly(paymaster.solana, signed_transaction)
    await expect.poll(() => paymaster.balance(paymaster.relayer)).toBe(before + PRICE)
  })

  test('pays in a token of Token-2022', async () => {
    const user = await paymaster.user()
    const token = { mint: TWENTY_TWO, program: TOKEN_2022_PROGRAM }
    await paymaster.hold(user.address, 5_000n, token)
    const client = paymaster.client()
    const { payment_instruction } = await client.getPaymentInstruction({
      transaction: paymaster.transaction(user, [user.pay(1n)]),
      fee_token: TWENTY_TWO,
      source_wallet: user.address,
      token_program_id: TOKEN_2022_PROGRAM,
    })
    const step = { ...stepOf(payment_instruction), program: TOKEN_2022_PROGRAM }
    await client.signAndSendTransaction({ transaction: paymaster.transaction(user, [step]) })
    expect(await paymaster.balance(paymaster.relayer, token)).toBe(PRICE)
  })

  test('makes a transfer of tokens with transferTransaction', async () => {
    const user = await paymaster.user()
    const friend = createWallet().address
    const friendTokens = await paymaster.hold(friend, 0n)
    const wanted = { amount: 5, token: USDC, source: user.address, destination: friend }
    const made = await paymaster.client().transferTransaction(wanted)
    expect(made.instructions).toHaveLength(1)
    expect(made.instructions[0]?.accounts?.[2]?.address).toBe(friendTokens)
    const nowhere = { ...wanted, destination: createWallet().address }
    await expect(paymaster.client().transferTransaction(nowhere)).rejects.toThrow('RPC Error -32050')
  })
})

describe('the same transaction', () => {
  test('is one transaction with one answer, however often and whenever it is requested', async () => {
    const user = await paymaster.user()
    const before = await paymaster.balance(paymaster.relayer)
    const transaction = paymaster.transaction(user, [user.pay()])
    const client = paymaster.client()
    const other = Buffer.from(transaction, 'base64')
    other.fill(9, 1, 65)
    const requests = [transaction, transaction, other.toString('base64')]
    const sent = await Promise.all(requests.map((one) => client.signAndSendTransaction({ transaction: one })))
    const again = await client.signAndSendTransaction({ transaction })
    expect(new Set([...sent, again].map(({ signature }) => signature)).size).toBe(1)
    expect(again).toEqual(sent[0])
    expect(await paymaster.balance(paymaster.relayer)).toBe(before + PRICE)
    const { body } = await paymaster.service.api<object[]>(
      'GET',
      `/transactions?relayer_id=main&hash=${again.signature}`,
    )
    expect(body.data).toHaveLength(1)
  })

  test('is answered as soon as it is signed, if the caller wants that', async () => {
    const user = await paymaster.user()
    const params = { transaction: paymaster.transaction(user, [user.pay()]), respond_after: 'signed' }
    const { result } = await paymaster.call('signAndSendTransaction', params)
    const confirmed = await paymaster.call('signAndSendTransaction', {
      ...params,
      respond_after: 'confirmed',
    })
    expect(confirmed.result).toEqual(result)
    expect(paymaster.solana.included(String(result?.signature))).toBeDefined()
  })

  test('costs what was quoted, although the price has doubled since', async () => {
    const user = await paymaster.user()
    const cosigner = createWallet()
    const sign = (amount: bigint) => {
      const step = transfer(cosigner.address, user.address, 0n)
      return paymaster.transaction(user, [user.pay(amount), step], [cosigner])
    }
    const { fee_in_lamports, fee_in_token } = await paymaster
      .client()
      .estimateTransactionFee({ transaction: sign(1n), fee_token: USDC })
    expect({ fee_in_lamports, fee_in_token }).toEqual({ fee_in_lamports: 15_000, fee_in_token: 2_273 })
    const setMargin = (fee_margin_percentage: number) =>
      paymaster.service.api('PATCH', '/relayers/main', { policies: { fee_margin_percentage } })
    expect(await setMargin(100)).toMatchObject({ status: 200 })
    onTestFinished(async () => {
      await setMargin(0)
    })
    expect(await paymaster.call('signTransaction', { transaction: sign(2_272n) })).toMatchObject({
      error: { code: -32_000, message: expect.stringContaining('costs 4545') },
    })
    const { signed_transaction } = await paymaster.client().signTransaction({ transaction: sign(2_273n) })
    expect(signed_transaction).toEqual(expect.any(String))
  })
})

describe('a client', () => {
  test('learns the payer, the tokens, the blockhash, the rules and the version', async () => {
    const client = paymaster.client()
    expect(await client.getPayerSigner()).toEqual({ signer_address: MAIN, payment_address: MAIN })
    const { tokens } = await client.getSupportedTokens()
    expect(tokens).toEqual(expect.arrayContaining([USDC, TWENTY_TWO]))
    expect(tokens).toHaveLength(3)
    const { blockhash } = await client.getBlockhash()
    expect(paymaster.solana.blocks.some((block) => block.blockhash === blockhash)).toBe(true)
    expect(await client.getConfig()).toMatchObject({
      fee_payers: [MAIN],
      validation_config: {
        max_allowed_lamports: 1_000_000,
        allowed_spl_paid_tokens: tokens,
        price: { type: 'margin', margin: 0 },
        fee_payer_policy: { system: { allow_transfer: false } },
      },
      enabled_methods: { sign_transaction: true, sign_and_send_bundle: false },
    })
    expect(await paymaster.call('liveness', undefined)).toEqual({ jsonrpc: '2.0', id: 7, result: null })
    expect((await paymaster.call('getVersion', [])).result).toEqual({ version: expect.any(String) })
  })

  test('needs a key where the plugin has keys, except for liveness', async () => {
    const transaction = 'AQAB'
    await expect(paymaster.client('keyed').getConfig()).rejects.toThrow('RPC Error -32032')
    await expect(paymaster.client('keyed', `${KORA_KEY}x`).getConfig()).rejects.toThrow('RPC Error -32032')
    expect((await paymaster.call('liveness', {}, 'keyed')).error).toBeUndefined()
    expect(await paymaster.client('keyed', KORA_KEY).getPayerSigner()).toEqual({
      signer_address: MAIN,
      payment_address: TREASURY.address,
    })
    await expect(paymaster.client('keyed', KORA_KEY).signTransaction({ transaction })).rejects.toThrow(
      'RPC Error -32000',
    )
  })

  test.each([
    ['fee_payer_spending', { fee_payer_spending: 'always' }],
    ['fee_payment_strategy', { fee_payment_strategy: 'user' }],
  ])('is told of a relayer whose policy %s leaves the guards to others', async (name, policies) => {
    const change = (more: object) => paymaster.service.api('PATCH', '/relayers/main', { policies: more })
    expect(await change(policies)).toMatchObject({ status: 200 })
    onTestFinished(async () => {
      await change({ [name]: null })
    })
    const { error } = await paymaster.call('getPayerSigner', {})
    expect(error).toMatchObject({ code: -32_091, message: expect.stringContaining(name) })
  })

  test('pays nothing where the price is free', async () => {
    const client = paymaster.client('free')
    const user = await paymaster.user()
    const step = transferTokens(
      user.tokens,
      await paymaster.hold(createWallet().address, 0n),
      user.address,
      1n,
    )
    const transaction = paymaster.transaction(user, [step])
    const estimate = await client.estimateTransactionFee({ transaction, fee_token: USDC })
    expect(estimate).toMatchObject({ fee_in_lamports: 10_000, fee_in_token: 0 })
    const { signature } = await client.signAndSendTransaction({ transaction })
    expect(paymaster.solana.included(signature)).toBeDefined()
  })
})
