import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { type FaultProxy, startFaultProxy } from '../../../simulators/key-services/fault-proxy.ts'
import {
  EMAIL,
  type GoogleCloud,
  SUBJECT_TOKEN,
  startGoogleCloud,
  TOKEN_URI,
} from '../../../simulators/key-services/google-cloud.ts'
import { createRoutedClient } from '../../../simulators/key-services/http-service.ts'
import { createSecret } from '../../../src/security/secrets.ts'
import { crc32c, resourceName } from '../../../src/signers/key-services/google-cloud-kms.ts'
import type { SignerConfig } from '../../../src/signers/providers/registry.ts'
import type { CallLimits } from '../../../src/signers/remote/call.ts'
import { describeConformance } from './conformance.ts'
import { ACCOUNTS, openSigner, PATIENT, SECRET } from './keys.ts'
import { describeRemoteConformance } from './remote-conformance.ts'

const keyOf = (keyId: string) => ({
  projectId: 'payments',
  location: 'europe-west1',
  keyRingId: 'relayer',
  keyId,
  keyVersion: 2,
})

let google: GoogleCloud
let proxy: FaultProxy
const http = createRoutedClient({
  'https://cloudkms.googleapis.com': () => proxy.url,
  'https://oauth2.googleapis.com': () => proxy.url,
})

beforeAll(async () => {
  google = await startGoogleCloud({
    secp256k1: { [resourceName(keyOf('evm'))]: SECRET },
    ed25519: { [resourceName(keyOf('ed25519'))]: SECRET },
  })
  proxy = await startFaultProxy(google.url)
})
afterAll(async () => {
  http.close()
  await proxy.stop()
  await google.stop()
})

const accountOf = (privateKey = google.account.privateKey) => ({
  clientEmail: createSecret(EMAIL),
  privateKeyId: createSecret(google.account.privateKeyId),
  privateKey: createSecret(privateKey),
  tokenUri: TOKEN_URI,
})
const signer = (keyId: string, serviceAccount = accountOf()): SignerConfig => ({
  id: 'tested',
  type: 'google_cloud_kms',
  serviceAccount,
  key: keyOf(keyId),
  universeDomain: 'googleapis.com',
})
const open = (config: SignerConfig, limits: CallLimits = PATIENT) => openSigner(config, { ...limits, http })

const { evm, ...ed25519 } = ACCOUNTS
describeConformance({
  name: 'google_cloud_kms of secp256k1',
  open: () => open(signer('evm')),
  accounts: { evm },
})
describeConformance({
  name: 'google_cloud_kms of ed25519',
  open: () => open(signer('ed25519')),
  accounts: ed25519,
})

const failure = (status: number, name: string) => ({
  status,
  body: JSON.stringify({ error: { code: status, message: 'as Google says it', status: name } }),
})

/** Another content in a request to sign, with its checksum. */
const foreign = (request: string) => {
  if (!request.startsWith('{')) return request
  const content = Buffer.alloc(32, 9)
  const [text, checksum] = [content.toString('base64'), String(crc32c(content))]
  return JSON.stringify(
    'data' in JSON.parse(request)
      ? { data: text, dataCrc32c: checksum }
      : { digest: { sha256: text }, digestCrc32c: checksum },
  )
}

for (const curve of ['evm', 'ed25519'])
  describeRemoteConformance({
    name: `google_cloud_kms of ${curve}`,
    open: (limits) => open(signer(curve), limits),
    proxy: () => proxy,
    throttled: failure(429, 'RESOURCE_EXHAUSTED'),
    denied: failure(403, 'PERMISSION_DENIED'),
    foreign,
  })

