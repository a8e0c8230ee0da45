import { afterEach, beforeEach, expect, test } from 'vitest'
import { startLedger, type TestLedger } from '../../../simulators/stellar/start-ledger.ts'
import type { Schemas } from '../../../src/contract/operations.ts'
import { type AdjustableClock, createAdjustableClock } from '../../support/clock.ts'
import { type FaultyNode, startFaultyNode } from '../../support/faulty-node.ts'
import { type Service, startService } from '../../support/service.ts'
import {
  MAIN,
  payment,
  RECEIVER,
  stellarConfig,
  stellarScenarioOf,
  XLM,
} from '../../support/stellar-scenario.ts'
import { until } from '../../support/until.ts'

let ledger: TestLedger
/** A network that was reset: the same passphrase, and nothing of what was. */
let fresh: TestLedger
let node: FaultyNode
let clock: AdjustableClock
let service: Service

beforeEach(async () => {
  clock = createAdjustableClock()
  const options = { closeEveryMs: 'manual', now: clock.now } as const
  ledger = await startLedger(options)
  fresh = await startLedger(options)
  node = await startFaultyNode(ledger.url, { replica: () => fresh.url })
  service = await startService({
    clock,
    ...stellarConfig({ urls: [node.url], passphrase: ledger.passphrase }),
  })
})
afterEach(async () => {
  await service.stop()
  await node.stop()
  await ledger.stop()
  await fresh.stop()
})

type Relayer = Schemas['Relayer']

function becomes(wanted: (relayer: Relayer | undefined) => boolean): Promise<Relayer | undefined> {
  return until(async () => {
    clock.advance(5_000)
    return (await service.api<Relayer[]>('GET', '/relayers')).body.data[0]
  }, wanted)
}

test('a network that was reset does not take up the old sequence numbers', async () => {
  // Later ledgers give later sequence numbers.
  ledger.close(10)
  ledger.fund(MAIN.publicKey(), 100n * XLM)
  ledger.fund(RECEIVER, 100n * XLM)
  await becomes((relayer) => relayer?.system_disabled === false)
  const story = stellarScenarioOf(ledger, service)
  const { id } = await story.send(payment(10n))
  const confirmed = await story.closeUntil(id, 'confirmed')
  fresh.fund(MAIN.publicKey(), 100n * XLM)
  node.fault = () => ({ kind: 'lag', blocks: 1 })
  const off = await becomes((relayer) => relayer?.system_disabled === true)
  expect(off?.disabled_reason?.type).toBe('SequenceSyncFailed')
  expect(off?.disabled_reason?.details).toContain(
    `but sequence number ${confirmed.sequence_number} of it is confirmed`,
  )
  node.fault = () => 'pass'
  await becomes((relayer) => relayer?.system_disabled === false)
})
