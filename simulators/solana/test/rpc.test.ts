import {
  AccountRole,
  appendTransactionMessageInstruction,
  createSolanaRpc,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import { expect, test } from 'vitest'
import { SYSTEM_PROGRAM } from '../runtime/programs.ts'
import { createWallet, signContent, transfer, u32, u64 } from '../wallet.ts'
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

test('a simulation tells units, logs and accounts, and changes nothing', async () => {
  const { solana, payer, ask, signed } = await openDesk()
  const to = createWallet().address
  const { base64 } = await signed(transfer(payer.address, to, SOL))
  const accounts = { addresses: [payer.address, to], encoding: 'base64' }
  const answer = await ask('simulateTransaction', base64, {
    encoding: 'base64',
    commitment: 'processed',
    sigVerify: true,
    accounts,
  })
  expect(answer).toMatchObject({
    context: { slot: Number(solana.slot()) },
    value: {
      err: null,
      unitsConsumed: 150,
      logs: [
        'Program 11111111111111111111111111111111 invoke [1]',
        'Program 11111111111111111111111111111111 success',
      ],
      accounts: [
        { lamports: 8_999_995_000, owner: '11111111111111111111111111111111', data: ['', 'base64'] },
        { lamports: 1_000_000_000, rentEpoch: 18446744073709552000 },
      ],
      innerInstructions: null,
      replacementBlockhash: null,
    },
  })
  expect(solana.account(to)).toBeUndefined()
})

test('an account that is gone after a simulation is told with 0 lamports, and one that it does not name as null', async () => {
  const { solana, payer, ask, blockhash } = await openDesk()
  const friend = createWallet()
  solana.airdrop(friend.address, SOL)
  const { base64 } = signContent({
    signers: [payer, friend],
    blockhash: await blockhash(),
    steps: [transfer(friend.address, payer.address, SOL)],
  })
  const addresses = [friend.address, payer.address, createWallet().address]
  const config = { encoding: 'base64', commitment: 'processed', accounts: { addresses, encoding: 'base64' } }
  const { value } = await ask<{ value: { accounts: unknown } }>('simulateTransaction', base64, config)
  expect(value.accounts).toMatchObject([{ lamports: 0 }, { lamports: 10_999_990_000 }, null])
})

test('a simulation sees the chain at its commitment', async () => {
  const { solana, payer, ask, signed, send } = await openDesk()
  const friend = createWallet()
  await send(await signed(transfer(payer.address, friend.address, 2n * SOL)))
  solana.tick()
  const steps = [transfer(friend.address, createWallet().address, SOL)]
  const { base64 } = signContent({ signers: [friend], blockhash: payer.address, steps })
  const at = async (commitment: string) => {
    const config = { encoding: 'base64', commitment, replaceRecentBlockhash: true }
    const { value } = await ask<{ value: { err: unknown } }>('simulateTransaction', base64, config)
    return value.err
  }
  expect([await at('processed'), await at('finalized')]).toEqual([null, 'AccountNotFound'])
  solana.tick(4)
  expect(await at('finalized')).toBeNull()
  expect(solana.account(friend.address)?.lamports).toBe(2n * SOL)
})

test('a blockhash can be replaced, and is told', async () => {
  const { solana, payer, ask } = await openDesk()
  const steps = [transfer(payer.address, createWallet().address, SOL)]
  const { base64 } = signContent({ signers: [payer], blockhash: payer.address, steps })
  const config = { encoding: 'base64', commitment: 'processed' }
  expect(await ask('simulateTransaction', base64, config)).toMatchObject({
    value: { err: 'BlockhashNotFound' },
  })
  const replaced = await ask('simulateTransaction', base64, { ...config, replaceRecentBlockhash: true })
  const { blockhash } = solana.tick(0)
  const lastValidBlockHeight = Number(solana.blockHeight()) + 150
  expect(replaced).toMatchObject({
    value: { err: null, replacementBlockhash: { blockhash, lastValidBlockHeight } },
  })
})

test('signatures are checked when that is asked for, which excludes another blockhash', async () => {
  const { payer, reply, blockhash } = await openDesk()
  const steps = [transfer(payer.address, createWallet().address, SOL)]
  const otherWallet = { ...createWallet(), address: payer.address }
  const { base64 } = signContent({ signers: [otherWallet], blockhash: await blockhash(), steps })
  const config = { encoding: 'base64', commitment: 'processed' }
  expect((await reply('simulateTransaction', [base64, config])).result).toMatchObject({
    value: { err: null },
  })
  const checked = await reply('simulateTransaction', [base64, { ...config, sigVerify: true }])
  expect(checked.result).toMatchObject({ value: { err: 'SignatureFailure' } })
  const both = { ...config, sigVerify: true, replaceRecentBlockhash: true }
  expect((await reply('simulateTransaction', [base64, both])).error).toMatchObject({
    code: -32602,
    message: 'sigVerify may not be used with replaceRecentBlockhash',
  })
})

test('the client of the Solana kit makes transactions that the node takes, and reads all its answers', async () => {
  const { solana } = await openDesk()
  const rpc = createSolanaRpc(solana.url)
  const [from, to] = await Promise.all([generateKeyPairSigner(), generateKeyPairSigner()])
  solana.airdrop(from.address, SOL)
  const { value: lifetime } = await rpc.getLatestBlockhash({ commitment: 'processed' }).send()
  expect(lifetime.lastValidBlockHeight).toBe(solana.blockHeight() + 150n)
  const instruction = {
    programAddress: SYSTEM_PROGRAM,
    accounts: [
      { address: from.address, role: AccountRole.WRITABLE_SIGNER },
      { address: to.address, role: AccountRole.WRITABLE },
    ],
    data: Buffer.concat([u32(2), u64(SOL / 2n)]),
  }
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (empty) => setTransactionMessageFeePayerSigner(from, empty),
    (paid) => setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
    (alive) => appendTransactionMessageInstruction(instruction, alive),
  )
  const transaction = await signTransactionMessageWithSigners(message)
  const wire = getBase64EncodedWireTransaction(transaction)
  const signature = getSignatureFromTransaction(transaction)
  const config = { encoding: 'base64', commitment: 'processed' } as const
  const simulation = await rpc.simulateTransaction(wire, config).send()
  expect(simulation.value).toMatchObject({ err: null, unitsConsumed: 150n })
  const sent = await rpc
    .sendTransaction(wire, { encoding: 'base64', preflightCommitment: 'processed' })
    .send()
  expect(sent).toBe(signature)
  solana.tick(5)

  const { value: statuses } = await rpc.getSignatureStatuses([signature]).send()
  expect(statuses[0]).toMatchObject({ confirmationStatus: 'finalized', confirmations: null, err: null })
  const balance = await rpc.getBalance(to.address).send()
  expect(balance.value).toBe(SOL / 2n)
  const found = await rpc
    .getTransaction(signature, { encoding: 'json', maxSupportedTransactionVersion: 0 })
    .send()
  expect(found?.meta).toMatchObject({ fee: 5000n, err: null })
  expect(found?.transaction.message.accountKeys).toEqual([from.address, to.address, SYSTEM_PROGRAM])
})
