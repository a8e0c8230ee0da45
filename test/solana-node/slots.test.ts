import { expect, test } from 'vitest'
import { createWallet, transfer } from '../../simulators/solana/wallet.ts'
import { until } from '../support/until.ts'
import { openDesk, SOL } from './desk.ts'

test('blocks come by themselves, and take what waits', async () => {
  const { solana, payer, signed, send, status } = await openDesk({ slotMs: 20 })
  const signature = await send(await signed(transfer(payer.address, createWallet().address, SOL)))
  await until(
    () => status(signature),
    (seen) => seen?.confirmationStatus === 'finalized',
  )
  expect(solana.included(signature)?.err).toBeNull()
})

test('what waits can be lost, and be sent again', async () => {
  const { solana, payer, signed, send, status } = await openDesk()
  const transaction = await signed(transfer(payer.address, createWallet().address, SOL))
  await send(transaction)
  solana.dropPending()
  solana.tick()
  expect(await status(transaction.signature)).toBeNull()
  await send(transaction)
  solana.tick()
  expect(await status(transaction.signature)).toMatchObject({ err: null })
})
