import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type FaultProxy, startFaultProxy } from '../../../simulators/key-services/fault-proxy.ts'
import { createRoutedClient } from '../../../simulators/key-services/http-service.ts'
import {
  ED25519_KEY,
  EVM_ACCOUNT,
  EVM_KEY,
  isStamped,
  ORGANIZATION,
  openApiKey,
  startTurnkey,
  type Turnkey,
} from '../../../simulators/key-services/turnkey.ts'
import { createSecret } from '../../../src/security/secrets.ts'
import { createStamper } from '../../../src/signers/key-services/turnkey.ts'
import type { SignerConfig } from '../../../src/signers/providers/registry.ts'
import type { CallLimits } from '../../../src/signers/remote/call.ts'
import { describeConformance } from './conformance.ts'
import { ACCOUNTS, openSigner, PATIENT, SECRET } from './keys.ts'
import { describeRemoteConformance } from './remote-conformance.ts'

let turnkey: Turnkey
let proxy: FaultProxy
const http = createRoutedClient({ 'https://api.turnkey.com': () => proxy.url })

beforeAll(async () => {
  turnkey = await startTurnkey(SECRET)
  proxy = await startFaultProxy(turnkey.url)
})
afterAll(async () => {
  http.close()
  await proxy.stop()
  await turnkey.stop()
})

const signer = (
  privateKeyId: string,
  text = privateKeyId === ED25519_KEY ? turnkey.publicKeys.ed25519 : turnkey.publicKeys.secp256k1,
): SignerConfig<'turnkey'> => ({
  id: 'tested',
  type: 'turnkey',
  apiPublicKey: turnkey.apiKey.publicKey,
  apiPrivateKey: createSecret(turnkey.apiKey.privateKey),
  organizationId: ORGANIZATION,
  privateKeyId,
  publicKey: text,
})
const open = (config: SignerConfig, limits: CallLimits = PATIENT) => openSigner(config, { ...limits, http })

const { evm, ...ed25519 } = ACCOUNTS
describeConformance({
  name: 'turnkey of secp256k1',
  open: () => open(signer(EVM_KEY)),
  accounts: { evm },
})
describeConformance({
  name: 'turnkey of ed25519',
  open: () => open(signer(ED25519_KEY)),
  accounts: ed25519,
})

const failure = (status: number) => ({ status, body: '{"code":7,"message":"as Turnkey says it"}' })

for (const [name, id] of [
  ['a private key of secp256k1', EVM_KEY],
  ['a wallet account', EVM_ACCOUNT],
  ['a private key of ed25519', ED25519_KEY],
] as const)
  describeRemoteConformance({
    name: `turnkey, ${name}`,
    open: (limits) => open(signer(id), limits),
    proxy: () => proxy,
    throttled: failure(429),
    denied: failure(403),
  })

const digest = (byte: number) => new Uint8Array(32).fill(byte)
const refused = (detail: string) => ({ code: 'signer_refused', detail: expect.stringContaining(detail) })

describe('a key of Turnkey', () => {
  afterEach(() => turnkey.setStatus('ACTIVITY_STATUS_COMPLETED'))

  test('that does not exist is refused', async () => {
    await expect(open(signer('33333333-3333-4333-8333-333333333333'))).rejects.toMatchObject(
      refused(
        'signer "tested": Turnkey key 33333333-3333-4333-8333-333333333333 does not exist in this organization (status 404).',
      ),
    )
  })

  test('with another public key than the configured one is refused', async () => {
    await expect(open(signer(EVM_KEY, '11'.repeat(32)))).rejects.toMatchObject(
      refused('has another public key'),
    )
  })

  test('of a wallet account with another public key never gives a signature', async () => {
    const other = '02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5'
    const key = await open(signer(EVM_ACCOUNT, other))
    await expect(key.evm?.sign(digest(1))).rejects.toMatchObject(
      refused('does not verify against its public key'),
    )
  })

  test.each([
    ['CONSENSUS_NEEDED', 'signer_refused', 'needs the consent of others'],
    ['REJECTED', 'signer_refused', 'is denied'],
    ['FAILED', 'signer_refused', 'the activity failed'],
    ['PENDING', 'signer_unavailable', 'returned no signature yet'],
  ])('whose activity is %s gives no signature', async (status, code, detail) => {
    const key = await open(signer(EVM_KEY))
    turnkey.setStatus(`ACTIVITY_STATUS_${status}`)
    await expect(key.evm?.sign(digest(2))).rejects.toMatchObject({
      code,
      detail: expect.stringContaining(detail),
    })
  })

  test.each([
    ['that is no key', 'xyz', 'api_private_key is not 32 bytes'],
    ['of another public key', '01'.repeat(32), 'api_public_key does not belong to api_private_key'],
  ])('with an API key %s is refused, and nothing secret is said', async (_what, privateKey, detail) => {
    const opening = open({ ...signer(EVM_KEY), apiPrivateKey: createSecret(privateKey) })
    await expect(opening).rejects.toMatchObject(refused(detail))
    await expect(opening).rejects.not.toThrow(/xyz|0101/)
  })
})

/** Turnkey's own library. Its types bring those of browsers, so they stay outside. */
const LIBRARY: string = '@turnkey/api-key-stamper'
interface Library {
  readonly ApiKeyStamper: new (key: {
    readonly apiPublicKey: string
    readonly apiPrivateKey: string
  }) => {
    stamp(body: string): Promise<{ readonly stampHeaderName: string; readonly stampHeaderValue: string }>
  }
}

describe('the stamp', () => {
  const body = '{"organizationId":"ä"}'

  test('says the same as that of Turnkey’s own library, and both are valid', async () => {
    const { publicKey, privateKey } = turnkey.apiKey
    const own = createStamper({ publicKey, privateKey: createSecret(privateKey) })(body)
    const { ApiKeyStamper } = (await import(LIBRARY)) as Library
    const { stampHeaderName, stampHeaderValue } = await new ApiKeyStamper({
      apiPublicKey: publicKey,
      apiPrivateKey: privateKey,
    }).stamp(body)
    expect(stampHeaderName).toBe('X-Stamp')
    const read = (stamp: string) => JSON.parse(Buffer.from(stamp, 'base64url').toString())
    expect({ ...read(own), signature: '' }).toEqual({ ...read(stampHeaderValue), signature: '' })
    for (const stamp of [own, stampHeaderValue])
      expect(isStamped({ headers: { 'x-stamp': stamp }, body }, openApiKey(publicKey), publicKey)).toBe(true)
    expect(
      isStamped({ headers: { 'x-stamp': own }, body: `${body} ` }, openApiKey(publicKey), publicKey),
    ).toBe(false)
  })
})
