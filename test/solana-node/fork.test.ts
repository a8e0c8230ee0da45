import { expect, test } from 'vitest'
import { createWallet, transfer } from '../../simulators/solana/wallet.ts'
import { openDesk, SOL } from './desk.ts'

test('a fork takes blocks back: balances, statuses, heights and blockhashes', async () => {
  const { solana, payer, ask, signed, send, status, blockhash } = await openDesk()
  const to = createWallet().address
  const before = { slot: solana.slot(), height: solana.blockHeight() }
  const signature = await send(await signed(transfer(payer.address, to, SOL)), { maxRetries: 0 })
  solana.tick(2)
  const dead = await blockhash()
  const deadSlot = solana.slot()

  expect(solana.fork(2).map((applied) => applied.signature)).toEqual([signature])
  expect(await status(signature)).toBeNull()
  expect(solana.account(to)).toBeUndefined()
  expect(solana.account(payer.address)?.lamports).toBe(10n * SOL)
  expect({ slot: solana.slot(), height: solana.blockHeight() }).toEqual(before)

  solana.tick()
  expect(solana.blockHeight()).toBe(before.height + 1n)
  expect(solana.slot()).toBe(deadSlot + 1n)
  expect(await status(signature)).toBeNull()
  // Also when the new fork is longer than the dead one was.
  solana.tick(3)
  expect(await ask('isBlockhashValid', dead, { commitment: 'processed' })).toMatchObject({ value: false })
})

test('the same bytes can land again on the new fork', async () => {
  const { solana, payer, signed, send, status } = await openDesk()
  const to = createWallet().address
  const transaction = await signed(transfer(payer.address, to, SOL))
  await send(transaction, { maxRetries: 0 })
  solana.tick()
  solana.fork(1)
  solana.tick()
  expect(await status(transaction.signature)).toBeNull()
  await send(transaction, { maxRetries: 0 })
  const { slot } = solana.tick()
  expect(await status(transaction.signature)).toMatchObject({ slot: Number(slot), err: null })
  expect(solana.account(to)?.lamports).toBe(SOL)
})

test('what the node sends again by itself lands on the new fork without anybody', async () => {
  const { solana, payer, signed, send } = await openDesk()
  const signature = await send(await signed(transfer(payer.address, createWallet().address, SOL)))
  solana.tick()
  solana.fork(1)
  solana.tick()
  expect(solana.included(signature)?.err).toBeNull()
})

test('a transaction on a blockhash of the dead fork can never land', async () => {
  const { solana, payer, signed, send } = await openDesk()
  solana.tick()
  const transaction = await signed(transfer(payer.address, createWallet().address, SOL))
  solana.fork(1)
  await send(transaction, { skipPreflight: true })
  solana.tick()
  expect(solana.included(transaction.signature)).toBeUndefined()
  expect(solana.pending()).toEqual([])
})

test('what is finalized cannot be forked away, and the finalized slot never goes back', async () => {
  const { solana, ask } = await openDesk()
  solana.tick(10)
  const slot = await ask('getSlot', { commitment: 'finalized' })
  expect(() => solana.fork(5)).toThrow('not finalized: 4')
  solana.fork(4)
  expect(await ask('getSlot', { commitment: 'finalized' })).toBe(slot)
  expect(await ask('getSlot', { commitment: 'processed' })).toBe(slot)
})

test('lamports that a test gave stay through a fork', async () => {
  const { solana, ask } = await openDesk()
  const { address } = createWallet()
  solana.tick()
  solana.airdrop(address, SOL)
  solana.fork(1)
  expect(await ask('getBalance', address)).toMatchObject({ value: Number(SOL) })
})
