import { startFaultProxy } from '../../../simulators/key-services/fault-proxy.ts'
import { EMAIL, startGoogleCloud } from '../../../simulators/key-services/google-cloud.ts'
import { SECRET } from '../conformance/keys.ts'
import { httpHolder } from './key-holder.ts'
import { describeOutages } from './outage-suite.ts'

const NAME = 'projects/payments/locations/global/keyRings/relayer/cryptoKeys/hot/cryptoKeyVersions/1'

const plain = (value: string) => ({ type: 'plain', value })

describeOutages({
  name: 'google_cloud_kms',
  start: async () => {
    const google = await startGoogleCloud({ secp256k1: { [NAME]: SECRET }, ed25519: {} })
    const proxy = await startFaultProxy(google.url)
    return httpHolder({
      signer: {
        type: 'google_cloud_kms',
        config: {
          service_account: {
            project_id: 'payments',
            client_email: plain(EMAIL),
            private_key_id: plain(google.account.privateKeyId),
            private_key: plain(google.account.privateKey),
          },
          key: { key_ring_id: 'relayer', key_id: 'hot' },
        },
      },
      proxy,
      hosts: ['cloudkms.googleapis.com', 'oauth2.googleapis.com'],
      throttled: { status: 429, body: '{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}' },
      stop: google.stop,
    })
  },
})
