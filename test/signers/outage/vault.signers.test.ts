import { startFaultProxy } from '../../../simulators/key-services/fault-proxy.ts'
import { holdEd25519 } from '../../../simulators/key-services/held-keys.ts'
import { APP_ROLE, NAMESPACE, startVault } from '../../../simulators/key-services/vault.ts'
import { SECRET } from '../conformance/keys.ts'
import { httpHolder, type KeyHolder } from './key-holder.ts'
import { describeOutages } from './outage-suite.ts'
import { startStellarChain } from './stellar-chain.ts'

/** Starts a Vault with the key in both engines. */
async function startHolder(
  signer: { readonly type: string; readonly config: object },
  isRead: boolean,
): Promise<KeyHolder> {
  const vault = await startVault({ secrets: { hot: SECRET }, transit: { hot: [SECRET] } })
  const proxy = await startFaultProxy(vault.url)
  const login = {
    address: proxy.url,
    namespace: NAMESPACE,
    role_id: { type: 'plain', value: APP_ROLE.role_id },
    secret_id: { type: 'plain', value: APP_ROLE.secret_id },
    key_name: 'hot',
  }
  return httpHolder({
    signer: { type: signer.type, config: { ...login, ...signer.config } },
    proxy,
    throttled: { status: 429, body: '{"errors":["rate limit quota exceeded"]}' },
    isRead,
    stop: vault.stop,
  })
}

describeOutages({ name: 'vault', start: () => startHolder({ type: 'vault', config: {} }, true) })

describeOutages({
  name: 'vault_transit',
  start: () => {
    const pubkey = holdEd25519(SECRET).point.toString('base64')
    return startHolder({ type: 'vault_transit', config: { pubkey } }, false)
  },
  startChain: startStellarChain,
})
