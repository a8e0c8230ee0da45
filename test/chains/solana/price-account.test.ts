import { type Address, address } from '@solana/kit'
import { expect, test } from 'vitest'
import { createWallet } from '../../../simulators/solana/wallet.ts'
import { startStage } from './build.ts'

const RECEIVER = address('rec5EKMGg6MxZYaMdyBfgwp4d5rB9T1VQH5pJv5LtFJ')
const SECONDS = 1_796_000_000n

/** A `PriceUpdateV2` of Pyth, written from its layout. */
function update({ price = 15_000_000_000n, confidence = 0n, exponent = -8, level = 1 } = {}): Uint8Array {
  const data = Buffer.alloc(134)
  data.write('22f123639d7ef4cd', 0, 'hex')
  data.writeUInt8(level, 40)
  data.writeBigInt64LE(price, 73)
  data.writeBigUInt64LE(confidence, 81)
  data.writeInt32LE(exponent, 89)
  data.writeBigInt64LE(SECONDS, 93)
  return Uint8Array.from(data)
}

const [SOL, TOKEN] = [createWallet().address, createWallet().address]

async function read(sol: Uint8Array, token: Uint8Array, owner: Address = RECEIVER) {
  const { solana, chain } = await startStage()
  for (const [at, data] of [
    [SOL, sol],
    [TOKEN, token],
  ] as const)
    solana.plant(at, { lamports: 1_000_000n, data, owner, executable: false })
  return chain.sponsoring?.oraclePrice({ type: 'oracle', native: SOL, token: TOKEN })
}

test('two prices give tokens for one coin, at the ends of their confidence that the relayer does not pay for', async () => {
  const answer = await read(
    update({ price: 15_000_000_000n, confidence: 100_000_000n }),
    update({ price: 1_000_000n, confidence: 10_000n, exponent: -6 }),
  )
  if (answer?.kind !== 'ok') throw new Error('there is a price')
  const { numerator, denominator, at } = answer.value
  // 151 / 0.99
  expect(numerator * 99n).toBe(denominator * 15_100n)
  expect(at).toEqual(new Date(Number(SECONDS) * 1_000))
})

test.each([
  ['of another program', update(), createWallet().address],
  ['that is only partly verified', update({ level: 0 }), RECEIVER],
  ['of zero', update({ price: 0n }), RECEIVER],
  ['below zero', update({ price: -5n }), RECEIVER],
  ['as uncertain as itself', update({ confidence: 15_000_000_000n }), RECEIVER],
  ['with a senseless exponent', update({ exponent: 400 }), RECEIVER],
  ['in too few bytes', update().subarray(0, 100), RECEIVER],
  ['in an account of another kind', Uint8Array.from(Buffer.alloc(134)), RECEIVER],
])('a price %s is none', async (_name, token, owner) => {
  expect((await read(update(), token, owner))?.kind).toBe('unknown')
})
