import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { relayer } from '../../cli/spawn.ts'
import { startAnvil } from '../../support/anvil.ts'
import { API_KEY, RECEIVER, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

test('relayer reset ends what was open, on the word of the operator', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'relayer-reset-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const dataDir = join(folder, 'data')
  const anvil = await startAnvil({ args: ['--no-mining'] })
  onTestFinished(() => anvil.stop())
  const service = await startService({ rpcUrls: [anvil.url], dataDir })
  const path = '/relayers/main/transactions'
  const { id } = (await service.api('POST', path, { to: RECEIVER, value: 1 })).body.data
  await until(
    () => service.api('GET', `${path}/${id}`),
    ({ body }) => body.data.status === 'submitted',
  )
  await service.stop()

  await relayer({ cwd: folder, args: ['init'] })
  const env = { DATA_DIR: dataDir }
  const run = (...args: string[]) => relayer({ cwd: folder, args: ['reset', ...args], env })
  expect(await run()).toMatchObject({ code: 2, err: expect.stringContaining('Name the network') })
  expect(await run('anvi')).toMatchObject({ code: 2, err: expect.stringContaining('did you mean "anvil"') })
  expect(await run('testnet')).toMatchObject({ code: 2, err: expect.stringContaining('stellar:testnet') })
  expect(await run('evm:mainnet')).toMatchObject({
    code: 2,
    err: expect.stringContaining('--confirm evm:mainnet'),
  })
  expect(await run('anvil')).toMatchObject({
    code: 0,
    out: expect.stringContaining('1 open transaction of 2 relayers'),
  })
  expect(await run('anvil')).toMatchObject({ code: 0, out: expect.stringContaining('0 open transactions') })

  const again = await startService({ rpcUrls: [anvil.url], dataDir })
  onTestFinished(again.stop)
  // A service that has the database is asked, and believes no one.
  const asks = { ...env, RELAYER_URL: again.url, RELAYER_API_KEY: API_KEY }
  expect(await relayer({ cwd: folder, args: ['reset', 'anvil'], env: asks })).toMatchObject({
    code: 1,
    err: expect.stringContaining('chain_not_reset'),
  })
  const { body } = await again.api('GET', `${path}/${id}`)
  expect(body.data).toMatchObject({
    status: 'failed',
    status_reason: expect.stringContaining('declared reset'),
  })
}, 120_000)
