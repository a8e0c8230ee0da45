import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startLedger } from '../../../simulators/stellar/start-ledger.ts'
import type { Schemas } from '../../../src/contract/operations.ts'
import { relayer } from '../../cli/spawn.ts'
import { type AdjustableClock, createAdjustableClock } from '../../support/clock.ts'
import { type FaultyNode, startFaultyNode } from '../../support/faulty-node.ts'
import { startService } from '../../support/service.ts'
import {
  MAIN,
  payment,
  RECEIVER,
  type StellarScenario,
  stellarConfig,
  stellarScenarioOf,
  XLM,
} from '../../support/stellar-scenario.ts'
import { until } from '../../support/until.ts'

interface Stage {
  readonly scenario: StellarScenario
  readonly gate: FaultyNode
  readonly clock: AdjustableClock
  readonly dataDir: string
  /** Stops the service and starts it again on the same ledger and data. */
  restart(): Promise<StellarScenario>
}

/** A service that asks one node, which remembers ten ledgers. */
async function setStage(): Promise<Stage> {
  const dataDir = join(await mkdtemp(join(tmpdir(), 'relayer-undecided-')), 'data')
  const clock = createAdjustableClock()
  const ledger = await startLedger({ closeEveryMs: 'manual', now: clock.now, retentionLedgers: 10 })
  ledger.fund(MAIN.publicKey(), 1_000n * XLM)
  ledger.fund(RECEIVER, 100n * XLM)
  const gate = await startFaultyNode(ledger.url)
  const config = {
    ...stellarConfig({ urls: [gate.url], passphrase: ledger.passphrase }),
    dataDir,
    clock,
  }
  const start = async () => stellarScenarioOf(ledger, await startService(config))
  const scenario = await start()
  let running = scenario
  onTestFinished(async () => {
    await running.stop()
    await gate.stop()
    await rm(join(dataDir, '..'), { recursive: true })
  })
  return {
    scenario,
    gate,
    clock,
    dataDir,
    restart: async () => {
      running = await start()
      return running
    },
  }
}

/** Sends a payment that is included while the node is away for so long that it has forgotten the ledger. */
async function loseInclusion({ scenario, gate, clock }: Stage, amount: bigint): Promise<string> {
  const { ledger, send, reach, service } = scenario
  const { id } = await send(payment(amount))
  await reach(id, 'submitted')
  gate.fault = () => 'drop'
  for (let count = 0; count < 30; count += 1) {
    ledger.close({ seconds: 5 })
    clock.advance(5_000)
  }
  gate.fault = () => 'pass'
  await until(
    async () => {
      clock.advance(5_000)
      ledger.close({ seconds: 5 })
      return (await service.api<Schemas['Event'][]>('GET', '/events?type=transaction_undecided')).body.data
    },
    (events) => events.some(({ transaction_id }) => transaction_id === id),
  )
  return id
}

/** Includes it in one ledger, because the node forgets one after ten more, whether the service has looked or not. */
async function include({ ledger, reach }: StellarScenario, id: string): Promise<void> {
  await reach(id, 'submitted')
  ledger.close()
  await reach(id, 'confirmed')
}

test('what no node remembers is told as undecided all the time, is not broadcast, and holds no other transaction up', async () => {
  const stage = await setStage()
  const { scenario, gate, clock, dataDir } = stage
  const { ledger, service, send, get } = scenario
  const id = await loseInclusion(stage, 10n)
  const told = ledger.account(RECEIVER)?.balance
  expect(told).toBe(100n * XLM + 10n)

  const reason = (await get(id)).status_reason
  expect(reason).toMatch(/no endpoint keeps its history.*relayer tx decide/)
  const broadcasts = gate.calls.get('sendTransaction')
  for (let looks = 0; looks < 8; looks += 1) {
    clock.advance(2_000)
    ledger.close({ seconds: 2 })
    const looked = gate.calls.get('getTransaction') ?? 0
    await until(
      () => Promise.resolve(gate.calls.get('getTransaction') ?? 0),
      (asked) => asked > looked,
    )
    expect((await get(id)).status_reason).toBe(reason)
    const { body } = await service.api<Schemas['Diagnosis']>(
      'GET',
      `/relayers/main/transactions/${id}/diagnosis`,
    )
    expect(body.data.findings[0]).toEqual({ code: 'undecided', message: reason })
  }
  expect(gate.calls.get('sendTransaction')).toBe(broadcasts)

  // The ledger has passed its sequence number, so the next one goes on.
  const next = await send(payment(20n))
  const { body } = await service.api<Schemas['Diagnosis']>(
    'GET',
    `/relayers/main/transactions/${next.id}/diagnosis`,
  )
  expect(body.data.findings.map(({ code }) => code)).not.toContain('in_flight_limit')
  await include(scenario, next.id)

  await service.stop()
  const again = await stage.restart()
  const third = await again.send(payment(40n))
  await include(again, third.id)
  expect(await again.get(id)).toMatchObject({ status: 'submitted', status_reason: reason })
  await again.service.stop()

  const folder = join(dataDir, '..')
  const env = { DATA_DIR: dataDir }
  await relayer({ cwd: folder, args: ['init'] })
  const listed = await relayer({ cwd: folder, args: ['tx', 'decide'], env })
  expect(listed).toMatchObject({ code: 0, out: expect.stringContaining(reason ?? '') })
  const args = ['tx', 'decide', id, '--included', '--reason', 'the receiver has it']
  expect(await relayer({ cwd: folder, args, env })).toMatchObject({ code: 0, err: '' })
  const last = await stage.restart()
  await last.reach(id, 'confirmed', () => {
    clock.advance(5_000)
    ledger.close({ seconds: 5 })
  })
  expect(ledger.account(RECEIVER)?.balance).toBe(100n * XLM + 70n)
}, 120_000)
