import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Sponsoring } from '../../src/chains/capabilities.ts'
import type { Chain } from '../../src/chains/chain.ts'
import type { Database } from '../../src/database/db.ts'
import type { Relayer } from '../../src/relayers/relayer.ts'
import { saveRelayer } from '../../src/relayers/store.ts'
import { createSponsors } from '../../src/sponsoring/sponsor.ts'
import { createTestClock } from '../support/clock.ts'
import { openTestDatabase } from '../support/database.ts'

const RELAYER: Relayer = {
  id: 'main',
  name: 'Main',
  network: 'local',
  networkType: 'solana',
  address: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
  signerId: 'dev',
  paused: false,
  systemDisabled: false,
  policies: { allowedTokens: [{ mint: 'm', swap_config: { slippage_percentage: 0 } }] },
}

let database: Database
beforeAll(async () => {
  database = await openTestDatabase()
  await database.db.transaction().execute((tx) => saveRelayer(tx, RELAYER))
})
afterAll(() => database.close())

test.each([
  ['as high as then', 10_000n, 10_000n],
  ['lower', 9_999n, 10_000n],
  ['higher: the quote no longer holds', 10_001n, 10_001n],
])('a build while the fee of the network is %s', async (_, fee, amount) => {
  const clock = createTestClock()
  let networkFee = 10_000n
  const paid: (bigint | undefined)[] = []
  const sponsoring = {
    decimals: 9,
    tokenProblem: () => undefined,
    tokenDecimals: async () => ({ kind: 'ok', value: 9 }),
    plan: async () => ({
      kind: 'ok',
      value: {
        payer: 'user',
        fee: networkFee,
        hasMost: false,
        build: async (charge: { readonly amount: bigint } | undefined) => {
          paid.push(charge?.amount)
          return { kind: 'ok', value: { transaction: 'bytes', hash: `hash ${fee}`, receiver: 'receiver' } }
        },
      },
    }),
  } as unknown as Sponsoring
  const prices = { read: async () => ({ kind: 'ok', value: { numerator: 1n, denominator: 1n } }) as const }
  const sponsors = createSponsors({ db: database.db, clock, prices })
  const sponsor = { relayer: RELAYER, chain: { unit: 'lamports', sponsoring } as unknown as Chain }
  const wish = { content: { type: 'solana', transaction: `content ${fee}` }, feeToken: 'm' } as const
  expect((await sponsors.quote(sponsor, wish)).charge.amount).toBe(10_000n)
  networkFee = fee
  expect((await sponsors.build(sponsor, wish)).charge.amount).toBe(amount)
  expect(paid).toEqual([amount])
})
