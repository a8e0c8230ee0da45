import { authorizeInvocation, contract, type xdr } from '@stellar/stellar-sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRelayerClient, type RelayerClient } from '../../clients/typescript/src/index.ts'
import { relayerSigner } from '../../clients/typescript/src/stellar.ts'
import { preimageOf, tokenTransfer } from '../../simulators/stellar/transaction/authorization.ts'
import { API_KEY } from '../support/service.ts'
import {
  keypairOf,
  MAIN,
  RECEIVER,
  type StellarScenario,
  startStellarScenario,
  XLM,
} from '../support/stellar-scenario.ts'
import { runReadmeProgram } from './readme-program.ts'

/** Someone with an account of their own, who sends and pays for a call in the name of the relayer. */
const GUEST = keypairOf('guest')

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
  story.ledger.fund(GUEST.publicKey(), 100n * XLM)
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

/** The token as the guest calls it: every entry but their own has to be signed by a third party. */
async function tokenOfGuest(): Promise<Token> {
  const { signTransaction } = contract.basicNodeSigner(GUEST, story.ledger.passphrase)
  return token({ publicKey: GUEST.publicKey(), signTransaction })
}

/** The entries of what was built, as it holds them. */
function authOf({ built }: contract.AssembledTransaction<null>): xdr.SorobanAuthorizationEntry[] {
  const [operation] = built && 'operations' in built ? built.operations : []
  if (operation?.type !== 'invokeHostFunction' || operation.auth === undefined)
    throw new Error('no call was built')
  return operation.auth
}

describe('a relayer that is not the source of the transaction', () => {
  test('authorizes its part of it, with which the ledger makes the call', async () => {
    const { publicKey, signAuthEntry } = await signer()
    const transfer = await (await tokenOfGuest()).transfer(TRANSFER)
    expect(transfer.needsNonInvokerSigningBy()).toEqual([publicKey])
    await transfer.signAuthEntries({ address: publicKey, signAuthEntry })
    expect(transfer.needsNonInvokerSigningBy()).toEqual([])
    const before = story.ledger.account(publicKey)
    const sent = await transfer.signAndSend()
    expect(sent.getTransactionResponse?.status).toBe('SUCCESS')
    const after = story.ledger.account(publicKey)
    // It pays what it authorized and no fee, and its sequence number is free for the service.
    expect([after?.balance, after?.sequence]).toEqual([(before?.balance ?? 0n) - 7n, before?.sequence])
  })

  test('has not authorized an entry that was changed', async () => {
    const { publicKey, signAuthEntry } = await signer()
    const native = await tokenOfGuest()
    const [signed, other] = [
      await native.transfer(TRANSFER),
      await native.transfer({ ...TRANSFER, amount: 8n }),
    ]
    await signed.signAuthEntries({ address: publicKey, signAuthEntry })
    const [mine] = authOf(signed)
    authOf(other).splice(0, 1, ...(mine === undefined ? [] : [mine]))
    expect((await other.signAndSend()).getTransactionResponse?.status).toBe('FAILED')
  })

  test('signs an entry whose preimage names its account', async () => {
    const { publicKey, signAuthEntry } = await signer()
    const { sequence = 0 } = story.ledger.ledgers.at(-1) ?? {}
    const { nativeContract, passphrase } = story.ledger
    const invocation = tokenTransfer({ token: nativeContract, ...TRANSFER })
    // The SDK verifies the signature against the account.
    const entry = await authorizeInvocation({
      signer: async (preimage) => {
        const { signedAuthEntry } = await signAuthEntry(preimage.toXdr('base64'), {
          address: publicKey,
          networkPassphrase: passphrase,
        })
        return Buffer.from(signedAuthEntry, 'base64')
      },
      publicKey,
      validUntilLedgerSeq: sequence + 50,
      invocation,
      networkPassphrase: passphrase,
    })
    expect(entry.credentials.type).toBe('sorobanCredentialsAddressV2')
  })

  test('refuses other accounts, networks and content', async () => {
    const { signAuthEntry } = await signer()
    const { sequence = 0 } = story.ledger.ledgers.at(-1) ?? {}
    const { nativeContract, passphrase } = story.ledger
    const preimage = (amount: bigint) =>
      preimageOf({
        passphrase,
        root: tokenTransfer({ token: nativeContract, ...TRANSFER, amount }),
        expirationLedger: sequence + 50,
      })
    const good = preimage(7n)
    expect(await signAuthEntry(good)).toMatchObject({ signerAddress: MAIN.publicKey() })
    await expect(signAuthEntry(good, { address: RECEIVER })).rejects.toThrow('not for G')
    await expect(signAuthEntry(good, { networkPassphrase: 'another' })).rejects.toThrow(
      'is on another network',
    )
    await expect(signAuthEntry('AAAA')).rejects.toMatchObject({ name: 'InvalidRequestError' })
    // A service that signs other content than it was asked for.
    const signAuthorizationEntry: typeof client.relayers.signAuthorizationEntry = (id) =>
      client.relayers.signAuthorizationEntry(id, { preimage_xdr: preimage(8n) })
    const deceiving = { ...client, relayers: { ...client.relayers, signAuthorizationEntry } }
    const deceived = await relayerSigner({ client: deceiving, relayerId: 'main' })
    await expect(deceived.signAuthEntry(good)).rejects.toThrow('did not sign with the key of')
  })
})

test('what the service cannot sign is refused', async () => {
  const { signTransaction, publicKey } = await signer()
  expect(publicKey).toBe(MAIN.publicKey())
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
