import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { relayer } from '../../cli/spawn.ts'
import { startService } from '../../support/service.ts'
import { startSolana } from '../../support/solana/start-solana.ts'
import {
  MAIN,
  RECEIVER,
  SOL,
  solanaConfig,
  solanaScenarioOf,
  transfer,
} from '../../support/solana-scenario.ts'
import { until } from '../../support/until.ts'

test('what the only node has lost is announced, and ends as an operator decides', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'relayer-decide-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const dataDir = join(folder, 'data')
  const solana = await startSolana({ slotMs: 'manual' })
  solana.airdrop(MAIN, 10n * SOL)
  solana.airdrop(RECEIVER, SOL)
  const node = solana.node()
  const config = { ...solanaConfig(solana, { urls: [node.url] }), dataDir }

  const service = await startService(config)
  const scenario = solanaScenarioOf(solana, service)
  const { id } = await scenario.send(transfer(17n))
  await scenario.reach(id, 'submitted')
  // It is included, and the node restarts from a snapshot that is newer than its block.
  solana.tick(30)
  node.jump(30)
  solana.tick(400)
  const { body } = await until(
    () => {
      solana.tick()
      return service.api<Schemas['Event'][]>('GET', '/events?type=transaction_undecided')
    },
    ({ body: { data } }) => data.length > 0,
  )
  expect(body.data).toMatchObject([{ transaction_id: id, payload: { status: 'submitted' } }])
  const undecided = await scenario.get(id)
  expect(undecided.status_reason).toContain(`relayer tx decide ${id}`)
  const { body: diagnosis } = await service.api<Schemas['Diagnosis']>(
    'GET',
    `/relayers/main/transactions/${id}/diagnosis`,
  )
  expect(diagnosis.data.findings[0]).toEqual({ code: 'undecided', message: undecided.status_reason })
  // It holds nobody up, and stays what it is meanwhile.
  const next = await scenario.send(transfer(19n))
  await scenario.tickUntil(next.id, 'confirmed')
  expect(solana.pending()).toEqual([])
  expect((await scenario.get(id)).status_reason).toBe(undecided.status_reason)
  await service.stop()

  await relayer({ cwd: folder, args: ['init'] })
  const env = { DATA_DIR: dataDir }
  const listed = await relayer({ cwd: folder, args: ['tx', 'decide'], env })
  expect(listed).toMatchObject({ code: 0, out: expect.stringContaining(id) })
  const args = ['tx', 'decide', id, '--included', '--reason', 'the receiver has it']
  expect(await relayer({ cwd: folder, args, env })).toMatchObject({ code: 0, err: '' })

  const again = solanaScenarioOf(solana, await startService(config))
  onTestFinished(again.stop)
  const ended = await again.tickUntil(id, 'confirmed')
  expect(ended.status_reason).toContain('(the receiver has it)')
  expect(ended.attempts).toMatchObject([{ number: 1, outcome: 'mined' }])
  expect(solana.account(RECEIVER)?.lamports).toBe(SOL + 36n)
}, 120_000)
