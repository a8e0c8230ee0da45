import { afterAll, vi } from 'vitest'
import { startFaultProxy } from '../../../simulators/key-services/fault-proxy.ts'
import { AWS_ENV, countKeys, REGION, startAwsKms } from '../../support/key-services/aws-kms.ts'
import { describeCreation } from './creation-suite.ts'

afterAll(() => vi.unstubAllEnvs())

describeCreation({
  type: 'aws_kms',
  start: async () => {
    // A key of others is there too.
    const kms = await startAwsKms([
      { alias: 'alias/other', spec: 'ECC_SECG_P256K1', secret: '11'.repeat(32) },
    ])
    const proxy = await startFaultProxy(kms.url)
    for (const [name, value] of Object.entries({ ...AWS_ENV, AWS_ENDPOINT_URL_KMS: proxy.url }))
      vi.stubEnv(name, value)
    return {
      proxy,
      config: { region: REGION },
      curves: ['secp256k1', 'ed25519'],
      count: () => countKeys(kms),
      stop: async () => {
        await proxy.stop()
        await kms.stop()
      },
    }
  },
  denied: {
    status: 400,
    body: JSON.stringify({
      __type: 'AccessDeniedException',
      message: 'User: arn:aws:iam::1:user/x is not authorized',
    }),
    headers: { 'content-type': 'application/x-amz-json-1.1' },
  },
  deniedSentence:
    /^AWS KMS in eu-west-1 does not let this service create keys: allow it kms:CreateKey and kms:TagResource \(AccessDeniedException\)\.$/,
  before: 0,
})
