import { afterEach, beforeEach, expect, test } from 'vitest'
import { startLedger, type TestLedger } from '../../../simulators/stellar/start-ledger.ts'
import type { Schemas } from '../../../src/contract/operations.ts'
import { type AdjustableClock, createAdjustableClock } from '../../support/clock.ts'
import { plainSigner, type Service, startService, type Transaction } from '../../support/service.ts'
import { keypairOf, MAIN, stellarConfig, stellarScenarioOf, XLM } from '../../support/stellar-scenario.ts'
import { until } from '../../support/until.ts'

const HOT = keypairOf('hot')
const HOT_RELAYER = {
  id: 'hot',
  name: 'Hot',
  network: 'standalone',
  network_type: 'stellar',
  signer_id: 'hot',
  policies: {
    top_up: {
      from: 'main',
      below: String(10n * XLM),
      to: String(20n * XLM),
      max_per_day: String(100n * XLM),
    },
  },
}

let ledger: TestLedger
let clock: AdjustableClock
let service: Service

beforeEach(async () => {
  clock = createAdjustableClock()
  ledger = await startLedger({ closeEveryMs: 'manual', now: clock.now })
  ledger.fund(MAIN.publicKey(), 1_000n * XLM)
  const config = stellarConfig({ urls: [ledger.url], passphrase: ledger.passphrase })
  service = await startService({
    clock,
    ...config,
    relayers: [...(config.relayers ?? []), HOT_RELAYER],
    signers: [...(config.signers ?? []), plainSigner('hot', HOT.secret())],
  })
})
afterEach(async () => {
  await service.stop()
  await ledger.stop()
})

const paid = async () => (await service.api<Transaction[]>('GET', '/relayers/main/transactions')).body.data
const hot = async () => (await service.api<Schemas['RelayerStatus']>('GET', '/relayers/hot/status')).body.data

test('an account that does not exist is created with its reserve, and filled by payments afterwards', async () => {
  const [first] = await until(
    () => {
      clock.advance(30_000)
      return paid()
    },
    ({ length }) => length === 1,
  )
  expect(first).toMatchObject({ top_up_of: 'hot', network_type: 'stellar' })
  const story = stellarScenarioOf(ledger, service)
  await story.closeUntil(first?.id ?? '', 'confirmed')
  const filled = await until(
    () => {
      clock.advance(30_000)
      return hot()
    },
    // The health check enables it when the money has arrived.
    ({ top_up, system_disabled }) => top_up?.state === 'enough' && !system_disabled,
  )
  // The reserve of two entries came on top.
  expect(filled.balance).toBe(String(20n * XLM))
  const destination = MAIN.publicKey()
  const spend = { type: 'payment', destination, asset: { type: 'native' }, amount: String(15n * XLM) }
  const { body } = await service.api('POST', '/relayers/hot/transactions', {
    network: 'standalone',
    operations: [spend],
  })
  expect(body.error).toBeUndefined()
  const both = await until(
    () => {
      clock.advance(1_000)
      ledger.close()
      return paid()
    },
    ({ length }) => length === 2,
  )
  expect(both.map((one) => 'top_up_of' in one && one.top_up_of)).toEqual(['hot', 'hot'])
  await story.closeUntil(both[0]?.id ?? '', 'confirmed')
  expect((await hot()).balance).toBe(String(20n * XLM))
})
