import { rm } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import { startLedger } from '../../../simulators/stellar/start-ledger.ts'
import type { Schemas } from '../../../src/contract/operations.ts'
import { createAdjustableClock } from '../../support/clock.ts'
import { createDataDir } from '../../support/data-dir.ts'
import { parseMetrics, totalOf } from '../../support/metrics-text.ts'
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

/** The time passes in such steps, in ms, so that no wait of the service is skipped. */
const STEP_MS = 5_000

async function alertsOf({ service }: StellarScenario): Promise<readonly Schemas['Alert'][]> {
  return (await service.api<Schemas['Alert'][]>('GET', '/alerts')).body.data
}

test('a network that stands still is told as that everywhere, also after a restart, until it goes on', async () => {
  const dataDir = await createDataDir()
  const clock = createAdjustableClock()
  const ledger = await startLedger({ closeEveryMs: 'manual', now: clock.now })
  ledger.fund(MAIN.publicKey(), 1_000n * XLM)
  ledger.fund(RECEIVER, 100n * XLM)
  const config = {
    ...stellarConfig({ urls: [ledger.url], passphrase: ledger.passphrase }),
    env: { METRICS_ENABLED: 'true', METRICS_PORT: '0' },
    dataDir,
    clock,
  }
  const start = async () => stellarScenarioOf(ledger, await startService(config))
  let running = await start()
  onTestFinished(async () => {
    await running.stop()
    await rm(dataDir, { recursive: true })
  })
  const { service } = running
  const headOf = async () =>
    (await service.api<Schemas['RelayerStatus']>('GET', '/relayers/main/status')).body.data.network_head
  const readiness = async () =>
    (await (await fetch(`${service.url}/api/v1/ready`)).json()) as Schemas['Readiness']
  const pass = async <T>(look: () => Promise<T>, wanted: (seen: T) => boolean) =>
    until(() => {
      clock.advance(STEP_MS)
      return look()
    }, wanted)

  for (let ledgers = 0; ledgers < 3; ledgers += 1) {
    ledger.close()
    await until(headOf, (head) => head?.block === ledger.ledgers.at(-1)?.sequence)
  }
  expect(await headOf()).toMatchObject({ age_seconds: 0, halted: false })
  expect((await readiness()).components.networks.status).toBe('healthy')

  const { id } = await running.send(payment(10n))
  await running.reach(id, 'submitted')
  const diagnosis = async () =>
    (await service.api<Schemas['Diagnosis']>('GET', `/relayers/main/transactions/${id}/diagnosis`)).body.data
  const late = await pass(diagnosis, ({ findings }) => findings[0]?.code === 'chain_halted')
  expect(late.summary).toMatch(/^The network has made no block for \d\d s; one is expected every 0\.2 s\. /)
  expect(late.next_action).toMatchObject({ action: 'watch' })
  expect(late.head?.age_seconds).toBeGreaterThanOrEqual(10)
  const closed = new Date((ledger.ledgers.at(-1)?.closeTime ?? 0) * 1_000).toISOString()
  expect(late.head?.timestamp).toBe(closed)

  const [began] = await pass(
    () => alertsOf(running),
    ({ length }) => length > 0,
  )
  expect(began).toMatchObject({ alert: 'chain_halted', network: 'stellar:standalone', threshold: '60' })
  expect(await headOf()).toMatchObject({ halted: true })
  expect((await readiness()).components.networks).toEqual({
    status: 'degraded',
    details: [
      {
        name: 'stellar:standalone',
        status: 'degraded',
        error: expect.stringMatching(/^No new block for \d+ s\.$/),
      },
    ],
  })
  const network = await service.api<Schemas['Network']>('GET', '/networks/stellar:standalone')
  expect(network.body.data.head).toMatchObject({ halted: true })
  const samples = parseMetrics(await (await fetch(service.metricsUrl ?? '')).text())
  const labels = { network: 'standalone' }
  expect(totalOf(samples, 'chain_head_limit_seconds', labels)).toBe(60)
  expect(totalOf(samples, 'chain_head_age_seconds', labels)).toBeGreaterThanOrEqual(60)

  await service.stop()
  running = await start()
  for (let looks = 0; looks < 10; looks += 1) {
    clock.advance(STEP_MS)
    expect(await alertsOf(running)).toMatchObject([{ alert: 'chain_halted', since: began?.since }])
  }
  ledger.close()
  await pass(
    () => alertsOf(running),
    ({ length }) => length === 0,
  )
  const events = await running.service.api<Schemas['Event'][]>('GET', '/events?type=alert')
  expect(events.body.data.map(({ payload }) => payload)).toMatchObject([
    { alert: 'chain_halted', state: 'firing' },
    {
      alert: 'chain_halted',
      state: 'resolved',
      since: began?.since,
      message: 'Network stellar:standalone makes blocks again.',
    },
  ])
  await running.closeUntil(id, 'confirmed')
}, 90_000)
