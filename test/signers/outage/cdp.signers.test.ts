import { API_KEY_ID, startCdp } from '../../../simulators/key-services/cdp.ts'
import { startFaultProxy } from '../../../simulators/key-services/fault-proxy.ts'
import { ACCOUNTS, SECRET } from '../conformance/keys.ts'
import { httpHolder } from './key-holder.ts'
import { describeOutages } from './outage-suite.ts'

describeOutages({
  name: 'cdp',
  start: async () => {
    const cdp = await startCdp(SECRET, ACCOUNTS.evm)
    const proxy = await startFaultProxy(cdp.url)
    return httpHolder({
      signer: {
        type: 'cdp',
        config: {
          api_key_id: API_KEY_ID,
          api_key_secret: { type: 'plain', value: cdp.secrets.ed25519 },
          wallet_secret: { type: 'plain', value: cdp.secrets.wallet },
          account_address: ACCOUNTS.evm,
        },
      },
      proxy,
      hosts: ['api.cdp.coinbase.com'],
      throttled: { status: 429, body: '{"errorType":"rate_limit_exceeded"}' },
      stop: cdp.stop,
    })
  },
})
