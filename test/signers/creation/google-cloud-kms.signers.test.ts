import { startFaultProxy } from '../../../simulators/key-services/fault-proxy.ts'
import { EMAIL, startGoogleCloud } from '../../../simulators/key-services/google-cloud.ts'
import { createRoutedClient } from '../../../simulators/key-services/http-service.ts'
import { describeCreation } from './creation-suite.ts'

describeCreation({
  type: 'google_cloud_kms',
  start: async () => {
    const google = await startGoogleCloud({ secp256k1: {}, ed25519: {} })
    const proxy = await startFaultProxy(google.url)
    const http = createRoutedClient({
      'https://cloudkms.googleapis.com': () => proxy.url,
      'https://oauth2.googleapis.com': () => proxy.url,
    })
    return {
      proxy,
      http,
      config: {
        service_account: {
          project_id: 'payments',
          client_email: EMAIL,
          private_key_id: google.account.privateKeyId,
          private_key: google.account.privateKey,
        },
        key: { location: 'europe-west1', key_ring_id: 'relayer' },
      },
      curves: ['secp256k1', 'ed25519'],
      count: google.created,
      stop: async () => {
        http.close()
        await proxy.stop()
        await google.stop()
      },
    }
  },
  denied: {
    status: 403,
    body: '{"error":{"code":403,"message":"as Google says it","status":"PERMISSION_DENIED"}}',
  },
  deniedSentence:
    /^Google Cloud KMS key ring projects\/payments\/locations\/europe-west1\/keyRings\/relayer does not let this service create keys: allow it cloudkms\.cryptoKeys\.create,/,
  // The login.
  before: 1,
})
