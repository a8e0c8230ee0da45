import { startFaultProxy } from '../../../simulators/key-services/fault-proxy.ts'
import { AWS_ENV, REGION, startAwsKms } from '../../support/key-services/aws-kms.ts'
import { SECRET } from '../conformance/keys.ts'
import { httpHolder } from './key-holder.ts'
import { describeOutages } from './outage-suite.ts'

describeOutages({
  name: 'aws_kms',
  start: async () => {
    const kms = await startAwsKms([{ alias: 'alias/hot', spec: 'ECC_SECG_P256K1', secret: SECRET }])
    const proxy = await startFaultProxy(kms.url)
    return httpHolder({
      signer: { type: 'aws_kms', config: { region: REGION, key_id: 'alias/hot' } },
      env: { ...AWS_ENV, AWS_ENDPOINT_URL_KMS: proxy.url },
      proxy,
      throttled: {
        status: 400,
        body: '{"__type":"ThrottlingException","message":"as KMS says it"}',
        headers: { 'content-type': 'application/x-amz-json-1.1' },
      },
      stop: kms.stop,
    })
  },
})
