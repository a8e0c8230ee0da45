import { startFaultProxy } from '../../../simulators/key-services/fault-proxy.ts'
import { APP_ROLE, NAMESPACE, startVault } from '../../../simulators/key-services/vault.ts'
import { describeCreation } from './creation-suite.ts'

describeCreation({
  type: 'vault_transit',
  start: async () => {
    const vault = await startVault({ secrets: {}, transit: { other: ['11'.repeat(32)] } })
    const proxy = await startFaultProxy(vault.url)
    return {
      proxy,
      config: { address: proxy.url, namespace: NAMESPACE, ...APP_ROLE },
      curves: ['ed25519'],
      count: vault.keys,
      setCreating: vault.setCreating,
      stop: async () => {
        await proxy.stop()
        await vault.stop()
      },
    }
  },
  denied: { status: 403, body: '{"errors":["permission denied"]}' },
  deniedSentence:
    /^Vault at 127\.0\.0\.1:\d+, engine transit, does not let this service create keys: allow its policy "create", "update" and "read"/,
  // The login.
  before: 1,
})
