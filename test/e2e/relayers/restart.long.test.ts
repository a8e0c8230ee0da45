import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startAnvil } from '../../support/anvil.ts'
import { RECEIVER, startService } from '../../support/service.ts'
import { create, createFunded, onAnvil, type Relayer, signersWith } from './site.ts'

test('a restart keeps what callers made of relayers, those of the file included', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'relayer-data-'))
  const anvil = await startAnvil({})
  const start = () => startService({ rpcUrls: [anvil.url], dataDir, ...signersWith('a', 'b', 'c') })
  let service = await start()
  try {
    const custom_rpc_urls = [{ url: `${anvil.url}/?key=a-secret` }]
    await createFunded(service, anvil, onAnvil('a', { id: 'one', custom_rpc_urls }))
    await createFunded(service, anvil, onAnvil('b', { id: 'two' }))
    await service.api('PATCH', '/relayers/main', { name: 'Changed', policies: { gas_price_cap: '7' } })
    await service.api('DELETE', '/relayers/other')
    await service.api('DELETE', '/relayers/two')
    // Under the name of one of the file, with an account of its own.
    await createFunded(service, anvil, onAnvil('c', { id: 'other' }))
    const before = await service.api<Relayer[]>('GET', '/relayers')
    await service.stop()

    service = await start()
    const after = await service.api<Relayer[]>('GET', '/relayers')
    expect(after.body).toEqual(before.body)
    expect(after.body.data).toMatchObject([
      { id: 'main', name: 'Changed', policies: { gas_price_cap: 7 } },
      { id: 'other', signer_id: 'c' },
      { id: 'one', custom_rpc_urls: [{ url: `${anvil.url}/***` }] },
    ])
    for (const id of ['one', 'other']) {
      const sent = await service.api('POST', `/relayers/${id}/transactions`, { to: RECEIVER, value: 1 })
      expect(sent.status).toBe(200)
    }
    // Its account is still its own, and no one else's.
    expect((await create(service, onAnvil('c', { id: 'second' }))).body.code).toBe('account_taken')
    expect((await create(service, onAnvil('dev-1', { id: 'heir' }))).status).toBe(201)
  } finally {
    await service.stop()
    await anvil.stop()
    await rm(dataDir, { recursive: true })
  }
}, 60_000)
