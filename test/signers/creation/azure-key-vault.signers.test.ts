import {
  CLIENT_ID,
  CLIENT_SECRET,
  startAzure,
  TENANT,
  VAULT_HOST,
} from '../../../simulators/key-services/azure.ts'
import { startFaultProxy } from '../../../simulators/key-services/fault-proxy.ts'
import { createRoutedClient } from '../../../simulators/key-services/http-service.ts'
import { describeCreation } from './creation-suite.ts'

describeCreation({
  type: 'azure_key_vault',
  start: async () => {
    const azure = await startAzure({ other: '11'.repeat(32) })
    const proxy = await startFaultProxy(azure.url)
    const http = createRoutedClient({
      [`https://${VAULT_HOST}`]: () => proxy.url,
      'https://login.microsoftonline.com': () => proxy.url,
    })
    return {
      proxy,
      http,
      config: {
        tenant_id: TENANT,
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        vault_url: `https://${VAULT_HOST}`,
      },
      curves: ['secp256k1'],
      // A second call with a name makes a second version, which is a second key.
      count: azure.versions,
      stop: async () => {
        http.close()
        await proxy.stop()
        await azure.stop()
      },
    }
  },
  denied: { status: 403, body: '{"error":{"code":"Forbidden","message":"as Azure says it"}}' },
  deniedSentence:
    /^Azure Key Vault payments\.vault\.azure\.net does not let this service create keys: allow it keys\/create and keys\/read/,
  // The challenge of the vault and the login of the look, the look, and the challenge and the login of the call.
  before: 5,
})