describe('a key of Google Cloud KMS', () => {
  const refused = (detail: RegExp) => ({ code: 'signer_refused', detail: expect.stringMatching(detail) })
  const digest = (byte: number) => new Uint8Array(32).fill(byte)

  test('that does not exist is refused', async () => {
    await expect(open(signer('none'))).rejects.toMatchObject(
      refused(
        /^signer "tested": Google Cloud KMS key projects\/payments\/locations\/europe-west1\/keyRings\/relayer\/cryptoKeys\/none\/cryptoKeyVersions\/2 does not exist \(NOT_FOUND\)\.$/,
      ),
    )
  })

  test('whose version is disabled refuses, and signs again when it is enabled', async () => {
    const key = await open(signer('evm'))
    google.setEnabled(false)
    await expect(key.evm?.sign(digest(3))).rejects.toMatchObject(refused(/may be disabled or destroyed/))
    expect(await key.evm?.check?.()).toMatchObject({ kind: 'refused' })
    google.setEnabled(true)
    expect(await key.evm?.check?.()).toEqual({ kind: 'ok' })
  })

  test('whose token was revoked gets a new login, once for all calls', async () => {
    const key = await open(signer('evm'))
    await key.evm?.sign(digest(1))
    const before = google.logins()
    google.revoke()
    await Promise.all([2, 3, 4, 5].map((byte) => key.evm?.sign(digest(byte))))
    expect(google.logins() - before).toBe(1)
  })

  test('whose answer was damaged on its way is asked again', async () => {
    for (const name of ['evm', 'ed25519']) {
      const key = await open(signer(name))
      const sign = (byte: number) => (key.evm ?? key.solana)?.sign(digest(byte))
      await sign(8)
      const before = proxy.count()
      google.damage(2)
      expect(await sign(4)).toBeDefined()
      expect(proxy.count() - before).toBe(3)
    }
  })

  test('whose request was damaged on its way is asked again', async () => {
    const key = await open(signer('evm'))
    await key.evm?.sign(digest(5))
    const damage = (request: string) => request.replace(/"sha256":"..../, '"sha256":"AAAA')
    proxy.behave({ kind: 'rewrite', request: damage }, 1)
    expect(await key.evm?.sign(digest(6))).toBeDefined()
  })

  test.each([
    ['that is no key', 'not a key', /private_key of the service account is not an RSA key in PEM/],
    ['of another account', () => otherKey(), /the login of the service account failed \(status 400\)/],
  ])('with a private key %s is refused, and nothing secret is said', async (_what, key, detail) => {
    const privateKey = typeof key === 'string' ? key : key()
    const opening = open(signer('evm', accountOf(privateKey)))
    await expect(opening).rejects.toMatchObject(refused(detail))
    await expect(opening).rejects.not.toThrow(/BEGIN|not a key/)
  })

  test('accepts a private key whose line ends are written as \\n', async () => {
    const key = await open(signer('evm', accountOf(google.account.privateKey.replaceAll('\n', '\\n'))))
    expect(await key.evm?.sign(digest(7))).toBeDefined()
  })
})

describe('the default credentials of Google Cloud', () => {
  const withoutAccount = (): SignerConfig => {
    const { serviceAccount: _none, ...config } = signer('evm') as SignerConfig<'google_cloud_kms'>
    return config
  }
  afterEach(() => vi.unstubAllEnvs())

  test('are those of the machine or of the cluster: its metadata server', async () => {
    vi.stubEnv('GCE_METADATA_HOST', new URL(google.url).host)
    vi.stubEnv('METADATA_SERVER_DETECTION', 'assume-present')
    const key = await open(withoutAccount())
    expect(await key.evm?.sign(new Uint8Array(32).fill(1))).toBeDefined()
  })

  test('are those of a workload elsewhere: workload identity federation', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'relayer-google-'))
    const file = (name: string) => join(folder, name)
    await writeFile(file('token'), SUBJECT_TOKEN)
    await writeFile(
      file('credentials.json'),
      JSON.stringify({
        type: 'external_account',
        audience:
          '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/cluster',
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        token_url: `${google.url}/sts`,
        credential_source: { file: file('token') },
      }),
    )
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', file('credentials.json'))
    const key = await open(withoutAccount())
    expect(await key.evm?.sign(new Uint8Array(32).fill(1))).toBeDefined()
    await rm(folder, { recursive: true })
  })

  test('that are absent are named', async () => {
    vi.stubEnv('HOME', '/nonexistent')
    vi.stubEnv('METADATA_SERVER_DETECTION', 'none')
    await expect(open(withoutAccount())).rejects.toMatchObject({
      code: 'signer_refused',
      detail: expect.stringContaining('there are no default credentials of Google Cloud'),
    })
  })
})

function otherKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
}
