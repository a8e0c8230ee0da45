import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  type Azure,
  CLIENT_ID,
  CLIENT_SECRET,
  FEDERATED_TOKEN,
  IDENTITY_HEADER,
  startAzure,
  TENANT,
  VAULT_HOST,
  versionOf,
} from '../../../simulators/key-services/azure.ts'
import { type FaultProxy, startFaultProxy } from '../../../simulators/key-services/fault-proxy.ts'
import { createRoutedClient } from '../../../simulators/key-services/http-service.ts'
import { createSecret } from '../../../src/security/secrets.ts'
import type { AzureLogin } from '../../../src/signers/key-services/azure-identity.ts'
import type { SignerConfig } from '../../../src/signers/providers/registry.ts'
import type { CallLimits } from '../../../src/signers/remote/call.ts'
import { describeConformance } from './conformance.ts'
import { ACCOUNTS, openSigner, PATIENT, SECRET } from './keys.ts'
import { describeRemoteConformance } from './remote-conformance.ts'

let azure: Azure
let proxy: FaultProxy
const http = createRoutedClient({
  [`https://${VAULT_HOST}`]: () => proxy.url,
  'https://login.microsoftonline.com': () => proxy.url,
})

beforeAll(async () => {
  azure = await startAzure({ evm: SECRET })
  proxy = await startFaultProxy(azure.url)
})
afterAll(async () => {
  http.close()
  await proxy.stop()
  await azure.stop()
})

const byPassword = (clientSecret = CLIENT_SECRET): AzureLogin => ({
  authType: 'client_secret',
  tenantId: TENANT,
  clientId: CLIENT_ID,
  clientSecret: createSecret(clientSecret),
})
const signer = (login = byPassword()): SignerConfig<'azure_key_vault'> => ({
  id: 'tested',
  type: 'azure_key_vault',
  vaultUrl: `https://${VAULT_HOST}/`,
  keyName: 'evm',
  login,
})
const open = (config: SignerConfig, limits: CallLimits = PATIENT) => openSigner(config, { ...limits, http })

describeConformance({
  name: 'azure_key_vault',
  open: () => open(signer()),
  accounts: { evm: ACCOUNTS.evm },
})

const failure = (status: number, code: string) => ({
  status,
  body: JSON.stringify({ error: { code, message: 'as Azure says it' } }),
})

describeRemoteConformance({
  name: 'azure_key_vault',
  open: (limits) => open(signer(), limits),
  proxy: () => proxy,
  throttled: failure(429, 'Throttled'),
  denied: failure(403, 'Forbidden'),
  foreign: (request) =>
    request.startsWith('{')
      ? JSON.stringify({ ...JSON.parse(request), value: Buffer.alloc(32, 9).toString('base64url') })
      : request,
})

const digest = (byte: number) => new Uint8Array(32).fill(byte)
const refused = (detail: string) => ({ code: 'signer_refused', detail: expect.stringContaining(detail) })

describe('a key of Azure Key Vault', () => {
  test('that does not exist is refused', async () => {
    await expect(open({ ...signer(), keyName: 'none' })).rejects.toMatchObject(
      refused(
        'signer "tested": Azure Key Vault key none in payments.vault.azure.net does not exist in this vault (status 404).',
      ),
    )
  })

  test('can be named by its version', async () => {
    const key = await open({ ...signer(), keyVersion: versionOf('evm') })
    expect(await key.evm?.sign(digest(1))).toBeDefined()
    await expect(open({ ...signer(), keyVersion: versionOf('other') })).rejects.toMatchObject(
      refused('does not exist'),
    )
  })

  test('that is disabled refuses, and signs again when it is enabled', async () => {
    const key = await open(signer())
    await key.evm?.sign(digest(2))
    azure.setEnabled(false)
    await expect(key.evm?.sign(digest(3))).rejects.toMatchObject(refused('is denied'))
    expect(await key.evm?.check?.()).toMatchObject({
      detail: expect.stringContaining('is disabled: enable it'),
    })
    azure.setEnabled(true)
    expect(await key.evm?.check?.()).toEqual({ kind: 'ok' })
  })

  test('whose token was revoked gets a new login', async () => {
    const key = await open(signer())
    await key.evm?.sign(digest(4))
    azure.revoke()
    expect(await key.evm?.sign(digest(5))).toBeDefined()
  })

  test('in a vault that asks for the token of a third party gets none', async () => {
    const before = azure.logins()
    proxy.behave({
      kind: 'answer',
      answer: {
        status: 401,
        body: '{}',
        headers: {
          'www-authenticate': `Bearer authorization="https://login.microsoftonline.com/${TENANT}", resource="https://management.azure.com"`,
        },
      },
    })
    onTestFinished(() => proxy.behave({ kind: 'pass' }))
    await expect(open(signer())).rejects.toMatchObject({ code: 'signer_unavailable' })
    expect(azure.logins()).toBe(before)
  })
})

describe('the login to Azure', () => {
  test('with another secret is refused, and the secret is not said', async () => {
    const opening = open(signer(byPassword('not-the-secret')))
    await expect(opening).rejects.toMatchObject(
      refused('the login to Microsoft Entra ID failed (status 401)'),
    )
    await expect(opening).rejects.not.toThrow(/not-the-secret/)
  })

  test('by workload identity sends the token of the cluster', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'relayer-azure-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const tokenFilePath = join(folder, 'token')
    await writeFile(tokenFilePath, FEDERATED_TOKEN)
    const explicit = {
      authType: 'workload_identity',
      tenantId: TENANT,
      clientId: CLIENT_ID,
      tokenFilePath,
    } as const
    expect(await (await open(signer(explicit))).evm?.sign(digest(6))).toBeDefined()

    vi.stubEnv('AZURE_TENANT_ID', TENANT)
    vi.stubEnv('AZURE_CLIENT_ID', CLIENT_ID)
    vi.stubEnv('AZURE_FEDERATED_TOKEN_FILE', tokenFilePath)
    onTestFinished(() => void vi.unstubAllEnvs())
    expect(await (await open(signer({ authType: 'workload_identity' }))).evm?.sign(digest(7))).toBeDefined()
  })

  test('by a workload identity that nothing describes names the missing part', async () => {
    await expect(open(signer({ authType: 'workload_identity' }))).rejects.toMatchObject(
      refused('workload_identity needs tenant_id, client_id and federated_token_file, or the variables'),
    )
  })

  test('by managed identity asks the machine', async () => {
    vi.stubEnv('IDENTITY_ENDPOINT', `${azure.url}/msi/token`)
    vi.stubEnv('IDENTITY_HEADER', IDENTITY_HEADER)
    onTestFinished(() => void vi.unstubAllEnvs())
    const key = await open(signer({ authType: 'managed_identity' }))
    expect(await key.evm?.sign(digest(8))).toBeDefined()
  })
})
