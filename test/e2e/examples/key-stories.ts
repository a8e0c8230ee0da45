import { randomBytes } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { createRoutedClient } from '../../../simulators/key-services/http-service.ts'
import { ORGANIZATION, startTurnkey } from '../../../simulators/key-services/turnkey.ts'
import { APP_ROLE, NAMESPACE, startVault } from '../../../simulators/key-services/vault.ts'
import { parseJson } from '../../../src/contract/exact-integers.ts'
import type { CoreParts, RelayerParts } from '../../../src/handlers/service.ts'
import { signerHandlers } from '../../../src/handlers/signing.ts'
import { systemClock } from '../../../src/lib/time.ts'
import { createSealer } from '../../../src/security/secrets.ts'
import { createKeyCreator } from '../../../src/signers/creation/create-key.ts'
import { insertCreation } from '../../../src/signers/creation/creation-store.ts'
import { API_KEY, startStub } from '../../http/stub-server.ts'
import { openNewDatabase } from '../../support/database.ts'
import type { Heard } from './heard.ts'

/** Lets key services create keys: Vault at once, Turnkey after the consent of others. */
export async function playCreatedKeys(heard: Heard): Promise<void> {
  const [database, vault, turnkey] = await Promise.all([
    openNewDatabase(),
    startVault({ secrets: {}, transit: {} }),
    startTurnkey('11'.repeat(32)),
  ])
  onTestFinished(async () => {
    await Promise.all([database.close(), vault.stop(), turnkey.stop()])
  })
  turnkey.setStatus('ACTIVITY_STATUS_CONSENSUS_NEEDED')
  const http = createRoutedClient({
    [vault.url]: () => vault.url,
    'https://api.turnkey.com': () => turnkey.url,
  })
  onTestFinished(() => http.close())
  const { db } = database
  const connection = { http, clock: systemClock, timeoutMs: 10_000, concurrency: 8 }
  const sealer = createSealer(randomBytes(32))
  const keyCreator = createKeyCreator({ db, clock: systemClock, sealer, connection })
  // The other parts belong to operations that are not called.
  const parts = { db, clock: systemClock, keyCreator } as unknown as CoreParts & RelayerParts
  const { url } = await startStub({ handlers: signerHandlers(parts) })
  const call = async (method: string, body?: object) => {
    const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    heard.hear(parseJson(await (await fetch(`${url}/api/v1/key-creations`, init)).text()))
  }
  const inVault = { address: vault.url, namespace: NAMESPACE, ...APP_ROLE }
  await call('POST', { signer_id: 'payouts', type: 'vault_transit', curve: 'ed25519', config: inVault })
  const { publicKey, privateKey } = turnkey.apiKey
  const user = { api_public_key: publicKey, api_private_key: privateKey, organization_id: ORGANIZATION }
  await call('POST', { signer_id: 'treasury-4', type: 'turnkey', curve: 'secp256k1', config: user })
  const place = { config: { region: 'eu-west-1' }, keyName: 'relayer-treasury-3f9c1e0b7a5d2468' }
  const intent = { signerId: 'treasury', type: 'aws_kms', curve: 'secp256k1', createdAt: new Date() } as const
  await db.transaction().execute((tx) => insertCreation(tx, { ...intent, ...place }))
  await call('GET')
}
