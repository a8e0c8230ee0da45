import { expect, test } from 'vitest'
import { createWallet, transfer } from '../../simulators/solana/wallet.ts'
import { openDesk, SOL } from './desk.ts'

test('a batch is answered call by call', async () => {
  const { solana } = await openDesk()
  const calls = [
    { jsonrpc: '2.0', id: 'a', method: 'getGenesisHash' },
    { jsonrpc: '2.0', id: 7, method: 'getNothing', params: [] },
    { jsonrpc: '1.0', id: 8, method: 'getSlot' },
  ]
  const response = await fetch(solana.url, { method: 'POST', body: JSON.stringify(calls) })
  expect(await response.json()).toEqual([
    { jsonrpc: '2.0', result: solana.genesisHash, id: 'a' },
    { jsonrpc: '2.0', error: { code: -32601, message: 'Method not found' }, id: 7 },
    { jsonrpc: '2.0', error: { code: -32600, message: 'Invalid request' }, id: 8 },
  ])
})

test('integers beyond 2^53 are written with all their digits', async () => {
  const { solana, payer } = await openDesk()
  solana.airdrop(payer.address, 2n ** 60n)
  const body = { jsonrpc: '2.0', id: 1, method: 'getBalance', params: [payer.address] }
  const response = await fetch(solana.url, { method: 'POST', body: JSON.stringify(body) })
  expect(await response.text()).toContain(`"value":${2n ** 60n + 10n * SOL}}`)
})

test.for<[string, unknown[]]>([
  ['getBalance', ['nonsense']],
  ['getBalance', []],
  ['getBalance', ['11111111111111111111111111111111', { commitment: 'sure' }]],
  ['getSlot', [{ minContextSlot: -1 }]],
  ['getSignatureStatuses', [['11111111111111111111111111111111']]],
  ['getSignatureStatuses', [Array.from({ length: 257 }, () => '1'.repeat(64))]],
  ['getTransaction', ['1'.repeat(64), { commitment: 'processed' }]],
  ['getMultipleAccounts', [Array.from({ length: 101 }, () => '11111111111111111111111111111111')]],
  ['sendTransaction', ['AAAA', { encoding: 'hex' }]],
])('%s of wrong parameters is refused', async ([method, params]) => {
  const { reply } = await openDesk()
  expect((await reply(method, params)).error).toMatchObject({ code: -32602 })
})

test('a block holds its transactions; a slot without one, or yet to come, is told from it', async () => {
  const { solana, payer, ask, reply, signed, send } = await openDesk()
  const signature = await send(await signed(transfer(payer.address, createWallet().address, SOL)))
  solana.skip()
  const { slot, blockhash, parentBlockhash, parentSlot, height } = solana.tick()
  const get = (number: bigint, config: object) => reply('getBlock', [Number(number), config])
  const details = { transactionDetails: 'signatures', commitment: 'confirmed', rewards: false }
  expect((await get(slot, details)).error).toMatchObject({ code: -32004 })
  solana.tick()
  expect((await get(slot, details)).result).toEqual({
    blockHeight: Number(height),
    blockTime: expect.any(Number),
    blockhash,
    parentSlot: Number(parentSlot),
    previousBlockhash: parentBlockhash,
    signatures: [signature],
  })
  expect((await get(slot - 1n, details)).error).toMatchObject({ code: -32007 })
  expect(await ask('getTransaction', signature, { commitment: 'confirmed' })).toMatchObject({
    slot: Number(slot),
  })
  expect(await ask('getTransaction', signature)).toBeNull()
})

test('the numbers of the cluster fit each other', async () => {
  const { solana, ask } = await openDesk()
  expect(await ask('getVersion')).toMatchObject({ 'solana-core': expect.any(String) })
  const slot = Number(solana.slot())
  expect(await ask('getEpochInfo', { commitment: 'processed' })).toMatchObject({
    absoluteSlot: slot,
    blockHeight: Number(solana.blockHeight()),
    epoch: Math.floor(slot / 432_000),
    slotIndex: slot % 432_000,
    slotsInEpoch: 432_000,
  })
  expect(await ask('getMinimumBalanceForRentExemption', 0)).toBe(890_880)
  expect(await ask('getMinimumBalanceForRentExemption', 165)).toBe(2_039_280)
})
