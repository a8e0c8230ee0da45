import { expect, test } from 'vitest'
import { createWallet, signContent, transfer } from '../../simulators/solana/wallet.ts'
import { openDesk, SOL } from './desk.ts'

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
