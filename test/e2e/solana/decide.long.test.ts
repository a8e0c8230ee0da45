import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startSolana } from '../../../simulators/solana/start-solana.ts'
import type { Schemas } from '../../../src/contract/operations.ts'
import { relayer } from '../../cli/spawn.ts'
import { API_KEY, startService } from '../../support/service.ts'
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
  onTestFinished(scenario.stop)
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
  // It holds no one up, and stays what it is meanwhile.
  const next = await scenario.send(transfer(19n))
  await scenario.tickUntil(next.id, 'confirmed')
  expect(solana.pending()).toEqual([])
  expect((await scenario.get(id)).status_reason).toBe(undecided.status_reason)
  expect(undecided.undecided_since).toBeDefined()

  // The command asks the running service, which has the database.
  await relayer({ cwd: folder, args: ['init'] })
  const env = { DATA_DIR: dataDir, RELAYER_URL: service.url, RELAYER_API_KEY: API_KEY }
  const decide = (...args: readonly string[]) =>
    relayer({ cwd: folder, args: ['tx', 'decide', ...args], env })
  expect(await decide()).toMatchObject({
    code: 0,
    out: expect.stringMatching(`^${id}  relayer main  since `),
  })
  const reason = ['--reason', 'the receiver has it']
  expect(await decide(next.id, '--included', ...reason)).toMatchObject({
    code: 1,
    err: expect.stringContaining(`Transaction ${next.id} is confirmed and does not wait for a decision`),
  })
  expect(await decide(id, '--included', '--attempt', '2', ...reason)).toMatchObject({
    code: 1,
    err: expect.stringContaining(`body.attempt: transaction ${id} has no attempt 2.`),
  })
  const path = `/relayers/main/transactions/${id}/decision`
  const nonsense = await service.api('POST', path, { included: false, attempt: 1, reason: 'none' })
  expect([nonsense.status, nonsense.body.error]).toEqual([
    400,
    'body.attempt: expected only where body.included is true.',
  ])
  expect(await decide(id, '--included', ...reason)).toMatchObject({ code: 0, err: '' })
  const { body: audit } = await service.api<Schemas['AuditEntry'][]>('GET', '/audit?action=decideTransaction')
  expect(audit.data).toMatchObject([{ actor: 'root', target_id: id, after: { included: true } }])

  const ended = await scenario.tickUntil(id, 'confirmed')
  expect(ended.undecided_since).toBeUndefined()
  expect(ended.status_reason).toContain('(the receiver has it)')
  expect(ended.attempts).toMatchObject([{ number: 1, outcome: 'mined' }])
  expect(solana.account(RECEIVER)?.lamports).toBe(SOL + 36n)
}, 120_000)
