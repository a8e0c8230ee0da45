import { expect, test } from 'vitest'
import { SYSTEM_PROGRAM } from '../runtime/programs.ts'
import { createWallet, signContent, transfer, unitLimit, unitPrice } from '../wallet.ts'
import { openDesk, SOL } from './desk.ts'

test('a transfer moves the lamports, and its payer pays 5000 for the signature', async () => {
  const { solana, payer, ask, signed, send } = await openDesk()
  const to = createWallet().address
  const transaction = await signed(transfer(payer.address, to, SOL))

  expect(await send(transaction)).toBe(transaction.signature)
  expect(solana.included(transaction.signature)).toBeUndefined()
  const block = solana.tick()

  expect(block.transactions.map(({ signature }) => signature)).toEqual([transaction.signature])
  const config = { commitment: 'processed' }
  expect(await ask('getBalance', to, config)).toMatchObject({ value: 1_000_000_000 })
  expect(await ask('getBalance', payer.address, config)).toMatchObject({ value: 8_999_995_000 })
})

test('a transaction that another key has signed is refused', async () => {
  const { payer, solana, blockhash, reply } = await openDesk()
  const steps = [transfer(payer.address, createWallet().address, SOL)]
  const otherWallet = { ...createWallet(), address: payer.address }
  const { base64, signature } = signContent({ signers: [otherWallet], blockhash: await blockhash(), steps })

  const { error } = await reply('sendTransaction', [base64, { encoding: 'base64' }])
  expect(error).toMatchObject({
    code: -32002,
    message: 'Transaction simulation failed: Transaction did not pass signature verification',
    data: { err: 'SignatureFailure' },
  })

  const unchecked = await reply('sendTransaction', [base64, { encoding: 'base64', skipPreflight: true }])
  expect(unchecked.result).toBe(signature)
  solana.tick(2)
  expect(solana.included(signature)).toBeUndefined()
})

test('what fails while it runs is in the block, changes nothing and pays all the same', async () => {
  const { solana, payer, ask, signed, send, status } = await openDesk()
  const to = createWallet().address
  const transaction = await signed(transfer(payer.address, to, 100n * SOL))
  const signature = await send(transaction, { skipPreflight: true })
  solana.tick()

  const err = { InstructionError: [0, { Custom: 1 }] }
  expect(await status(signature)).toMatchObject({ err, confirmationStatus: 'processed' })
  expect(solana.account(to)).toBeUndefined()
  expect(solana.account(payer.address)?.lamports).toBe(10n * SOL - 5000n)
  solana.tick(4)
  const config = { encoding: 'json', maxSupportedTransactionVersion: 0 }
  expect(await ask('getTransaction', signature, config)).toMatchObject({
    version: 'legacy',
    meta: { err, fee: 5000, preBalances: [10_000_000_000, 0, 1], postBalances: [9_999_995_000, 0, 1] },
  })
})

test('a call of a program that does not exist is in the block and pays, though nothing ran', async () => {
  const { solana, payer, signed, send } = await openDesk()
  const step = { program: createWallet().address, accounts: [], data: Buffer.alloc(0) }
  const signature = await send(await signed(step), { skipPreflight: true })
  solana.tick()
  expect(solana.included(signature)).toMatchObject({ err: 'ProgramAccountNotFound', fee: 5000n })
  expect(solana.account(payer.address)?.lamports).toBe(10n * SOL - 5000n)
})

test('a preflight tells what would fail, in words, as data and with the logs', async () => {
  const { payer, signed, reply } = await openDesk()
  const { base64 } = await signed(transfer(payer.address, createWallet().address, 100n * SOL))
  const config = { encoding: 'base64', preflightCommitment: 'processed' }
  const { error } = await reply('sendTransaction', [base64, config])
  expect(error).toMatchObject({
    code: -32002,
    message: 'Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1',
    data: { err: { InstructionError: [0, { Custom: 1 }] }, unitsConsumed: 150 },
  })
  expect(error?.data).toMatchObject({
    logs: expect.arrayContaining([
      'Program 11111111111111111111111111111111 failed: custom program error: 0x1',
    ]),
  })
})

