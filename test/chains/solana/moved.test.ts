import { type Address, address, getAddressEncoder } from '@solana/kit'
import { expect, test } from 'vitest'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../simulators/solana/runtime/programs.ts'
import { type Desk, openDesk, SOL } from '../../../simulators/solana/test/desk.ts'
import { associatedAddress, plantMint, plantTokens } from '../../../simulators/solana/tokens.ts'
import {
  createWallet,
  openTokenAccount,
  type Signed,
  type Step,
  transfer,
  transferTokens,
  u64,
} from '../../../simulators/solana/wallet.ts'
import { movedIn } from '../../../src/chains/solana/effects/moved.ts'

const WRAPPED_SOL = address('So11111111111111111111111111111111111111112')
const someone = () => createWallet().address
const CONFIG = { encoding: 'base64', commitment: 'confirmed', maxSupportedTransactionVersion: 0 }

interface Answer {
  readonly transaction: readonly [string, string]
  readonly meta: Readonly<Record<string, unknown>>
}

async function included({ solana, ask, send }: Desk, signed: Signed, config = {}): Promise<Answer> {
  await send(signed, config)
  solana.tick(5)
  return await ask<Answer>('getTransaction', signed.signature, CONFIG)
}

const bytes = (...values: readonly number[]) => Buffer.from(values)
const step = (program: Address, accounts: readonly Address[], ...data: readonly Uint8Array[]): Step => ({
  program,
  accounts: accounts.map((one) => ({ address: one, writes: true })),
  data: Buffer.concat(data),
})

/** A mint and two accounts of it: one of the payer, one of a friend. */
async function tokens({ solana, payer }: Desk, amount: bigint) {
  const [mint, friend] = [someone(), someone()]
  const [from, to] = await Promise.all([
    associatedAddress(payer.address, mint),
    associatedAddress(friend, mint),
  ])
  plantMint(solana, mint, { decimals: 6, authority: payer.address })
  plantTokens(solana, from, { mint, owner: payer.address, amount })
  return { mint, friend, from, to }
}

test('tokens go to the owner of the account that receives them, and its rent is paid', async () => {
  const desk = await openDesk()
  const { mint, friend, from, to } = await tokens(desk, 5_000_000n)
  const { payer, solana } = desk
  const signed = await desk.signed(
    openTokenAccount(payer.address, to, friend, mint),
    transferTokens(from, to, payer.address, 1_500_000n),
  )
  const answer = await included(desk, signed)
  const paid = { from: payer.address, to: friend, asset: mint, amount: 1_500_000n, decimals: 6 }
  const rent = { from: payer.address, to, asset: 'native', amount: solana.rentExemption(165) }
  expect(movedIn(answer, signed.signature)).toEqual({ transfers: [rent, paid], truncated: false })

  const withoutInner = { ...answer, meta: { ...answer.meta, innerInstructions: null } }
  expect(movedIn(withoutInner, signed.signature)?.transfers).toEqual([paid, rent])
})

test('lamports pass from one account to the next, and the fee is no transfer', async () => {
  const desk = await openDesk()
  const { payer } = desk
  const friend = someone()
  const signed = await desk.signed(transfer(payer.address, friend, SOL))
  expect(movedIn(await included(desk, signed), signed.signature)?.transfers).toEqual([
    { from: payer.address, to: friend, asset: 'native', amount: SOL },
  ])
})

/** Extensions of Token-2022 in the form that its accounts store: the kind of the account, then type, length and value. */
const extended = (base: Buffer, kind: number, type: number, value: Buffer) => {
  const head = Buffer.alloc(5)
  head.writeUInt8(kind, 0)
  head.writeUInt16LE(type, 1)
  head.writeUInt16LE(value.length, 3)
  return Buffer.concat([base, Buffer.alloc(165 - base.length), head, value])
}

/** A mint that keeps back a hundredth of each transfer. */
function plantFeeMint(
  { solana, payer }: Desk,
  mint: Address,
  holders: readonly (readonly [Address, Address, bigint])[],
) {
  const key = (one: Address) => Buffer.from(getAddressEncoder().encode(one))
  const fee = Buffer.concat([u64(0n), u64(2n ** 64n - 1n), bytes(100, 0)])
  const base = Buffer.alloc(82)
  base.writeUInt8(2, 44)
  base.writeUInt8(1, 45)
  const config = Buffer.concat([key(payer.address), key(payer.address), u64(0n), fee, fee])
  const plant = (at: Address, data: Buffer) =>
    solana.plant(at, {
      lamports: solana.rentExemption(data.length),
      data: Uint8Array.from(data),
      owner: TOKEN_2022_PROGRAM,
      executable: false,
    })
  plant(mint, extended(base, 1, 1, config))
  for (const [at, owner, amount] of holders) {
    const account = Buffer.alloc(165)
    key(mint).copy(account, 0)
    key(owner).copy(account, 32)
    account.writeBigUInt64LE(amount, 64)
    account.writeUInt8(1, 108)
    plant(at, extended(account, 2, 2, u64(0n)))
  }
}

