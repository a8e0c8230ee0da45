import { expect, test } from 'vitest'
import { createWallet, transfer } from '../../simulators/solana/wallet.ts'
import { openDesk, SOL } from './desk.ts'

test('a blockhash is valid up to the height that came with it, by blocks and not by slots', async () => {
  const { solana, ask } = await openDesk()
  const { value } = await ask<{ value: { blockhash: string; lastValidBlockHeight: number } }>(
    'getLatestBlockhash',
    { commitment: 'processed' },
  )
  expect(BigInt(value.lastValidBlockHeight)).toBe(solana.blockHeight() + 150n)
  const isValid = () => ask('isBlockhashValid', value.blockhash, { commitment: 'processed' })

  solana.skip(500)
  solana.tick(150)
  expect(solana.blockHeight()).toBe(BigInt(value.lastValidBlockHeight))
  expect(await isValid()).toMatchObject({ value: true })
  solana.tick()
  expect(await isValid()).toMatchObject({ value: false })
})

test('the block after the last valid height is the last one that takes the transaction', async () => {
  const { solana, payer, signed, send } = await openDesk()
  const [early, late] = await Promise.all([
    signed(transfer(payer.address, createWallet().address, SOL)),
    signed(transfer(payer.address, createWallet().address, SOL)),
  ])
  solana.market.capacity = 0
  await send(early)
  await send(late)
  solana.tick(150)
  solana.market.capacity = 1
  solana.tick()
  expect(solana.included(early.signature)?.err).toBeNull()

  solana.tick()
  expect(solana.included(late.signature)).toBeUndefined()
  expect(solana.pending()).toEqual([])
})

test('an expired transaction is refused by the preflight, and vanishes without it', async () => {
  const { solana, payer, signed, send, reply, status } = await openDesk()
  const transaction = await signed(transfer(payer.address, createWallet().address, SOL))
  solana.tick(151)
  const config = { encoding: 'base64', preflightCommitment: 'processed' }
  const { error } = await reply('sendTransaction', [transaction.base64, config])
  expect(error).toMatchObject({
    code: -32002,
    message: 'Transaction simulation failed: Blockhash not found',
    data: { err: 'BlockhashNotFound', logs: [], unitsConsumed: 0 },
  })

  await send(transaction, { skipPreflight: true })
  solana.tick()
  expect(await status(transaction.signature)).toBeNull()
  expect(solana.pending()).toEqual([])
})

test('a blockhash that is not finalized is unknown to a preflight at that commitment', async () => {
  const { solana, payer, signed, reply } = await openDesk()
  const transaction = await signed(transfer(payer.address, createWallet().address, SOL))
  const send = () => reply('sendTransaction', [transaction.base64, { encoding: 'base64' }])
  expect((await send()).error).toMatchObject({ data: { err: 'BlockhashNotFound' } })
  solana.tick(4)
  expect((await send()).result).toBe(transaction.signature)
})
