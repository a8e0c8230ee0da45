import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
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

/** A network, and services of relayer `main` on folders of the same machine. */
async function setUp() {
  const folder = await mkdtemp(join(tmpdir(), 'relayer-restored-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const solana = await startSolana({ slotMs: 'manual' })
  onTestFinished(() => solana.stop())
  solana.airdrop(MAIN, 10n * SOL)
  solana.airdrop(RECEIVER, SOL)
  const start = async (name: string, maxInFlight = '1') => {
    const env = { RELAYER_MAX_IN_FLIGHT: maxInFlight, RELAYER_HEALTH_INTERVAL_SECONDS: '1' }
    const service = await startService({ ...solanaConfig(solana), dataDir: join(folder, name), env })
    return solanaScenarioOf(solana, service)
  }
  const received = () => (solana.account(RECEIVER)?.lamports ?? 0n) - SOL
  const backUp = () => cp(join(folder, 'old'), join(folder, 'new'), { recursive: true })
  return { solana, start, received, backUp }
}

type Story = Awaited<ReturnType<Awaited<ReturnType<typeof setUp>>['start']>>

const relayerOf = async ({ service }: Story) =>
  (await service.api<Schemas['Relayer']>('GET', '/relayers/main')).body.data

const accept = ({ service }: Story) =>
  service.api<Schemas['Relayer']>('POST', '/relayers/main/accept-nonces', { reason: 'compared' })

const disabled = (story: Story) =>
  until(
    () => {
      story.solana.tick()
      return relayerOf(story)
    },
    ({ system_disabled }) => system_disabled === true,
  )

test('what an old backup has not signed and the chain includes is not paid again, and goes on when somebody has accepted it', async () => {
  const { solana, start, received, backUp } = await setUp()
  const old = await start('old')
  const first = await old.send(transfer(1n))
  await old.reach(first.id, 'submitted')
  const paid = await old.send(transfer(20n))
  await old.service.stop()
  await backUp()

  const later = await start('old')
  for (const { id } of [first, paid]) await later.tickUntil(id, 'confirmed')
  const { hash } = await later.get(paid.id)
  await later.service.stop()
  expect(received()).toBe(21n)

  const restored = await start('new')
  expect((await disabled(restored)).disabled_reason).toMatchObject({
    type: 'UnexplainedTransactions',
    details: expect.stringContaining(`${hash}`),
  })
  await restored.tickUntil(first.id, 'confirmed')
  solana.tick(400)
  expect((await restored.get(paid.id)).status).toBe('pending')
  await restored.cancel(paid.id)
  expect((await accept(restored)).body.data).toMatchObject({ system_disabled: false })
  const next = await restored.send(transfer(300n))
  await restored.tickUntil(next.id, 'confirmed')
  expect((await restored.get(paid.id)).status).toBe('canceled')
  expect(received()).toBe(321n)
  await restored.service.stop()
}, 120_000)
