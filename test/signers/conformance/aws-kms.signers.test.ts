import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type FaultProxy, startFaultProxy } from '../../../simulators/key-services/fault-proxy.ts'
import type { SignerConfig } from '../../../src/signers/providers/registry.ts'
import { AWS_ENV, type AwsKms, REGION, startAwsKms } from '../../support/key-services/aws-kms.ts'
import { describeConformance } from './conformance.ts'
import { ACCOUNTS, openSigner, SECRET } from './keys.ts'
import { describeRemoteConformance } from './remote-conformance.ts'

const { evm, ...ed25519 } = ACCOUNTS
const EVM: SignerConfig = { id: 'tested', type: 'aws_kms', region: REGION, keyId: 'alias/evm' }
const ED25519: SignerConfig = { ...EVM, keyId: 'alias/ed25519' }

let kms: AwsKms
let proxy: FaultProxy

beforeAll(async () => {
  kms = await startAwsKms([
    { alias: 'alias/evm', spec: 'ECC_SECG_P256K1', secret: SECRET },
    { alias: 'alias/ed25519', spec: 'ECC_NIST_EDWARDS25519', secret: SECRET },
  ])
  proxy = await startFaultProxy(kms.url)
  for (const [name, value] of Object.entries({ ...AWS_ENV, AWS_ENDPOINT_URL_KMS: proxy.url }))
    vi.stubEnv(name, value)
}, 300_000)
afterAll(async () => {
  vi.unstubAllEnvs()
  await proxy.stop()
  await kms.stop()
})

describeConformance({ name: 'aws_kms of secp256k1', open: () => openSigner(EVM), accounts: { evm } })
describeConformance({ name: 'aws_kms of ed25519', open: () => openSigner(ED25519), accounts: ed25519 })

const failure = (type: string, status = 400) => ({
  status,
  body: JSON.stringify({ __type: type, message: 'as KMS says it' }),
  headers: { 'content-type': 'application/x-amz-json-1.1' },
})

/** Another message in a request to sign. */
const foreign = (request: string) => {
  const body = JSON.parse(request)
  return JSON.stringify({ ...body, ...(body.Message && { Message: Buffer.alloc(32, 9).toString('base64') }) })
}

for (const [curve, config] of [
  ['secp256k1', EVM],
  ['ed25519', ED25519],
] as const)
  describeRemoteConformance({
    name: `aws_kms of ${curve}`,
    open: (limits) => openSigner(config, limits),
    proxy: () => proxy,
    throttled: failure('ThrottlingException'),
    denied: failure('AccessDeniedException'),
    foreign,
  })

describe('a key of AWS KMS', () => {
  test('that does not exist is refused', async () => {
    await expect(openSigner({ ...EVM, keyId: 'alias/none' })).rejects.toMatchObject({
      code: 'signer_refused',
      detail:
        'signer "tested": AWS KMS key alias/none in eu-west-1 does not exist in this account and region (NotFoundException).',
    })
  })

  test('that is disabled refuses, and signs again when it is enabled', async () => {
    const { KMSClient, DescribeKeyCommand, DisableKeyCommand, EnableKeyCommand } = await import(
      '@aws-sdk/client-kms'
    )
    const client = new KMSClient({ region: REGION })
    const { KeyMetadata } = await client.send(new DescribeKeyCommand({ KeyId: 'alias/evm' }))
    const KeyId = KeyMetadata?.KeyId
    const key = await openSigner(EVM)
    await client.send(new DisableKeyCommand({ KeyId }))
    await expect(key.evm?.sign(new Uint8Array(32).fill(3))).rejects.toMatchObject({
      code: 'signer_refused',
      detail: expect.stringContaining('is disabled: enable it (DisabledException)'),
    })
    expect(await key.evm?.check?.()).toMatchObject({ kind: 'refused' })
    await client.send(new EnableKeyCommand({ KeyId }))
    expect(await key.evm?.check?.()).toEqual({ kind: 'ok' })
    expect(await key.evm?.sign(new Uint8Array(32).fill(3))).toBeDefined()
    client.destroy()
  })
})
