import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Anvil, ON_ANVIL, startAnvil } from '../../support/anvil.ts'
import { moduleProcesses } from '../../support/key-services/module-processes.ts'
import { createSoftHsm, type SoftHsm, TOKEN } from '../../support/key-services/softhsm.ts'
import { RECEIVER, type Service, startService, type Transaction } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const SECRET = '8b3a350cf5c34c9194ca85829a2df0ec3153be0318b5e2d3348e872092edffba'
const ADDRESS = privateKeyToAddress(`0x${SECRET}`)
const SEALING_KEY = Buffer.alloc(32, 'sealing').toString('base64')

let hsm: SoftHsm
let anvil: Anvil

beforeAll(async () => {
  hsm = await createSoftHsm([{ label: 'payouts', id: '0a', curve: 'secp256k1', secret: SECRET }])
  for (const [name, value] of Object.entries(hsm.env)) vi.stubEnv(name, value)
  anvil = await startAnvil()
  await anvil.rpc('anvil_setBalance', [ADDRESS, '0x8ac7230489e80000'])
}, 60_000)
afterAll(async () => {
  vi.unstubAllEnvs()
  await anvil.stop()
  kill()
  await hsm.remove()
})

/** Ends the process of the library, as a crash in it does. */
function kill(): void {
  for (const pid of moduleProcesses(process.pid)) process.kill(pid, 'SIGKILL')
}

const start = () =>
  startService({
    rpcUrls: [anvil.url],
    signers: [
      {
        id: 'hsm',
        type: 'pkcs11',
        config: {
          module_path: hsm.modulePath,
          token_label: TOKEN.label,
          key_id: '0A',
          pin: { type: 'plain', value: TOKEN.pin },
        },
      },
    ],
    relayers: [{ id: 'main', name: 'Main', signer_id: 'hsm', ...ON_ANVIL }],
    env: { STORAGE_ENCRYPTION_KEY: SEALING_KEY },
  })

const send = async (service: Service, value: number) => {
  const { body } = await service.api('POST', '/relayers/main/transactions', {
    to: RECEIVER,
    value,
    speed: 'fast',
  })
  expect(body.error).toBeUndefined()
  return body.data.id
}
const get = async (service: Service, id: string) =>
  (await service.api<Transaction>('GET', `/relayers/main/transactions/${id}`)).body.data
const included = (service: Service, id: string) =>
  until(
    () => get(service, id),
    ({ status }) => status === 'mined' || status === 'confirmed',
    { timeoutMs: 60_000 },
  )
const nonce = async () => Number(await anvil.rpc<string>('eth_getTransactionCount', [ADDRESS, 'latest']))

describe('an EVM account whose key is in an HSM', () => {
  test('sends; while the token is away nothing is lost, and afterwards everything is sent once', async () => {
    const service = await start()
    onTestFinished(() => service.stop())
    const { body } = await service.api<{ address: string }>('GET', '/relayers/main')
    expect(body.data.address).toBe(ADDRESS)
    await included(service, await send(service, 1))
    expect(await nonce()).toBe(1)

    await hsm.unplug()
    kill()
    // Only the first in the order of acceptance says what it waits for; the others wait behind it.
    const first = await send(service, 2)
    const waiting = [first, ...(await Promise.all([3, 4].map((value) => send(service, value))))]
    const seen = await until(
      () => get(service, first),
      ({ status_reason: reason }) => reason?.startsWith('Waiting for its key') === true,
    )
    expect(seen.status_reason).toContain(`there is no token ${TOKEN.label} now`)
    expect(await nonce()).toBe(1)

    await hsm.plugIn()
    for (const id of waiting) await included(service, id)
    expect(await nonce()).toBe(1 + waiting.length)
  }, 120_000)

  test('is shown without the PIN, and callers cannot name a library', async () => {
    const service = await start()
    onTestFinished(() => service.stop())
    const shown = await service.api('GET', '/signers/hsm')
    expect(shown.body.data).toEqual({
      id: 'hsm',
      type: 'pkcs11',
      config: { token_label: TOKEN.label, key_id: '0a' },
    })
    const { status, body } = await service.api('POST', '/signers', {
      type: 'pkcs11',
      config: { module_path: hsm.modulePath, token_label: TOKEN.label, key_id: '0a', pin: TOKEN.pin },
    })
    expect([status, body.code]).toEqual([400, 'invalid_request'])
    expect(body.error).toMatch(
      /^body\.type: expected one of .*; the type pkcs11 stands in the configuration file alone, because it loads a library into the service's machine/,
    )
  }, 60_000)
})
