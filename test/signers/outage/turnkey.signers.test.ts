import { startFaultProxy } from '../../../simulators/key-services/fault-proxy.ts'
import { EVM_KEY, ORGANIZATION, startTurnkey } from '../../../simulators/key-services/turnkey.ts'
import { SECRET } from '../conformance/keys.ts'
import { httpHolder } from './key-holder.ts'
import { describeOutages } from './outage-suite.ts'

describeOutages({
  name: 'turnkey',
  start: async () => {
    const turnkey = await startTurnkey(SECRET)
    const proxy = await startFaultProxy(turnkey.url)
    return httpHolder({
      signer: {
        type: 'turnkey',
        config: {
          api_public_key: turnkey.apiKey.publicKey,
          api_private_key: { type: 'plain', value: turnkey.apiKey.privateKey },
          organization_id: ORGANIZATION,
          private_key_id: EVM_KEY,
          public_key: turnkey.publicKeys.secp256k1,
        },
      },
      proxy,
      hosts: ['api.turnkey.com'],
      throttled: { status: 429, body: '{"code":8,"message":"as Turnkey says it"}' },
      stop: turnkey.stop,
    })
  },
})
