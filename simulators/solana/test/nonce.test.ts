import { createHash } from 'node:crypto'
import { getBase58Decoder, getBase58Encoder } from '@solana/kit'
import { expect, test } from 'vitest'
import { SYSTEM_PROGRAM } from '../runtime/programs.ts'
import {
  advanceNonce,
  createAccount,
  createWallet,
  initializeNonce,
  NONCE_ACCOUNT_LENGTH,
  type Signed,
  type Step,
  signContent,
  transfer,
  unitPrice,
} from '../wallet.ts'
import { type Desk, openDesk, SOL } from './desk.ts'

interface NonceDesk extends Desk {
  /** The value that the nonce account holds. */
  value(): string
  /** Signed by the payer on this value, after the step that uses it up. */
  onNonce(value: string, ...steps: Step[]): Signed
}

/** A desk whose payer has a nonce account. */
async function openNonceDesk(): Promise<NonceDesk> {
  const desk = await openDesk()
  const { solana, payer, blockhash, send } = desk
  const nonce = createWallet()
  const size = { lamports: SOL, space: NONCE_ACCOUNT_LENGTH, owner: SYSTEM_PROGRAM }
  const steps = [
    createAccount(payer.address, nonce.address, size),
    initializeNonce(nonce.address, payer.address),
  ]
  await send(signContent({ signers: [payer, nonce], blockhash: await blockhash(), steps }))
  solana.tick()
  return {
    ...desk,
    value: () =>
      getBase58Decoder().decode(solana.account(nonce.address)?.data.subarray(40, 72) ?? new Uint8Array()),
    onNonce: (value, ...rest) =>
      signContent({
        signers: [payer],
        blockhash: value,
        steps: [advanceNonce(nonce.address, payer.address), ...rest],
      }),
  }
}

test('a durable nonce keeps a transaction alive until the nonce is advanced', async () => {
  const { solana, payer, value, onNonce, send } = await openNonceDesk()
  const to = createWallet().address
  const before = value()
  const transaction = onNonce(before, transfer(payer.address, to, SOL))
  solana.tick(400)
  await send(transaction)
  solana.tick()
  expect(solana.included(transaction.signature)?.err).toBeNull()
  expect(solana.account(to)?.lamports).toBe(SOL)
  expect(value()).not.toBe(before)
})

test('only one of two transactions on one nonce lands', async () => {
  const { solana, payer, value, onNonce, send, reply } = await openNonceDesk()
  solana.tick()
  const [one, other] = [1n, 2n].map((factor) =>
    onNonce(value(), transfer(payer.address, createWallet().address, factor * SOL)),
  ) as [Signed, Signed]
  await send(one)
  await send(other)
  solana.tick(3)
  expect(solana.included(one.signature)?.err).toBeNull()
  expect(solana.included(other.signature)).toBeUndefined()
  expect(solana.pending()).toEqual([])

  const config = { encoding: 'base64', preflightCommitment: 'processed' }
  const { error } = await reply('sendTransaction', [other.base64, config])
  expect(error).toMatchObject({ data: { err: 'BlockhashNotFound' } })
})

test('a nonce is used up by a transaction that fails, too', async () => {
  const { solana, payer, value, onNonce, send } = await openNonceDesk()
  solana.tick()
  const before = value()
  const transaction = onNonce(before, transfer(payer.address, createWallet().address, 100n * SOL))
  await send(transaction, { skipPreflight: true })
  solana.tick()
  expect(solana.included(transaction.signature)?.err).toEqual({ InstructionError: [1, { Custom: 1 }] })
  expect(value()).not.toBe(before)
})

test('a nonce that is set in a block is good in the next one, not in the same', async () => {
  const { solana, payer, value, onNonce, send, status, blockhash } = await openNonceDesk()
  solana.tick()
  // The next value of the nonce is known in advance: it is computed from the newest blockhash.
  const parent = Buffer.from(getBase58Encoder().encode(await blockhash()))
  const next = createHash('sha256').update('DURABLE_NONCE').update(parent).digest()
  const first = onNonce(value(), unitPrice(9n), transfer(payer.address, createWallet().address, SOL))
  const second = onNonce(
    getBase58Decoder().decode(next),
    transfer(payer.address, createWallet().address, SOL),
  )
  await send(first)
  solana.market.requiredPrice = 9n
  solana.tick()
  expect(value()).toBe(getBase58Decoder().decode(next))
  expect(await status(first.signature)).toMatchObject({ err: null })

  solana.fork(1)
  solana.market.requiredPrice = 0n
  const { signature } = second
  await send(second, { skipPreflight: true })
  expect(solana.tick().transactions.map((applied) => applied.signature)).toEqual([first.signature])
  expect(solana.tick().transactions.map((applied) => applied.signature)).toEqual([signature])
  expect(solana.included(signature)?.err).toBeNull()
})

test('a fork brings the nonce back, and another value follows on the new fork', async () => {
  const { solana, payer, value, onNonce, send } = await openNonceDesk()
  solana.tick()
  const before = value()
  const transaction = onNonce(before, transfer(payer.address, createWallet().address, SOL))
  await send(transaction, { maxRetries: 0 })
  // Another block follows the same parent on the new fork, but the nonce is made of the parent's hash.
  solana.tick(2)
  const after = value()
  solana.fork(2)
  expect(value()).toBe(before)
  solana.tick()
  await send(transaction, { maxRetries: 0 })
  solana.tick()
  expect(solana.included(transaction.signature)?.err).toBeNull()
  expect([before, after]).not.toContain(value())
})
