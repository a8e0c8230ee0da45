import { afterEach, beforeEach, expect, test } from 'vitest'
import { startSolana, type TestSolana } from '../../../simulators/solana/start-solana.ts'
import type { Schemas } from '../../../src/contract/operations.ts'
import { type AdjustableClock, createAdjustableClock } from '../../support/clock.ts'
import { plainSigner, type Service, startService, type Transaction } from '../../support/service.ts'
import { MAIN, SOL, seedOf, solanaConfig, solanaScenarioOf } from '../../support/solana-scenario.ts'
import { until } from '../../support/until.ts'

const HOT_RELAYER = {
  id: 'hot',
  name: 'Hot',
  network: 'local',
  network_type: 'solana',
  signer_id: 'hot',
  policies: {
    top_up: { from: 'main', below: String(SOL), to: String(2n * SOL), max_per_day: String(5n * SOL) },
  },
}

let solana: TestSolana
let clock: AdjustableClock
let service: Service

beforeEach(async () => {
  clock = createAdjustableClock()
  solana = await startSolana({ slotMs: 'manual', now: clock.now })
  solana.airdrop(MAIN, 10n * SOL)
  const config = solanaConfig(solana)
  service = await startService({
    clock,
    ...config,
    relayers: [...(config.relayers ?? []), HOT_RELAYER],
    signers: [...(config.signers ?? []), plainSigner('hot', Buffer.from(seedOf('hot')).toString('hex'))],
  })
})
afterEach(async () => {
  await service.stop()
  await solana.stop()
})

test('an account that does not exist is filled once, with the minimum that it must keep on top', async () => {
  const paid = async () => (await service.api<Transaction[]>('GET', '/relayers/main/transactions')).body.data
  const hot = async () =>
    (await service.api<Schemas['RelayerStatus']>('GET', '/relayers/hot/status')).body.data
  const [first] = await until(
    () => {
      clock.advance(30_000)
      return paid()
    },
    ({ length }) => length === 1,
  )
  expect(first).toMatchObject({ top_up_of: 'hot', network_type: 'solana' })
  await solanaScenarioOf(solana, service).tickUntil(first?.id ?? '', 'confirmed')
  const filled = await until(
    () => {
      clock.advance(30_000)
      return hot()
    },
    ({ top_up }) => top_up?.state === 'enough',
  )
  expect(filled.balance).toBe(String(2n * SOL))
  expect(await paid()).toHaveLength(1)
})
