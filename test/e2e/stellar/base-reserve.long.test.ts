import { expect, onTestFinished, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { createLogger } from '../../../src/log.ts'
import { createAdjustableClock } from '../../support/clock.ts'
import { payment, type StellarScenario, startStellarScenario, XLM } from '../../support/stellar-scenario.ts'
import { until } from '../../support/until.ts'

const HIGH = 10n * XLM

async function balanceOf({ service }: StellarScenario): Promise<string> {
  const { body } = await service.api<Schemas['RelayerBalance']>('GET', '/relayers/main/balance')
  return String(body.data.balance)
}

test('where an entry holds back ten lumens, they are not told as spendable and cannot be promised to a payment', async () => {
  const scenario = await startStellarScenario({ ledger: { baseReserve: HIGH } })
  onTestFinished(scenario.stop)
  expect(await balanceOf(scenario)).toBe(String(980n * XLM))
  const refused = await scenario.post(payment(985n * XLM))
  expect([refused.status, refused.body.code]).toEqual([400, 'insufficient_balance'])
  const { id } = await scenario.send(payment(900n * XLM))
  await scenario.closeUntil(id, 'confirmed')
})

test('a channel account that could not be opened is told in the log, and opened with the reserve of the ledger', async () => {
  const lines: Record<string, unknown>[] = []
  const log = createLogger({ level: 'warn' }, { write: (line) => void lines.push(JSON.parse(line)) })
  const clock = createAdjustableClock()
  const scenario = await startStellarScenario({
    clock,
    log,
    ledger: { now: clock.now },
    relayer: { channels: 1 },
  })
  onTestFinished(scenario.stop)
  const { ledger, service, send, closeUntil } = scenario
  const { body } = await service.api<Schemas['StellarRelayer'][]>('GET', '/relayers')
  const [channel = ''] = body.data[0]?.channels ?? []
  expect(await balanceOf(scenario)).toBe(String(999n * XLM))
  // The service has read the reserve a moment ago, and validators vote for another one.
  ledger.voteBaseReserve(HIGH)
  const first = await send(payment(1n))
  await closeUntil(first.id, 'confirmed')
  await until(
    async () => {
      ledger.close()
      return lines.filter(({ msg }) => String(msg).startsWith('setup transaction failed'))
    },
    (warned) => warned.length === 1,
  )
  expect(lines.at(-1)).toMatchObject({
    relayer: 'main',
    status: 'failed',
    detail: expect.stringMatching(/reserve/),
  })
  expect(ledger.account(channel)).toBeUndefined()

  clock.advance(61_000)
  const second = await send(payment(2n))
  await closeUntil(second.id, 'confirmed')
  await until(
    async () => {
      ledger.close()
      return ledger.account(channel)?.balance
    },
    (balance) => balance === 2n * HIGH,
  )
})
