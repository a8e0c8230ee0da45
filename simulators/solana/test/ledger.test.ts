import { expect, test } from 'vitest'
import type { LedgerOptions } from '../ledger.ts'
import { createWallet, transfer } from '../wallet.ts'
import { openDesk, SOL } from './desk.ts'

const DETAILS = { commitment: 'finalized', transactionDetails: 'none', rewards: false }
const SEARCH = { searchTransactionHistory: true }

/** A desk whose first transaction is 400 blocks deep, asked through a node of its own. */
async function deepDesk(options: LedgerOptions = {}) {
  const desk = await openDesk()
  const { solana, payer, signed, send } = desk
  const node = solana.node(options)
  const signature = await send(await signed(transfer(payer.address, createWallet().address, SOL)))
  const { slot } = solana.tick()
  return {
    ...desk,
    node,
    signature,
    slot,
    at: (method: string, ...params: readonly unknown[]) => desk.reply(method, params, node.url),
  }
}

test('blocks are listed by their slots, which are more than their heights', async () => {
  const { solana, ask } = await openDesk()
  const first = solana.finalizedSlot()
  solana.skip(3)
  solana.tick(10)
  const last = solana.finalizedSlot()
  const finalized = { commitment: 'finalized' }
  const slots = await ask<number[]>('getBlocks', Number(first), Number(last) + 50, finalized)
  expect([slots.at(0), slots.at(-1)]).toEqual([Number(first), Number(last)])
  const heights = await Promise.all(
    [first, last].map((slot) => ask<{ blockHeight: number }>('getBlock', Number(slot), DETAILS)),
  )
  expect(slots.length).toBe((heights[1]?.blockHeight ?? 0) - (heights[0]?.blockHeight ?? 0) + 1)
  expect(Number(last - first)).toBe(slots.length - 1 + 3)
  expect(await ask('getBlocks', 20, 10, finalized)).toEqual([])
})

test('after a ledger jump only the status cache knows what was in the hole, and its last slot is listed', async () => {
  const { solana, node, at, signature, slot } = await deepDesk()
  solana.tick(20)
  const before = (await at('getFirstAvailableBlock')).result
  node.jump(20)
  const last = Number(solana.finalizedSlot())
  const status = async () => (await at('getSignatureStatuses', [signature], SEARCH)).result
  expect(await status()).toMatchObject({ value: [{ slot: Number(slot) }] })
  solana.tick(400)
  expect(await status()).toMatchObject({ value: [null] })
  const { result } = await at('getBlocks', Number(slot), last + 1, { commitment: 'finalized' })
  expect(result).toEqual([last, last + 1])
  expect((await at('getBlock', last, DETAILS)).error).toMatchObject({ code: -32007 })
  for (const method of ['getFirstAvailableBlock', 'minimumLedgerSlot'])
    expect((await at(method)).result).toBe(before)
})

test('a node that started on a snapshot without signatures knows none of those before it', async () => {
  const { solana, node, at, signature, slot } = await deepDesk()
  solana.tick(20)
  node.jump(20, 'firedancer')
  const status = async () => (await at('getSignatureStatuses', [signature], SEARCH)).result
  expect(await status()).toMatchObject({ value: [null] })
  node.restore()
  expect(await status()).toMatchObject({ value: [{ slot: Number(slot) }] })
})

test('without transaction history, old transactions and blocks are refused', async () => {
  const { at, signature, slot } = await deepDesk({ keepsHistory: false })
  const refused = { error: { code: -32011 } }
  expect(await at('getSignatureStatuses', [signature], SEARCH)).toMatchObject(refused)
  expect(await at('getSignatureStatuses', [], SEARCH)).toMatchObject(refused)
  expect(await at('getTransaction', signature)).toMatchObject(refused)
  expect(await at('getBlock', Number(slot), DETAILS)).toMatchObject(refused)
  expect((await at('getSignatureStatuses', [signature])).result).toMatchObject({ value: [{ err: null }] })
})

test('a long-term storage tells of what the ledger has lost, and its errors are not told for signatures', async () => {
  const { solana, node, at, signature, slot } = await deepDesk({
    historyBlocks: 100,
    longTermStorage: 'working',
  })
  solana.tick(400)
  const asked = async () => ({
    status: (await at('getSignatureStatuses', [signature], SEARCH)).result,
    blocks: await at('getBlocks', Number(slot), Number(slot), { commitment: 'finalized' }),
    first: Number((await at('getFirstAvailableBlock')).result),
    own: Number((await at('minimumLedgerSlot')).result),
  })
  const working = await asked()
  expect(working).toMatchObject({
    status: { value: [{ slot: Number(slot) }] },
    blocks: { result: [Number(slot)] },
  })
  expect(working.first).toBeLessThan(working.own)
  node.options.longTermStorage = 'failing'
  const failing = await asked()
  expect(failing).toMatchObject({ status: { value: [null] }, blocks: { error: { code: -32602 } } })
  expect(failing.first).toBe(failing.own)
  node.options.longTermStorage = 'without_signatures'
  expect(await asked()).toMatchObject({ status: { value: [null] }, blocks: { result: [Number(slot)] } })
})

test('a fresh node tells of no first block', async () => {
  const { at } = await deepDesk({ fresh: true })
  expect((await at('getFirstAvailableBlock')).result).toBe(0)
})

test('what is offered once is forgotten by the second leader, and may be offered again', async () => {
  const { solana, payer, signed, send, status } = await openDesk()
  const transaction = await signed(transfer(payer.address, createWallet().address, SOL))
  const once = { maxRetries: 0 }
  solana.market.capacity = 0
  await send(transaction, once)
  solana.tick(3)
  solana.market.capacity = 10
  solana.tick()
  expect(await status(transaction.signature)).toBeNull()
  await send(transaction, once)
  solana.skip()
  solana.tick()
  expect(await status(transaction.signature)).not.toBeNull()
})

test('what its node retries waits', async () => {
  const { solana, payer, signed, send, status } = await openDesk()
  const transaction = await signed(transfer(payer.address, createWallet().address, SOL))
  solana.market.capacity = 0
  await send(transaction)
  solana.tick(20)
  solana.market.capacity = 10
  solana.tick()
  expect(await status(transaction.signature)).not.toBeNull()
})

test('two calls may be answered from two banks', async () => {
  const { solana, reply } = await openDesk()
  const { url } = solana.node({ olderBank: 2 })
  solana.tick(10)
  const slots = await Promise.all([1, 2].map(() => reply('getSlot', [{ commitment: 'processed' }], url)))
  expect(new Set(slots.map(({ result }) => result)).size).toBe(2)
})

test('a body of more than 50 KiB is too large', async () => {
  const { solana } = await openDesk()
  const post = (length: number) => fetch(solana.url, { method: 'POST', body: ' '.repeat(length) })
  expect((await post(50 * 1024)).status).toBe(200)
  expect((await post(50 * 1024 + 1)).status).toBe(413)
})

test('a simulation takes a blockhash that is 144 blocks old, and none that is older', async () => {
  const { solana, payer, ask, signed } = await openDesk()
  const { base64 } = await signed(transfer(payer.address, createWallet().address, SOL))
  const run = () => ask('simulateTransaction', base64, { encoding: 'base64', commitment: 'processed' })
  solana.tick(144)
  expect(await run()).toMatchObject({ value: { err: null } })
  solana.tick()
  expect(await run()).toMatchObject({ value: { err: 'BlockhashNotFound' } })
})
