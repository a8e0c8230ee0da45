import {
  AccountRole,
  address,
  appendTransactionMessageInstruction,
  blockhash,
  createKeyPairSignerFromPrivateKeyBytes,
  createTransactionMessage,
  getBase58Decoder,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signAndSendTransactionMessageWithSigners,
  type TransactionSigner,
} from '@solana/kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRelayerClient, type RelayerClient } from '../../clients/typescript/src/index.ts'
import { relayerSigner } from '../../clients/typescript/src/solana-kit.ts'
import { transfer } from '../../simulators/solana/wallet.ts'
import { API_KEY } from '../support/service.ts'
import {
  MAIN,
  RECEIVER,
  type SolanaScenario,
  seedOf,
  startSolanaScenario,
} from '../support/solana-scenario.ts'
import { runReadmeProgram } from './readme-program.ts'

let story: SolanaScenario
let client: RelayerClient

beforeAll(async () => {
  story = await startSolanaScenario()
  client = createRelayerClient({ baseUrl: story.service.url, apiKey: API_KEY })
}, 60_000)
afterAll(() => story.stop())

const newest = async () => (await client.transactions.list('main').page()).items[0]
const lamportsOf = (account: string) => story.solana.account(account)?.lamports ?? 0n

/** A message of which the relayer pays the fee, and in which `from` pays `to`. */
async function payment(from: TransactionSigner | undefined, to: string, lamports: bigint) {
  const payer = await relayerSigner({ client, relayerId: 'main' })
  const sender = from ?? payer
  const { program, data } = transfer(sender.address, address(to), lamports)
  const latest = {
    blockhash: blockhash(story.solana.blocks.at(-2)?.blockhash ?? ''),
    lastValidBlockHeight: 10_000n,
  }
  return pipe(
    createTransactionMessage({ version: 0 }),
    (message) => setTransactionMessageFeePayerSigner(payer, message),
    (message) => setTransactionMessageLifetimeUsingBlockhash(latest, message),
    (message) =>
      appendTransactionMessageInstruction(
        {
          programAddress: program,
          accounts: [
            { address: sender.address, role: AccountRole.WRITABLE_SIGNER, signer: sender },
            { address: address(to), role: AccountRole.WRITABLE },
          ],
          data,
        },
        message,
      ),
  )
}

test('a message is sent by the service, and resolves to its signature', async () => {
  const before = lamportsOf(RECEIVER)
  const signature = await signAndSendTransactionMessageWithSigners(await payment(undefined, RECEIVER, 77n))
  const sent = await newest()
  expect(getBase58Decoder().decode(signature)).toBe(sent?.hash)
  await story.tickUntil(sent?.id ?? '', 'confirmed')
  expect(lamportsOf(RECEIVER)).toBe(before + 77n)
})

test('others sign, and the relayer pays the fee', async () => {
  const friend = await createKeyPairSignerFromPrivateKeyBytes(seedOf('receiver'))
  const before = lamportsOf(MAIN)
  const signature = await signAndSendTransactionMessageWithSigners(await payment(friend, MAIN, 20_000n))
  const sent = await newest()
  expect(getBase58Decoder().decode(signature)).toBe(sent?.hash)
  await story.tickUntil(sent?.id ?? '', 'confirmed')
  expect(lamportsOf(MAIN)).toBe(before + 20_000n - 10_000n)
})

test('a refusal and a signal end the sending of a message', async () => {
  const message = await payment(undefined, RECEIVER, 10n ** 15n)
  await expect(signAndSendTransactionMessageWithSigners(message)).rejects.toMatchObject({
    name: 'InsufficientBalanceError',
  })
  const abortSignal = AbortSignal.abort(new Error('enough'))
  const small = await payment(undefined, RECEIVER, 1n)
  await expect(signAndSendTransactionMessageWithSigners(small, { abortSignal })).rejects.toThrow('enough')
})

test('the program of the README pays a thousandth SOL', async () => {
  const before = (await newest())?.id
  expect(await runReadmeProgram(story.service, '@solana/kit')).toMatch(/^[1-9A-HJ-NP-Za-km-z]{80,90}\n$/)
  const sent = await newest()
  expect(sent?.id).not.toBe(before)
  await story.tickUntil(sent?.id ?? '', 'confirmed')
})
