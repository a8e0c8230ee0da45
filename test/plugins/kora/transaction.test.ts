import type { Address } from '@solana/kit'
import { expect, test } from 'vitest'
import { readTransaction } from '../../../plugins/kora/transactions/transaction.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../simulators/solana/runtime/programs.ts'
import { createWallet, openTokenAccount, type Step, signContent } from '../../../simulators/solana/wallet.ts'
import { AS_PAYER, SELF } from '../../chains/solana/build.ts'
import { step } from './drains.ts'

const user = createWallet()
const blockhash = createWallet().address

function read(steps: readonly Step[], opensAccounts = true) {
  const { base64 } = signContent({ signers: [AS_PAYER, user], blockhash, steps })
  const rpc = () => Promise.reject(new Error('a transaction without tables asks for nothing'))
  return readTransaction(base64, { feePayer: SELF, signatures: 'all', opensAccounts, rpc })
}

/** A `TransferChecked`, with further accounts behind the owner. */
function transferChecked(program: Address = TOKEN_2022_PROGRAM, more = 0): Step {
  const [from, mint, to] = [createWallet().address, createWallet().address, createWallet().address]
  const hooks = Array.from({ length: more }, () => [createWallet().address, ''] as const)
  const data = Buffer.concat([Buffer.from([12]), Buffer.alloc(8, 1), Buffer.from([6])])
  return step(program, [[from, 'w'], [mint, ''], [to, 'w'], [user.address, 's'], ...hooks], data)
}

test.each([
  ['a transfer of Token-2022', transferChecked(), false],
  ['one with the accounts of a hook, which runs a stranger’s code', transferChecked(undefined, 3), true],
  ['a transfer of SPL Token with signers of a multisig account', transferChecked(TOKEN_PROGRAM, 2), false],
])('%s: the block may decide otherwise: %#', async (_, one, isUncertain) => {
  expect(await read([one])).toMatchObject({ isUncertain, opened: [] })
})

test('opens token accounts for others at the cost of the fee payer where that is allowed', async () => {
  const [owner, at, mint] = [createWallet().address, createWallet().address, createWallet().address]
  const opening = openTokenAccount(SELF, at, owner, mint)
  const signs = transferChecked()
  expect(await read([opening, signs, { ...opening, data: Buffer.alloc(0) }])).toMatchObject({
    opened: [TOKEN_PROGRAM, TOKEN_PROGRAM],
  })
  await expect(read([opening, signs], false)).rejects.toThrow('appears in instruction 0')
  const paidByUser = openTokenAccount(user.address, at, owner, mint)
  expect(await read([paidByUser])).toMatchObject({ opened: [] })
  const owned = openTokenAccount(SELF, at, SELF, mint)
  await expect(read([owned, signs])).rejects.toThrow('appears in instruction 0')
})
