import {
  CLIENT_ID,
  CLIENT_SECRET,
  startAzure,
  TENANT,
  VAULT_HOST,
} from '../../../simulators/key-services/azure.ts'
import { startFaultProxy } from '../../../simulators/key-services/fault-proxy.ts'
import { SECRET } from '../conformance/keys.ts'
import { httpHolder } from './key-holder.ts'
import { describeOutages } from './outage-suite.ts'

describeOutages({
  name: 'azure_key_vault',
  start: async () => {
    const azure = await startAzure({ evm: SECRET })
    const proxy = await startFaultProxy(azure.url)
    return httpHolder({
      signer: {
        type: 'azure_key_vault',
        config: {
          tenant_id: TENANT,
          client_id: CLIENT_ID,
          client_secret: { type: 'plain', value: CLIENT_SECRET },
          vault_url: `https://${VAULT_HOST}`,
          key_name: 'evm',
        },
      },
      proxy,
      hosts: [VAULT_HOST, 'login.microsoftonline.com'],
      throttled: { status: 429, body: '{"error":{"code":"Throttled"}}' },
      stop: azure.stop,
    })
  },
})
