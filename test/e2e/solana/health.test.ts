import { expect, onTestFinished, test } from 'vitest'
import { startSolana } from '../../../simulators/solana/start-solana.ts'
import type { Schemas } from '../../../src/contract/operations.ts'
import { createAdjustableClock } from '../../support/clock.ts'
import { startService } from '../../support/service.ts'
import {
  MAIN,
  RECEIVER,
  SOL,
  solanaConfig,
  solanaScenarioOf,
  transfer,
} from '../../support/solana-scenario.ts'
import { until } from '../../support/until.ts'

test('an account that does not exist yet is disabled; with money it is restored, and sends', async () => {
  const clock = createAdjustableClock()
  const solana = await startSolana({ slotMs: 'manual' })
  solana.airdrop(RECEIVER, SOL)
  const story = solanaScenarioOf(solana, await startService({ clock, ...solanaConfig(solana) }))
  onTestFinished(story.stop)
  const becomes = (disabled: boolean) =>
    until(
      async () => {
        clock.advance(5_000)
        const { body } = await story.service.api<Schemas['Relayer'][]>('GET', '/relayers')
        return body.data[0]
      },
      (relayer) => relayer?.system_disabled === disabled,
    )
  expect((await becomes(true))?.disabled_reason).toEqual({
    type: 'BalanceCheckFailed',
    details: 'The account can spend 0 lamports, and min_balance is 10000000.',
  })
  expect((await story.post(transfer(10n))).body.code).toBe('relayer_disabled')
  solana.airdrop(MAIN, SOL)
  await becomes(false)
  const { id } = await story.send(transfer(10n))
  await story.tickUntil(id, 'confirmed')
})
