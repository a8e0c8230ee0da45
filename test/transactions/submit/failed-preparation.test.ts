import { afterAll, beforeAll, expect, test } from 'vitest'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { insert, newTransaction, openRoom, type Room, reload } from '../fixture.ts'
import { chainOf, createWorld } from '../world.ts'

let room: Room
beforeAll(async () => {
  room = await openRoom()
})
afterAll(() => room.close())

test('a no-op that cannot be prepared is tried again later, not at once', async () => {
  const world = createWorld()
  const owner = await room.addAccount({ chain: chainOf(world) })
  let asked = 0
  world.override = {
    prepare: async () => {
      asked += 1
      return { kind: 'refused', refusal: { code: 'fee_above_cap', detail: 'The cap is too low.' } }
    },
  }
  const due = new Date(room.clock.now())
  const [filler] = await insert(
    room.context,
    newTransaction(owner, { intent: 'filler', nonce: 0n, nextRunAt: due }),
  )
  if (!filler) throw new Error('nothing was stored')
  await workAccount(room.context, owner.relayer.id)
  await workAccount(room.context, owner.relayer.id)
  expect(asked).toBe(1)
  expect((await reload(room.context, filler)).transaction).toMatchObject({
    status: 'pending',
    intent: 'filler',
    nonce: 0n,
    statusReason: 'Waiting: The cap is too low.',
  })
  room.clock.advance(2_000)
  await workAccount(room.context, owner.relayer.id)
  expect(asked).toBe(2)
})

test('behind one that had to wait, nobody is prepared before it can go', async () => {
  const world = createWorld()
  const owner = await room.addAccount({ chain: chainOf(world) })
  const { prepare } = chainOf(createWorld())
  let asked = 0
  let answers = false
  world.override = {
    prepare: async (...question) => {
      asked += 1
      return answers ? prepare(...question) : { kind: 'unknown', detail: 'time-out' }
    },
  }
  const due = new Date(room.clock.now())
  const accept = () => newTransaction(owner, { createdAt: due, nextRunAt: due })
  const stored = await insert(room.context, accept(), accept(), accept())
  const step = async () => {
    asked = 0
    await workAccount(room.context, owner.relayer.id)
    room.clock.advance(2_000)
    return asked
  }
  expect(await step()).toBe(3)
  expect(await step()).toBe(1)
  answers = true
  expect(await step()).toBe(3)
  for (const transaction of stored)
    expect((await reload(room.context, transaction)).transaction.status).toBe('submitted')
})
