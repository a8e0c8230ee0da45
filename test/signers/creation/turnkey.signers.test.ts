import { startFaultProxy } from '../../../simulators/key-services/fault-proxy.ts'
import { createRoutedClient } from '../../../simulators/key-services/http-service.ts'
import { ORGANIZATION, startTurnkey } from '../../../simulators/key-services/turnkey.ts'
import { describeCreation } from './creation-suite.ts'

describeCreation({
  type: 'turnkey',
  start: async () => {
    const turnkey = await startTurnkey('11'.repeat(32))
    const proxy = await startFaultProxy(turnkey.url)
    const http = createRoutedClient({ 'https://api.turnkey.com': () => proxy.url })
    return {
      proxy,
      http,
      config: {
        api_public_key: turnkey.apiKey.publicKey,
        api_private_key: turnkey.apiKey.privateKey,
        organization_id: ORGANIZATION,
      },
      curves: ['secp256k1', 'ed25519'],
      count: turnkey.created,
      stop: async () => {
        http.close()
        await proxy.stop()
        await turnkey.stop()
      },
    }
  },
  denied: { status: 403, body: '{"code":7,"message":"as Turnkey says it"}' },
  deniedSentence:
    /does not let this API key create keys: a policy must allow ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2/,
  before: 0,
})
