import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type FaultProxy, startFaultProxy } from '../../../simulators/key-services/fault-proxy.ts'
import {
  startWeb3Signer,
  type Web3Signer,
  web3SignerKey,
} from '../../../simulators/key-services/web3signer.ts'
import type { SignerConfig } from '../../../src/signers/providers/registry.ts'
import { type Certificates, createCertificates } from '../../support/key-services/certificates.ts'
import { describeConformance, signEvm } from './conformance.ts'
import { ACCOUNTS, openSigner, SECRET } from './keys.ts'
import { describeRemoteConformance } from './remote-conformance.ts'

const OTHER = '11'.repeat(32)

let server: Web3Signer
let proxy: FaultProxy

beforeAll(async () => {
  server = await startWeb3Signer({ secrets: [OTHER, SECRET] })
  proxy = await startFaultProxy(server.url)
})
afterAll(async () => {
  await proxy.stop()
  await server.stop()
})

type Web3SignerConfig = SignerConfig<'web3signer'>

const configOf = (config: Partial<Web3SignerConfig> = {}): Web3SignerConfig => ({
  id: 'tested',
  type: 'web3signer',
  url: proxy.url,
  publicKey: web3SignerKey(SECRET).slice(2),
  ...config,
})
const { evm } = ACCOUNTS

describeConformance({ name: 'web3signer', open: () => openSigner(configOf()), accounts: { evm } })
describeRemoteConformance({
  name: 'web3signer',
  open: (limits) => openSigner(configOf(), limits),
  proxy: () => proxy,
  throttled: { status: 429, body: '' },
  denied: { status: 403, body: '' },
  foreign: (request) => (request.includes('data') ? JSON.stringify({ data: '0x0909' }) : request),
})

const message = (text: string) => new TextEncoder().encode(text)

describe('a Web3Signer', () => {
  test('that unloads the key refuses, and signs again when the key is back', async () => {
    const key = await openSigner(configOf())
    server.reload([OTHER])
    onTestFinished(() => server.reload([OTHER, SECRET]))
    await expect(signEvm(key.evm, message('unloaded'))).rejects.toMatchObject({
      code: 'signer_refused',
      detail: expect.stringMatching(
        /^signer "tested": Web3Signer key 0x[0-9a-f]{10}… at .* does not exist on this server \(status 404\)\.$/,
      ),
    })
    expect(await key.evm?.check?.()).toMatchObject({ kind: 'refused' })
    server.reload([OTHER, SECRET])
    expect(await key.evm?.check?.()).toEqual({ kind: 'ok' })
    expect(await signEvm(key.evm, message('unloaded'))).toBeDefined()
  })

  test('without the key refuses', async () => {
    const publicKey = web3SignerKey('33'.repeat(32)).slice(2)
    await expect(openSigner(configOf({ publicKey }))).rejects.toMatchObject({
      code: 'signer_refused',
      detail: expect.stringContaining('is not among the keys that this server has loaded'),
    })
  })

  test('gets no digests, which it would hash again', async () => {
    const key = await openSigner(configOf())
    const before = proxy.count()
    await expect(key.evm?.sign(new Uint8Array(32))).rejects.toThrow('signs messages, not digests')
    expect(proxy.count()).toBe(before)
  })
})

describe('a Web3Signer that wants a client certificate', () => {
  let certificates: Certificates
  let guarded: Web3Signer

  beforeAll(async () => {
    certificates = await createCertificates()
    const { read } = certificates
    const [ca, cert, key] = await Promise.all([
      read('ca', 'crt'),
      read('server', 'crt'),
      read('server', 'key'),
    ])
    guarded = await startWeb3Signer({ secrets: [SECRET], tls: { ca, cert, key } })
  })
  afterAll(async () => {
    await guarded.stop()
    await certificates.remove()
  })

  const pathsOf = () => ({
    caPath: certificates.path('ca', 'crt'),
    certPath: certificates.path('client', 'crt'),
    keyPath: certificates.path('client', 'key'),
  })
  const open = (tls?: Web3SignerConfig['tls']) =>
    openSigner(configOf({ url: guarded.url, ...(tls && { tls }) }), { timeoutMs: 10_000, concurrency: 8 })

  test('signs for a client that shows one', async () => {
    const key = await open(pathsOf())
    expect(await signEvm(key.evm, message('with certificate'))).toBeDefined()
  })

  test.each<[string, () => Web3SignerConfig['tls'] | undefined]>([
    ['no certificate', () => undefined],
    ['no authority for the server', () => ({ certPath: pathsOf().certPath, keyPath: pathsOf().keyPath })],
  ])('is not reached with %s', async (_what, tls) => {
    await expect(open(tls())).rejects.toMatchObject({
      code: 'signer_unavailable',
      detail: expect.stringContaining('cannot be reached'),
    })
  })

  test.each<[string, () => Web3SignerConfig['tls'], RegExp]>([
    [
      'a file that is not there',
      () => ({ ...pathsOf(), certPath: '/nowhere.crt' }),
      /the file \/nowhere\.crt cannot be read \(ENOENT\)/,
    ],
    [
      'a key of a third party',
      () => ({ ...pathsOf(), keyPath: certificates.path('ca', 'key') }),
      /are not a PEM pair/,
    ],
  ])('is refused with %s', async (_what, tls, expected) => {
    await expect(open(tls())).rejects.toMatchObject({
      code: 'signer_refused',
      detail: expect.stringMatching(expected),
    })
  })
})