test('a payer without lamports gets nothing into a block, until it has some', async () => {
  const { solana, blockhash, send, reply } = await openDesk()
  const poor = createWallet()
  const steps = [transfer(poor.address, createWallet().address, SOL)]
  const signed = signContent({ signers: [poor], blockhash: await blockhash(), steps })

  const config = { encoding: 'base64', preflightCommitment: 'processed' }
  const { error } = await reply('sendTransaction', [signed.base64, config])
  expect(error).toMatchObject({ code: -32002, data: { err: 'AccountNotFound' } })

  await send(signed, { skipPreflight: true })
  solana.tick()
  expect(solana.pending()).toHaveLength(1)
  solana.airdrop(poor.address, 2n * SOL)
  solana.tick()
  expect(solana.included(signed.signature)?.err).toBeNull()
})

test('without retries, what a leader cannot take is forgotten', async () => {
  const { solana, blockhash, send } = await openDesk()
  const poor = createWallet()
  const steps = [transfer(poor.address, createWallet().address, SOL)]
  const signed = signContent({ signers: [poor], blockhash: await blockhash(), steps })
  await send(signed, { skipPreflight: true, maxRetries: 0 })
  solana.tick()
  expect(solana.pending()).toEqual([])
})

test('a transaction lands once, however often it is sent', async () => {
  const { solana, payer, signed, send, reply } = await openDesk()
  const to = createWallet().address
  const transaction = await signed(transfer(payer.address, to, SOL))
  await send(transaction)
  await send(transaction)
  solana.tick()
  await send(transaction, { skipPreflight: true })
  solana.tick()

  expect(solana.account(to)?.lamports).toBe(SOL)
  const config = { encoding: 'base64', preflightCommitment: 'processed' }
  const { error } = await reply('sendTransaction', [transaction.base64, config])
  expect(error).toMatchObject({
    message: 'Transaction simulation failed: This transaction has already been processed',
    data: { err: 'AlreadyProcessed' },
  })
})

test('an account may not be left with fewer lamports than its rent', async () => {
  const { solana, payer, signed, send } = await openDesk()
  const transaction = await signed(transfer(payer.address, createWallet().address, 1n))
  await send(transaction, { skipPreflight: true })
  solana.tick()
  expect(solana.included(transaction.signature)?.err).toEqual({
    InsufficientFundsForRent: { account_index: 1 },
  })
})

test('a transaction of more than 1232 bytes is refused', async () => {
  const { signed, reply } = await openDesk()
  const data = Buffer.alloc(1063)
  const { base64, bytes } = await signed({ program: SYSTEM_PROGRAM, accounts: [], data })
  const { error } = await reply('sendTransaction', [base64, { encoding: 'base64' }])
  expect(bytes.length).toBeGreaterThan(1232)
  expect(error).toEqual({
    code: -32602,
    message: `decoded solana_transaction::versioned::VersionedTransaction too large: ${bytes.length} bytes (max: encoded/raw 1644/1232)`,
  })
})

test.for([
  ['no base64', '!!!', 'invalid base64 encoding: InvalidByte'],
  [
    'cut short',
    Buffer.alloc(10, 1).toString('base64'),
    'failed to deserialize solana_transaction::versioned',
  ],
  ['an unknown version', Buffer.from([0, 0x85, 1]).toString('base64'), 'failed to deserialize'],
])('a transaction that is %s is refused as a parameter', async ([, text, message]) => {
  const { reply } = await openDesk()
  const { error } = await reply('sendTransaction', [text, { encoding: 'base64' }])
  expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(message ?? '') })
})

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

test('a full block takes the highest prices first, and lower ones wait', async () => {
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
