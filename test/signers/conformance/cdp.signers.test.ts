import { generateKeyPairSync } from 'node:crypto'
import {
  AccountRole,
  type Address,
  address,
  appendTransactionMessageInstruction,
  type Blockhash,
  compileTransaction,
  createTransactionMessage,
  getPublicKeyFromAddress,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
  signatureBytes,
  verifySignature,
} from '@solana/kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { API_KEY_ID, type Cdp, startCdp } from '../../../simulators/key-services/cdp.ts'
import { type FaultProxy, startFaultProxy } from '../../../simulators/key-services/fault-proxy.ts'
import { createRoutedClient } from '../../../simulators/key-services/http-service.ts'
import { unfitKey } from '../../../src/relayers/accounts/source-accounts.ts'
import { createSecret } from '../../../src/security/secrets.ts'
import { cdp as provider } from '../../../src/signers/key-services/cdp.ts'
import type { SignerConfig } from '../../../src/signers/providers/registry.ts'
import type { CallLimits } from '../../../src/signers/remote/call.ts'
import { describeConformance } from './conformance.ts'
import { ACCOUNTS, openSigner, PATIENT, SECRET } from './keys.ts'
import { describeRemoteConformance } from './remote-conformance.ts'

/** Another key of P-256. */
const OTHER = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ format: 'der', type: 'pkcs8' })
  .toString('base64')

let cdp: Cdp
let proxy: FaultProxy
const http = createRoutedClient({ 'https://api.cdp.coinbase.com': () => proxy.url })

beforeAll(async () => {
  cdp = await startCdp(SECRET, ACCOUNTS.evm)
  proxy = await startFaultProxy(cdp.url)
})
afterAll(async () => {
  http.close()
  await proxy.stop()
  await cdp.stop()
})

const signer = (
  secrets: { api?: string; wallet?: string } = {},
  accountAddress: string = ACCOUNTS.evm,
): SignerConfig<'cdp'> => ({
  id: 'tested',
  type: 'cdp',
  apiKeyId: API_KEY_ID,
  apiKeySecret: createSecret(secrets.api ?? cdp.secrets.ed25519),
  walletSecret: createSecret(secrets.wallet ?? cdp.secrets.wallet),
  accountAddress,
})
const open = (config: SignerConfig, limits: CallLimits = PATIENT) => openSigner(config, { ...limits, http })

describeConformance({
  name: 'cdp',
  open: () => open(signer()),
  accounts: { evm: ACCOUNTS.evm },
})

const onSolana = () => signer({}, ACCOUNTS.solana)
describeConformance({
  name: 'cdp, a Solana account',
  open: () => open(onSolana()),
  accounts: { solana: ACCOUNTS.solana },
})

const failure = (status: number) => ({
  status,
  body: '{"errorType":"x","errorMessage":"as Coinbase says it"}',
})

describeRemoteConformance({
  name: 'cdp',
  open: (limits) => open(signer(), limits),
  proxy: () => proxy,
  throttled: failure(429),
  denied: failure(403),
})

describeRemoteConformance({
  name: 'cdp, a Solana account',
  open: (limits) => open(onSolana(), limits),
  proxy: () => proxy,
  throttled: failure(429),
  denied: failure(403),
})

const digest = (byte: number) => new Uint8Array(32).fill(byte)
const refused = (detail: string) => ({ code: 'signer_refused', detail: expect.stringContaining(detail) })

