import { getAddressEncoder, getProgramDerivedAddress } from '@solana/kit'
import { expect, test } from 'vitest'
import { LOOKUP_TABLE_PROGRAM, SYSTEM_PROGRAM } from '../runtime/programs.ts'
import { associatedAddress, plantMint, plantTokens } from '../tokens.ts'
import {
  createTable,
  createWallet,
  extendTable,
  openTokenAccount,
  signContent,
  transfer,
  transferTokens,
} from '../wallet.ts'
import { plantWalletProgram, vaultOf, walletStep } from '../wallet-program.ts'
import { openDesk, SOL } from './desk.ts'

test("tokens move by the real token program, into an account that it opens at the payer's cost", async () => {
  const { solana, payer, ask, signed, send } = await openDesk()
  const [mint, friend] = [createWallet().address, createWallet().address]
  const [from, to] = await Promise.all([
    associatedAddress(payer.address, mint),
    associatedAddress(friend, mint),
  ])
  plantMint(solana, mint, { decimals: 6 })
  plantTokens(solana, from, { mint, owner: payer.address, amount: 5_000_000n })
  const transaction = await signed(
    openTokenAccount(payer.address, to, friend, mint),
    transferTokens(from, to, payer.address, 1_500_000n),
  )
  await send(transaction)
  solana.tick(5)

  const rent = solana.rentExemption(165)
  expect(solana.account(payer.address)?.lamports).toBe(10n * SOL - 5000n - rent)
  const holdings = await ask('getTokenAccountsByOwner', friend, { mint }, { encoding: 'base64' })
  expect(holdings).toMatchObject({ value: [{ pubkey: to, account: { lamports: Number(rent), space: 165 } }] })
  const { meta } = await ask<{ meta: Record<string, unknown> }>('getTransaction', transaction.signature)
  const amount = (uiAmountString: string) => ({ mint, uiTokenAmount: { decimals: 6, uiAmountString } })
  const calls = [{ stackHeight: 2 }, { stackHeight: 2 }, { stackHeight: 2 }, { stackHeight: 2 }]
  expect(meta).toMatchObject({
    preTokenBalances: [amount('5')],
    postTokenBalances: [amount('1.5'), amount('3.5')],
    innerInstructions: [{ index: 0, instructions: calls }],
  })
})

test('a message of version 0 takes addresses from a table, from the slot after they were put there', async () => {
  const { solana, payer, ask, reply, signed, send, blockhash } = await openDesk()
  const slot = solana.slot()
  solana.tick()
  const le = Buffer.alloc(8)
  le.writeBigUInt64LE(slot)
  const seeds = [getAddressEncoder().encode(payer.address), le]
  const [table, bump] = await getProgramDerivedAddress({ programAddress: LOOKUP_TABLE_PROGRAM, seeds })
  const to = createWallet().address
  await send(
    await signed(createTable(table, payer.address, slot, bump), extendTable(table, payer.address, [to])),
  )
  solana.tick()

  const transaction = signContent({
    signers: [payer],
    blockhash: await blockhash(),
    steps: [transfer(payer.address, to, SOL)],
    lookups: [{ table, writable: [to] }],
    tables: { [table]: [to] },
  })
  const tooEarly = await reply('sendTransaction', [
    transaction.base64,
    { encoding: 'base64', preflightCommitment: 'processed' },
  ])
  expect(tooEarly.error).toEqual({
    code: -32602,
    message: 'invalid transaction: Transaction address table lookup uses an invalid index',
  })
  solana.tick()
  await send(transaction)
  solana.tick(5)
  expect(solana.account(to)?.lamports).toBe(SOL)
  expect(solana.included(transaction.signature)).toMatchObject({ loaded: { writable: [to], readonly: [] } })

  const config = { maxSupportedTransactionVersion: 0 }
  expect(await ask('getTransaction', transaction.signature, config)).toMatchObject({
    version: 0,
    transaction: {
      message: { addressTableLookups: [{ accountKey: table, writableIndexes: [0], readonlyIndexes: [] }] },
    },
    meta: { loadedAddresses: { writable: [to], readonly: [] } },
  })
  const { error } = await reply('getTransaction', [transaction.signature])
  expect(error).toMatchObject({ code: -32015 })
})

test('a transaction that takes from a table what is not there is refused, with or without a preflight', async () => {
  const { payer, reply, blockhash } = await openDesk()
  const [table, to] = [createWallet().address, createWallet().address]
  const { base64 } = signContent({
    signers: [payer],
    blockhash: await blockhash(),
    steps: [transfer(payer.address, to, SOL)],
    lookups: [{ table, writable: [to] }],
    tables: { [table]: [to] },
  })
  for (const skipPreflight of [true, false]) {
    const { error } = await reply('sendTransaction', [base64, { encoding: 'base64', skipPreflight }])
    expect(error).toEqual({
      code: -32602,
      message: "invalid transaction: Transaction loads an address table account that doesn't exist",
    })
  }
})

test('a program calls another one only where that is among the accounts of its instruction', async () => {
  const { solana, payer, signed, send, reply } = await openDesk()
  const [program, to] = [createWallet().address, createWallet().address]
  plantWalletProgram(solana, program)
  const hidden = { ...transfer(payer.address, to, SOL), hidden: true as const }
  const step = walletStep(await vaultOf(program, payer.address), [hidden])
  const beside = transfer(payer.address, payer.address, 0n)

  // The system program is in the transaction, but not handed over.
  const { base64 } = await signed(beside, step)
  const { error } = await reply('sendTransaction', [
    base64,
    { encoding: 'base64', preflightCommitment: 'processed' },
  ])
  expect(error).toMatchObject({ data: { err: { InstructionError: [1, 'MissingAccount'] } } })
  await send(await signed(beside, { ...step, accounts: [...step.accounts, { address: SYSTEM_PROGRAM }] }))
  solana.tick()
  expect(solana.account(to)?.lamports).toBe(SOL)
})
