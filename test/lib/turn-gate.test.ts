import { setImmediate as endOfTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createTurnGate } from '../../src/lib/concurrency/turn-gate.ts'

/** Ten callers, who note the turn in which they pass a gate for four. */
async function turnsOf(gate: () => Promise<void> | undefined): Promise<number[]> {
  let turn = 0
  let open = true
  const counting = (async () => {
    while (open) {
      await endOfTurn()
      turn += 1
    }
  })()
  const turns = await Promise.all(
    Array.from({ length: 10 }, async () => {
      await gate()
      return turn
    }),
  )
  open = false
  await counting
  return turns
}

test('so many pass in a turn, in their order, and the others in the turns behind it', async () => {
  const turns = await turnsOf(createTurnGate(4))
  const first = turns[0] ?? Number.NaN
  expect(turns.map((turn) => turn - first)).toEqual([0, 0, 0, 0, 1, 1, 1, 1, 2, 2])
})

test('who is alone passes at once, and so does whoever comes after a quiet turn', async () => {
  const gate = createTurnGate(1)
  expect(gate()).toBeUndefined()
  expect(gate()).toBeInstanceOf(Promise)
  for (let turns = 0; turns < 3; turns += 1) await endOfTurn()
  expect(gate()).toBeUndefined()
})

test('nobody who comes later overtakes those who wait', async () => {
  const gate = createTurnGate(1)
  const order: string[] = []
  const pass = async (name: string) => {
    await gate()
    order.push(name)
  }
  const early = [pass('a'), pass('b'), pass('c')]
  await endOfTurn()
  await Promise.all([...early, pass('d')])
  expect(order).toEqual(['a', 'b', 'c', 'd'])
})