describe('a Solana account of Coinbase', () => {
  const OTHER_ACCOUNT = address('Stake11111111111111111111111111111111111111')

  /** The signed part of a transaction that others sign too. */
  function messageOf(signers: readonly Address[]): Uint8Array {
    const accounts = signers.map((own) => ({ address: own, role: AccountRole.READONLY_SIGNER }))
    const programAddress = address('11111111111111111111111111111111')
    const blockhash = { blockhash: OTHER_ACCOUNT as string as Blockhash, lastValidBlockHeight: 1n }
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (empty) => setTransactionMessageFeePayer(signers[0] ?? OTHER_ACCOUNT, empty),
      (paid) => setTransactionMessageLifetimeUsingBlockhash(blockhash, paid),
      (timed) => appendTransactionMessageInstruction({ programAddress, accounts }, timed),
    )
    return Uint8Array.from(compileTransaction(message).messageBytes)
  }

  test.each([
    ['that it pays alone', [address(ACCOUNTS.solana)]],
    ['that another account signs too', [address(ACCOUNTS.solana), OTHER_ACCOUNT]],
    ['that another account pays', [OTHER_ACCOUNT, address(ACCOUNTS.solana)]],
  ])('signs a transaction %s', async (_what, signers) => {
    const message = messageOf(signers)
    const signature = (await (await open(onSolana())).solana?.sign(message)) ?? new Uint8Array()
    const publicKey = await getPublicKeyFromAddress(address(ACCOUNTS.solana))
    expect(await verifySignature(publicKey, signatureBytes(signature), message)).toBe(true)
  })

  test('signs nothing but transactions and texts, and has no key for Stellar', async () => {
    const key = await open(onSolana())
    const refusal = refused('signs only transactions and texts of Solana')
    await expect(key.solana?.sign(new Uint8Array(32).fill(0xfe))).rejects.toMatchObject(refusal)
    expect(key.stellar).toBeUndefined()
    expect(() => {
      throw unfitKey(key, { signerId: 'tested', networkType: 'stellar' })
    }).toThrow(/^the service of signer "tested" signs only transactions and texts of Solana/)
  })

  test('that changes what it is to sign gives no signature', async () => {
    const key = await open(onSolana())
    const [asked, other] = [
      messageOf([address(ACCOUNTS.solana)]),
      messageOf([address(ACCOUNTS.solana), OTHER_ACCOUNT]),
    ]
    const signedTransaction = Buffer.concat([Buffer.from([1]), Buffer.alloc(64), other]).toString('base64')
    proxy.behave({ kind: 'answer', answer: { status: 200, body: JSON.stringify({ signedTransaction }) } })
    await expect(key.solana?.sign(asked)).rejects.toMatchObject(refused('changed the transaction'))
    proxy.behave({ kind: 'pass' })
  })

  test('whose address is too short is refused', async () => {
    await expect(open(signer({}, '1'.repeat(31) + '2'.repeat(3)))).rejects.toMatchObject(
      refused('is not an address of Solana'),
    )
  })
})

describe('an account of Coinbase', () => {
  test('accepts an API key of P-256 in PEM, also with line ends written as \\n', async () => {
    for (const api of [cdp.secrets.pem, cdp.secrets.pem.replaceAll('\n', '\\n')])
      expect(await (await open(signer({ api }))).evm?.sign(digest(1))).toBeDefined()
  })

  test('that does not exist is refused', async () => {
    const accountAddress = '0x00000000000000000000000000000000000000aa'
    await expect(open({ ...signer(), accountAddress })).rejects.toMatchObject(
      refused(
        `signer "tested": Coinbase account ${accountAddress} does not exist in this project (status 404).`,
      ),
    )
  })

  test('signs once per connection to tell its public key', async () => {
    const remote = await provider.connect(signer(), { http, timeoutMs: PATIENT.timeoutMs })
    const { signal } = new AbortController()
    const before = cdp.signatures()
    const first = await remote.publicKeys(signal)
    expect(await remote.publicKeys(signal)).toEqual(first)
    expect(cdp.signatures() - before).toBe(1)
  })

  test.each([
    ['an API key that is none', { api: 'not-the-key' }, 'api_key_secret is neither'],
    ['a wallet secret that is none', { wallet: 'not-the-key' }, 'wallet_secret is not a P-256 key'],
    [
      'the wallet secret of a third party',
      { wallet: OTHER },
      'does not accept the API key or the wallet secret',
    ],
  ])('with %s is refused, and nothing secret is said', async (_what, secrets, detail) => {
    const opening = open(signer(secrets))
    await expect(opening).rejects.toMatchObject(refused(detail))
    await expect(opening).rejects.not.toThrow(/not-the-key|MIG/)
  })
})
