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
import { SYSTEM_PROGRAM } from '../../simulators/solana/runtime/programs.ts'
import { u32, u64 } from '../../simulators/solana/wallet.ts'
import { openDesk, SOL } from './desk.ts'

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
