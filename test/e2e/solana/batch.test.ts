import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendBatch } from '../../support/service.ts'
import {
  RECEIVER,
  type SolanaScenario,
  startSolanaScenario,
  transfer,
} from '../../support/solana-scenario.ts'

let scenario: SolanaScenario

beforeAll(async () => {
  scenario = await startSolanaScenario()
}, 60_000)
afterAll(() => scenario.stop())

test('each transfer of a batch on Solana is made once', async () => {
  const lamports = () => scenario.solana.account(RECEIVER)?.lamports ?? 0n
  const before = lamports()
  const { status, body } = await sendBatch(scenario.service, [transfer(1n), transfer(20n), transfer(300n)])
  expect(status).toBe(200)
  for (const { id } of body.data) await scenario.tickUntil(id, 'confirmed')
  expect(lamports()).toBe(before + 321n)
})
