import { startFaultProxy } from '../../../simulators/key-services/fault-proxy.ts'
import { startWeb3Signer, web3SignerKey } from '../../../simulators/key-services/web3signer.ts'
import { SECRET } from '../conformance/keys.ts'
import { httpHolder } from './key-holder.ts'
import { describeOutages } from './outage-suite.ts'

describeOutages({
  name: 'web3signer',
  start: async () => {
    const server = await startWeb3Signer({ secrets: [SECRET] })
    const proxy = await startFaultProxy(server.url)
    return httpHolder({
      signer: { type: 'web3signer', config: { url: proxy.url, public_key: web3SignerKey(SECRET) } },
      proxy,
      throttled: { status: 429, body: '' },
      stop: server.stop,
    })
  },
})
