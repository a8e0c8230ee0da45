import { afterAll, beforeAll, expect, test } from 'vitest'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { watchNetwork } from '../../../src/transactions/watch/watch.ts'
import { createWatchMemory } from '../../../src/transactions/watch/watch-memory.ts'
import { insert, newTransaction, openRoom, type Room, reload } from '../fixture.ts'
import { chainOf, createWorld, headAt, include } from '../world.ts'

let room: Room
beforeAll(async () => {
  room = await openRoom()
})
afterAll(() => room.close())

const TRAITS = {
  nonces: false,
  lapses: true,
  finality: 'receipt',
  unit: 'wei',
  readMethods: [],
} as const

test('what a block holds is not proved to be absent in the same look, and that look is enough', async () => {
  const world = createWorld()
  const chain = chainOf(world)
  const owner = await room.addAccount({ chain })
  const { sign } = chainOf(createWorld())
  const everywhere: string[] = []
  world.override = {
    traits: TRAITS,
    sign: (draft, seat) => sign(draft, { ...seat, nonce: 0n }),
    hasLapsed: async () => true,
    proveInclusion: async (attempts) => {
      everywhere.push(...attempts.map(({ signed }) => signed.hash))
      return { kind: 'absent' }
    },
  }
  const [placed] = await insert(room.context, newTransaction(owner, { nextRunAt: new Date(0) }))
  if (!placed) throw new Error('nothing was stored')
  await workAccount(room.context, owner.relayer.id)
  const [hash = ''] = world.offered
  include(world, hash, { final: false })
  const memory = createWatchMemory()
  world.head = headAt(101n)
  await watchNetwork(room.context, { operator: owner.operator, relayers: [owner.relayer], memory })
  expect((await reload(room.context, placed)).transaction.status).toBe('mined')
  expect(everywhere).toEqual([])
  expect(memory.settledAt).toBe('0xhead101')
})
