import { describe, expect, onTestFinished, test } from 'vitest'
import { startFaultProxy } from '../../../simulators/key-services/fault-proxy.ts'
import { APP_ROLE, NAMESPACE, startVault } from '../../../simulators/key-services/vault.ts'
import { KEY_SERVICES } from '../../support/key-services/connections.ts'
import { describeCreation, setUpCreator } from './creation-suite.ts'

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

describe('a key of the wanted name that someone else created in Vault', () => {
  /** Lets the call to create a key be lost on its way, and someone else create one with its name. */
  async function squat(body: object) {
    const vault = await startVault({ secrets: {}, transit: {} })
    onTestFinished(() => vault.stop())
    const proxy = await startFaultProxy(vault.url)
    onTestFinished(() => proxy.stop())
    const { create, stored, clock } = await setUpCreator(KEY_SERVICES.requested.http)
    const config = { address: proxy.url, namespace: NAMESPACE, ...APP_ROLE }
    const request = { signerId: 'x', type: 'vault_transit', curve: 'ed25519', config } as const
    void proxy.loseAfter(1, 'request')
    await expect(create(request)).rejects.toMatchObject({ code: 'signer_unavailable' })
    const headers = { 'x-vault-namespace': NAMESPACE, 'x-vault-token': 'hvs.1' }
    const url = `${vault.url}/v1/transit/keys/${(await stored('x'))?.keyName}`
    await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
    clock.advance(61_000)
    return create(request)
  }

  test('is not taken for the wanted one if it can be exported', async () => {
    await expect(
      squat({ type: 'ed25519', exportable: true, allow_plaintext_backup: false }),
    ).rejects.toMatchObject({
      code: 'signer_refused',
      detail: expect.stringMatching(
        /has a key relayer-x-[0-9a-f]{16} that is not the one .* exported otherwise/,
      ),
    })
  })

  test('is the wanted one if it is as it was to be', async () => {
    const made = { type: 'ed25519', exportable: false, allow_plaintext_backup: false }
    expect(await squat(made)).toMatchObject({ state: 'usable' })
  })
})
