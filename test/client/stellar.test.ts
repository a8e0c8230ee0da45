import { contract } from '@stellar/stellar-sdk'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRelayerClient, type RelayerClient } from '../../clients/typescript/src/index.ts'
import { relayerSigner } from '../../clients/typescript/src/stellar.ts'
import { API_KEY } from '../support/service.ts'
import {
  MAIN,
  RECEIVER,
  type StellarScenario,
  startStellarScenario,
  XLM,
} from '../support/stellar-scenario.ts'
import { runReadmeProgram } from './readme-program.ts'

/** The contract of the native asset, as far as the test calls it. */
interface Token {
  transfer(call: { from: string; to: string; amount: bigint }): Promise<contract.AssembledTransaction<null>>
  balance(call: { id: string }): Promise<contract.AssembledTransaction<bigint>>
}

let story: StellarScenario
let client: RelayerClient

beforeAll(async () => {
  // The contract client asks in seconds if the ledger has closed.
  story = await startStellarScenario({ ledger: { closeEveryMs: 200 } })
  client = createRelayerClient({ baseUrl: story.service.url, apiKey: API_KEY })
}, 60_000)
afterAll(() => story.stop())

const signer = () => relayerSigner({ client, relayerId: 'main' })

async function token(more: object = {}): Promise<Token> {
  const { url, passphrase, nativeContract } = story.ledger
  const options = { contractId: nativeContract, rpcUrl: url, networkPassphrase: passphrase, allowHttp: true }
  return (await contract.Client.from({ ...options, ...(await signer()), ...more })) as unknown as Token
}

const TRANSFER = { from: MAIN.publicKey(), to: RECEIVER, amount: 7n }

test('a contract client calls with the account of the relayer', async () => {
  const native = await token()
  const before = (await native.balance({ id: RECEIVER })).result
  const sent = await (await native.transfer(TRANSFER)).signAndSend()
  expect(sent.getTransactionResponse?.status).toBe('SUCCESS')
  expect((await native.balance({ id: RECEIVER })).result).toBe(before + 7n)
})

test('the service sends what a contract client has built', async () => {
  const before = story.ledger.account(RECEIVER)?.balance ?? 0n
  const transaction_xdr = (await (await token()).transfer(TRANSFER)).toXDR()
  const body = { network: 'standalone', transaction_xdr, max_fee: 1_000_000 }
  const { id } = await client.transactions.send('main', body)
  await client.transactions.waitFor('main', id, 'confirmed')
  expect(story.ledger.account(RECEIVER)?.balance).toBe(before + 7n)
})

test('what the service cannot sign is refused', async () => {
  const { signTransaction, signAuthEntry, publicKey } = await signer()
  expect(publicKey).toBe(MAIN.publicKey())
  await expect(signAuthEntry('AAAA')).rejects.toThrow('the service signs no authorization entries')
  const built = (await (await token()).transfer(TRANSFER)).toXDR()
  await expect(signTransaction(built, { address: RECEIVER })).rejects.toThrow('not for G')
  await expect(signTransaction(built, { submit: true })).rejects.toThrow('submit: false is expected')
  await expect(signTransaction(built, { networkPassphrase: 'another' })).rejects.toThrow(
    'is on another network',
  )
  await expect(signTransaction('AAAA')).rejects.toMatchObject({ name: 'InvalidRequestError' })
  expect(await signTransaction(built)).toMatchObject({ signerAddress: publicKey })
})

test('the program of the README pays a lumen', async () => {
  const { url, passphrase, nativeContract } = story.ledger
  const before = story.ledger.account(RECEIVER)?.balance ?? 0n
  const said = await runReadmeProgram(story.service, '@stellar/stellar-sdk', {
    STELLAR_RPC_URL: url,
    STELLAR_PASSPHRASE: passphrase,
    STELLAR_CONTRACT: nativeContract,
    STELLAR_RECEIVER: RECEIVER,
  })
  expect(said).toBe('SUCCESS\n')
  expect(story.ledger.account(RECEIVER)?.balance).toBe(before + XLM)
})