test('what a mint of Token-2022 keeps back does not arrive', async () => {
  const desk = await openDesk()
  const { payer } = desk
  const [mint, friend, from, to, third, last] = [1, 2, 3, 4, 5, 6].map(someone) as [
    Address,
    Address,
    Address,
    Address,
    Address,
    Address,
  ]
  plantFeeMint(desk, mint, [
    [from, payer.address, 10_000n],
    [to, friend, 0n],
    [last, third, 0n],
  ])
  const send = (target: Address, amount: bigint): Step => {
    const accounts = [from, mint, target].map((one) => ({ address: one, writes: one !== mint }))
    return {
      program: TOKEN_2022_PROGRAM,
      accounts: [...accounts, { address: payer.address, signs: true }],
      data: Buffer.concat([bytes(12), u64(amount), bytes(2)]),
    }
  }
  const paid = { from: payer.address, to: friend, asset: mint, decimals: 2 }
  const once = await desk.signed(send(to, 1_000n))
  expect(movedIn(await included(desk, once), once.signature)?.transfers).toEqual([{ ...paid, amount: 990n }])
  const often = await desk.signed(send(to, 200n), send(last, 300n), send(to, 100n))
  expect(movedIn(await included(desk, often), often.signature)?.transfers).toEqual([
    { ...paid, amount: 297n },
    { ...paid, to: third, amount: 297n },
  ])
})

test('wrapped SOL that is unwrapped comes back as lamports, with the rent of its account', async () => {
  const desk = await openDesk()
  const { payer, solana } = desk
  plantMint(solana, WRAPPED_SOL, { decimals: 9 })
  const account = await associatedAddress(payer.address, WRAPPED_SOL)
  const rent = solana.rentExemption(165)
  const wrapped = await desk.signed(
    openTokenAccount(payer.address, account, payer.address, WRAPPED_SOL),
    transfer(payer.address, account, SOL),
    step(TOKEN_PROGRAM, [account], bytes(17)),
  )
  const token = { asset: WRAPPED_SOL, amount: SOL, decimals: 9 }
  expect(movedIn(await included(desk, wrapped), wrapped.signature)?.transfers).toMatchObject([
    { from: payer.address, to: account, asset: 'native', amount: rent },
    { from: payer.address, to: account, asset: 'native', amount: SOL },
    { to: payer.address, ...token },
  ])
  const unwrapped = await desk.signed({
    program: TOKEN_PROGRAM,
    accounts: [
      { address: account, writes: true },
      { address: payer.address, writes: true },
      { address: payer.address, signs: true },
    ],
    data: bytes(9),
  })
  expect(movedIn(await included(desk, unwrapped), unwrapped.signature)?.transfers).toEqual([
    { from: account, to: payer.address, asset: 'native', amount: rent + SOL },
    { from: payer.address, ...token },
  ])
})

test('a transaction that fails moved nothing that is told', async () => {
  const desk = await openDesk()
  const { from, to, mint, friend } = await tokens(desk, 5n)
  const { payer } = desk
  const signed = await desk.signed(
    openTokenAccount(payer.address, to, friend, mint),
    transferTokens(from, to, payer.address, 6n),
  )
  const answer = await included(desk, signed, { skipPreflight: true })
  expect(answer.meta.err).not.toBeNull()
  expect(movedIn(answer, signed.signature)).toBeUndefined()
})

test('an answer about another transaction, or with a part missing, tells nothing', async () => {
  const desk = await openDesk()
  const { from, to, mint, friend } = await tokens(desk, 5n)
  const { payer } = desk
  const signed = await desk.signed(
    openTokenAccount(payer.address, to, friend, mint),
    transferTokens(from, to, payer.address, 5n),
  )
  const answer = await included(desk, signed)
  const told = (meta: object) => movedIn({ ...answer, meta: { ...answer.meta, ...meta } }, signed.signature)
  expect(movedIn(answer, 'another')).toBeUndefined()
  expect(movedIn({ ...answer, transaction: ['AA==', 'base64'] }, signed.signature)).toBeUndefined()
  expect(movedIn(null, signed.signature)).toBeUndefined()
  for (const gone of ['preBalances', 'postBalances', 'preTokenBalances', 'postTokenBalances', 'fee'])
    expect(told({ [gone]: null })).toBeUndefined()
  expect(told({ postBalances: [1] })).toBeUndefined()
  expect(told({ loadedAddresses: { writable: ['<b>'], readonly: [] } })).toBeUndefined()
  expect(told({ loadedAddresses: { writable: [someone()], readonly: [] } })).toBeUndefined()
  const [balance] = answer.meta.postTokenBalances as readonly object[]
  for (const bad of [{ mint: '<b>' }, { accountIndex: 99 }, { uiTokenAmount: { amount: '-1', decimals: 6 } }])
    expect(told({ postTokenBalances: [{ ...balance, ...bad }] })).toBeUndefined()
  const hostile = [
    { index: 0, instructions: [null, {}, { programIdIndex: 0, accounts: [999], data: '1'.repeat(1e6) }] },
  ]
  expect(told({ innerInstructions: hostile })?.transfers).toHaveLength(2)
})

test('a balance that JSON rounds is left out, and the rest is told', async () => {
  const desk = await openDesk()
  const { payer } = desk
  const friend = someone()
  const signed = await desk.signed(transfer(payer.address, friend, SOL))
  const answer = await included(desk, signed)
  const rounded = (name: string) =>
    (answer.meta[name] as number[]).map((one, at) => (at === 1 ? 2 ** 60 : one))
  const meta = { ...answer.meta, preBalances: rounded('preBalances'), postBalances: rounded('postBalances') }
  expect(movedIn({ ...answer, meta }, signed.signature)?.transfers).toEqual([
    { from: payer.address, to: friend, asset: 'native', amount: SOL },
  ])
})
