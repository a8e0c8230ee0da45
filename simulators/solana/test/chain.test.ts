import { expect, test } from 'vitest'
import { until } from '../../../test/support/until.ts'
import { createWallet, transfer } from '../wallet.ts'
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

test('what the node sends again by itself lands on the new fork without anyone', async () => {
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
