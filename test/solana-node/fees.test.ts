import { expect, test } from 'vitest'
import { createWallet, signContent, transfer, unitLimit, unitPrice } from '../../simulators/solana/wallet.ts'
import { openDesk, SOL } from './desk.ts'

test('the priority fee is price times limit, rounded up to a whole lamport', async () => {
  const { solana, payer, ask, signed, send } = await openDesk()
  const to = createWallet().address
  const transaction = await signed(unitLimit(1001), unitPrice(1_000_001n), transfer(payer.address, to, SOL))
  const message = Buffer.from(transaction.message).toString('base64')
  const config = { commitment: 'processed' }
  expect(await ask('getFeeForMessage', message, config)).toMatchObject({ value: 6002 })

  await send(transaction)
  solana.tick()
  expect(solana.included(transaction.signature)).toMatchObject({ err: null, fee: 6002n })
  expect(solana.account(payer.address)?.lamports).toBe(9n * SOL - 6002n)
})

test('without a limit the price is paid for the default one, 3000 units for each built-in program', async () => {
  const { solana, payer, signed, send } = await openDesk()
  const price = unitPrice(1_000_000n)
  const transaction = await signed(price, transfer(payer.address, createWallet().address, SOL))
  await send(transaction)
  solana.tick()
  expect(solana.included(transaction.signature)?.fee).toBe(11_000n)
  expect(solana.account(payer.address)?.lamports).toBe(9n * SOL - 11_000n)
})

test('a fee is not told of a blockhash that is unknown', async () => {
  const { payer, ask, reply } = await openDesk()
  const steps = [transfer(payer.address, createWallet().address, SOL)]
  const { message } = signContent({ signers: [payer], blockhash: payer.address, steps })
  expect(await ask('getFeeForMessage', Buffer.from(message).toString('base64'))).toMatchObject({
    value: null,
  })
  expect((await reply('getFeeForMessage', ['AAAA'])).error).toMatchObject({ code: -32602 })
})

test('more compute units than allowed end the program, and are paid', async () => {
  const { solana, payer, signed, send } = await openDesk()
  const transaction = await signed(
    unitLimit(200),
    unitPrice(10n),
    transfer(payer.address, createWallet().address, SOL),
  )
  await send(transaction, { skipPreflight: true })
  solana.tick()
  const applied = solana.included(transaction.signature)
  expect(applied).toMatchObject({ err: { InstructionError: [1, 'ComputationalBudgetExceeded'] }, fee: 5001n })
})

test('in a full block the highest prices go first, and lower ones wait', async () => {
  const { solana, payer, signed, send } = await openDesk({ market: { capacity: 1, requiredPrice: 5n } })
  const at = (price: bigint) => signed(unitPrice(price), transfer(payer.address, createWallet().address, SOL))
  const [cheap, dear, dearest] = await Promise.all([at(4n), at(5n), at(6n)])
  for (const transaction of [cheap, dear, dearest]) await send(transaction)
  const names = () => solana.tick().transactions.map(({ signature }) => signature)
  expect([names(), names(), names()]).toEqual([[dearest.signature], [dear.signature], []])
  solana.market.requiredPrice = 0n
  expect(names()).toEqual([cheap.signature])
})

test('recent prioritization fees are those that the test sets, block by block', async () => {
  const { solana, ask } = await openDesk()
  solana.tick(200)
  solana.market.recentPrice = 1234n
  const { slot } = solana.tick()
  const fees = await ask<{ slot: number; prioritizationFee: number }[]>('getRecentPrioritizationFees', [])
  expect(fees).toHaveLength(150)
  expect(fees.slice(-2)).toEqual([
    { slot: Number(slot) - 1, prioritizationFee: 0 },
    { slot: Number(slot), prioritizationFee: 1234 },
  ])
})
