import { expect, onTestFinished, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { ON_ANVIL, startAnvil } from '../../support/anvil.ts'
import { DEV_KEYS, plainSigner, RECEIVER, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

type Relayer = Schemas['Relayer']

/** Block 0 of anvil differs by its time only. */
const chainOf = (timestamp: string) => startAnvil({ args: ['--timestamp', timestamp] })

/** A relayer on the network's endpoint, and one with an endpoint of its own that serves another chain with the same id. */
async function start(chosenBy: 'operator' | 'caller') {
  const [shared, own] = [await chainOf('1700000000'), await chainOf('1700009999')]
  const custom_rpc_urls = [{ url: own.url }]
  const service = await startService({
    rpcUrls: [shared.url],
    env: { RELAYER_ALLOW_PRIVATE_URLS: 'true' },
    signers: DEV_KEYS.map((key, index) => plainSigner(`dev-${index}`, key)),
    relayers: [
      { id: 'shared', name: 'Shared', signer_id: 'dev-0', ...ON_ANVIL },
      {
        id: 'own',
        name: 'Own',
        signer_id: 'dev-1',
        ...ON_ANVIL,
        ...(chosenBy === 'operator' && { custom_rpc_urls }),
      },
    ],
  })
  onTestFinished(async () => {
    await service.stop()
    await shared.stop()
    await own.stop()
  })
  if (chosenBy === 'caller')
    expect((await service.api('PATCH', '/relayers/own', { custom_rpc_urls })).status).toBe(200)
  const send = async (relayer: string) => {
    const body = { to: RECEIVER, value: 1 }
    const answer = await service.api('POST', `/relayers/${relayer}/transactions`, body)
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    return answer.body.data.id
  }
  const reach = (relayer: string, id: string, status: string) =>
    until(
      async () => (await service.api('GET', `/relayers/${relayer}/transactions/${id}`)).body.data,
      (seen) => seen.status === status,
    )
  const isDisabled = async (relayer: string) =>
    (await service.api<Relayer>('GET', `/relayers/${relayer}`)).body.data.system_disabled
  const reset = async () => (await service.api('POST', '/networks/evm:anvil/reset')).body.code
  return { service, shared, own, send, reach, isDisabled, reset }
}

test.each(['operator', 'caller'] as const)(
  'a relayer whose endpoint of its own (chosen by the %s) serves another chain is no reset of the network, and disturbs no one',
  async (chosenBy) => {
    const { send, reach, isDisabled, reset } = await start(chosenBy)
    // The other chain is seen first.
    for (const relayer of ['own', 'shared', 'own']) await reach(relayer, await send(relayer), 'mined')
    expect(await isDisabled('own')).toBe(false)
    expect(await isDisabled('shared')).toBe(false)
    expect(await reset()).toBe('chain_not_reset')
  },
)

test('an endpoint that a caller chose cannot prove that the network was reset', async () => {
  const { shared, own, send, reach, reset } = await start('caller')
  await shared.rpc('evm_setAutomine', [false])
  const open = await send('shared')
  await reach('shared', open, 'submitted')
  const id = await send('own')
  await reach('own', id, 'mined')
  await own.rpc('anvil_mine', ['0x10'])
  await reach('own', id, 'confirmed')
  // The caller's chain forgets a nonce that was confirmed.
  await own.rpc('anvil_reset')
  expect(await reset()).toBe('chain_not_reset')
  await reach('shared', open, 'submitted')
})

test('urls of the network that a caller chose cannot prove that the network was reset', async () => {
  const { service, own, send, reach, reset } = await start('caller')
  const open = await send('shared')
  await reach('shared', open, 'mined')
  const patched = await service.api('PATCH', '/networks/evm:anvil', { rpc_urls: [{ url: own.url }] })
  expect(patched.status, JSON.stringify(patched.body)).toBe(200)
  expect(await reset()).toBe('chain_not_reset')
})
