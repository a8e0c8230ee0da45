import { createPrivateKey, createPublicKey } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FaultProxy, startFaultProxy } from '../../../simulators/key-services/fault-proxy.ts'
import { APP_ROLE, NAMESPACE, startVault, type Vault } from '../../../simulators/key-services/vault.ts'
import { createSecret } from '../../../src/security/secrets.ts'
import type { SignerConfig } from '../../../src/signers/providers/registry.ts'
import { describeConformance } from './conformance.ts'
import { ACCOUNTS, openSigner, SECRET } from './keys.ts'
import { describeRemoteConformance } from './remote-conformance.ts'

const OTHER = '11'.repeat(32)

/** The public key of a seed in base64, as Vault writes it. */
function pubkeyOf(seed: string): string {
  const der = Buffer.concat([
    Buffer.from('302e020100300506032b657004220420', 'hex'),
    Buffer.from(seed, 'hex'),
  ])
  const { x = '' } = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })).export({
    format: 'jwk',
  })
  return Buffer.from(x, 'base64url').toString('base64')
}

let vault: Vault
let proxy: FaultProxy

beforeAll(async () => {
  vault = await startVault({
    secrets: { 'team/hot': `0x${SECRET}`, broken: 'no key' },
    transit: { relayer: [OTHER, SECRET, '22'.repeat(32)] },
  })
  proxy = await startFaultProxy(vault.url)
})
afterAll(async () => {
  await proxy.stop()
  await vault.stop()
})

const common = (secretId = APP_ROLE.secret_id) => ({
  id: 'tested',
  address: proxy.url,
  namespace: NAMESPACE,
  roleId: createSecret(APP_ROLE.role_id),
  secretId: createSecret(secretId),
})
const stored = (keyName = 'team/hot'): SignerConfig => ({
  ...common(),
  type: 'vault',
  keyName,
  mountPoint: 'secret',
})
const transit = (pubkey = pubkeyOf(SECRET)): SignerConfig => ({
  ...common(),
  type: 'vault_transit',
  keyName: 'relayer',
  mountPoint: 'transit',
  pubkey,
})

const { evm: _evm, ...ed25519 } = ACCOUNTS
describeConformance({ name: 'vault', open: () => openSigner(stored()), accounts: ACCOUNTS })
describeConformance({ name: 'vault_transit', open: () => openSigner(transit()), accounts: ed25519 })

const answers = {
  proxy: () => proxy,
  throttled: { status: 429, body: '{"errors":["rate limit quota exceeded"]}' },
  denied: { status: 403, body: '{"errors":["permission denied"]}' },
}
describeRemoteConformance({
  ...answers,
  name: 'vault_transit',
  open: (limits) => openSigner(transit(), limits),
  foreign: (request) =>
    request.includes('input') ? JSON.stringify({ ...JSON.parse(request), input: 'AAAA' }) : request,
})
describeRemoteConformance({
  ...answers,
  name: 'vault',
  open: (limits) => openSigner(stored(), limits),
  isCached: true,
})

describe('a Vault', () => {
  test('that revokes the token gets a new login', async () => {
    const key = await openSigner(transit())
    const before = vault.logins()
    vault.revoke()
    expect(await key.solana?.sign(new Uint8Array(5))).toBeDefined()
    expect(vault.logins() - before).toBe(1)
  })

  test.each<[string, () => SignerConfig, RegExp]>([
    [
      'with another secret of the login',
      () => ({ ...stored(), secretId: createSecret('not-the-secret') }) as SignerConfig,
      /^signer "tested": Vault secret team\/hot in secret cannot be used: the login by AppRole failed \(status 400\)\.$/,
    ],
    ['without the secret', () => stored('nothing'), /does not exist in this mount \(status 404\)/],
    ['with a secret that is no key', () => stored('broken'), /has no private key in its field "value"/],
    [
      'whose key has another public key',
      () => transit(pubkeyOf('33'.repeat(32))),
      /has no version with the configured pubkey/,
    ],
  ])('%s refuses, and nothing secret is said', async (_what, config, expected) => {
    const opening = openSigner(config())
    await expect(opening).rejects.toMatchObject({
      code: 'signer_refused',
      detail: expect.stringMatching(expected),
    })
    await expect(opening).rejects.not.toThrow(/not-the-secret|no key/)
  })
})
