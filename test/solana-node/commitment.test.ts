import { expect, test } from 'vitest'
import { createWallet, transfer } from '../../simulators/solana/wallet.ts'
import { openDesk, SOL } from './desk.ts'

test('a transaction is processed, then confirmed, then finalized, and balances follow', async () => {
  const { solana, payer, ask, signed, send, status } = await openDesk({ confirmedLag: 2, finalizedLag: 5 })
  const to = createWallet().address
  const signature = await send(await signed(transfer(payer.address, to, SOL)))
  const seen = async () => {
    const config = (commitment: string) => ({ commitment })
    const balances = ['processed', 'confirmed', 'finalized'].map(async (commitment) => {
      const { value } = await ask<{ value: number }>('getBalance', to, config(commitment))
      return value > 0
    })
    const { confirmations, confirmationStatus } = (await status(signature)) ?? {}
    return [confirmationStatus, confirmations, ...(await Promise.all(balances))]
  }

  const slot = Number(solana.tick().slot)
  expect(await status(signature)).toMatchObject({ slot, err: null })
  expect(await seen()).toEqual(['processed', 0, true, false, false])
  solana.tick()
  expect(await seen()).toEqual(['processed', 1, true, false, false])
  solana.tick()
  expect(await seen()).toEqual(['confirmed', 2, true, true, false])
  solana.tick(3)
  expect(await seen()).toEqual(['finalized', null, true, true, true])
})

test('slots and heights are told of each commitment; finalized when none is said', async () => {
  const { solana, ask } = await openDesk()
  solana.tick(3)
  solana.skip(2)
  const { slot } = solana.tick()
  const of = (commitment: string) => ask<number>('getSlot', { commitment })
  expect(await of('processed')).toBe(Number(slot))
  expect(await of('confirmed')).toBe(Number(slot) - 3)
  expect(await of('finalized')).toBe(Number(slot) - 6)
  expect(await ask('getSlot')).toBe(Number(solana.finalizedSlot()))
  const height = await ask<number>('getBlockHeight', { commitment: 'processed' })
  expect(await ask('getBlockHeight')).toBe(height - 4)
})

test('a read that wants a later slot than the node has reached is refused', async () => {
  const { solana, payer, reply } = await openDesk()
  const minContextSlot = Number(solana.slot())
  const ask = (commitment: string) => reply('getBalance', [payer.address, { commitment, minContextSlot }])
  expect((await ask('processed')).result).toMatchObject({ context: { slot: minContextSlot } })
  expect((await ask('finalized')).error).toEqual({
    code: -32016,
    message: 'Minimum context slot has not been reached',
    data: { contextSlot: minContextSlot - 4 },
  })
})

test('a replica lags in everything alike, and hands on what it is sent', async () => {
  const { solana, payer, reply, signed, ask } = await openDesk()
  const url = solana.replica({ behind: 3 })
  const to = createWallet().address
  const { base64, signature } = await signed(transfer(payer.address, to, SOL))
  const config = { encoding: 'base64', skipPreflight: true }
  expect((await reply('sendTransaction', [base64, config], url)).result).toBe(signature)
  const slot = Number(solana.tick().slot)

  const seen = async (at: string) => {
    const { result: status } = await reply('getSignatureStatuses', [[signature]], at)
    const { result: balance } = await reply('getBalance', [to, { commitment: 'processed' }], at)
    const { result: newest } = await reply('getSlot', [{ commitment: 'processed' }], at)
    const values = [status, balance].map((answer) => (answer as { value: unknown }).value)
    return { status: (values[0] as unknown[])[0], balance: values[1], newest }
  }
  expect(await seen(url)).toEqual({ status: null, balance: 0, newest: slot - 3 })
  expect(await seen(solana.url)).toMatchObject({ status: { slot }, balance: Number(SOL), newest: slot })
  solana.tick(3)
  expect(await seen(url)).toMatchObject({
    status: { slot, confirmations: 0 },
    balance: Number(SOL),
    newest: slot,
  })

  const { value } = await ask<{ value: { blockhash: string } }>('getLatestBlockhash', {
    commitment: 'processed',
  })
  const { result } = await reply('isBlockhashValid', [value.blockhash, { commitment: 'processed' }], url)
  expect(result).toMatchObject({ value: false })
})

test('a node that is more than 128 slots behind calls itself unhealthy', async () => {
  const { solana, reply } = await openDesk()
  solana.tick(200)
  expect((await reply('getHealth', [])).result).toBe('ok')
  const { error } = await reply('getHealth', [], solana.replica({ behind: 129 }))
  expect(error).toMatchObject({ code: -32005, message: 'Node is behind by 129 slots' })
})

test('what is older than a node remembers is asked for in vain', async () => {
  const { solana, payer, ask, signed, send, reply } = await openDesk({ recentBlocks: 5, historyBlocks: 10 })
  const signature = await send(await signed(transfer(payer.address, createWallet().address, SOL)))
  const { slot } = solana.tick()
  const search = async (searchTransactionHistory: boolean) => {
    const config = { searchTransactionHistory }
    const { value } = await ask<{ value: unknown[] }>('getSignatureStatuses', [signature], config)
    return value[0] !== null
  }
  solana.tick(9)
  expect([await search(false), await search(true)]).toEqual([false, true])
  expect(await ask('getTransaction', signature)).toMatchObject({ slot: Number(slot) })
  solana.tick()
  expect([await search(false), await search(true)]).toEqual([false, false])
  expect(await ask('getTransaction', signature)).toBeNull()
  expect(await ask('minimumLedgerSlot')).toBe(Number(slot) + 1)
  expect((await reply('getBlock', [Number(slot)])).error).toMatchObject({ code: -32001 })
})
