import { expect, test } from 'vitest'
import { createTurns, type TurnKind } from '../../src/lib/concurrency/turns.ts'

/** Wishes all turns while another one lasts, and returns the names in the order in which they began. */
async function orderOf(wishes: readonly [name: string, kind: TurnKind][], first: TurnKind = 'ordinary') {
  const turns = createTurns()
  await turns.begin(first)
  const order: string[] = []
  const all = wishes.map(async ([name, kind]) => {
    await turns.begin(kind)
    order.push(name)
    turns.end()
  })
  turns.end()
  await Promise.all(all)
  return order
}

test('turns of one kind come in the order of their wishes', async () => {
  const wishes: [string, TurnKind][] = [
    ['a', 'ordinary'],
    ['b', 'ordinary'],
    ['c', 'ordinary'],
  ]
  expect(await orderOf(wishes)).toEqual(['a', 'b', 'c'])
})

test('an urgent turn comes before ordinary ones that were wished earlier, and never two while an ordinary one waits', async () => {
  const wishes: [string, TurnKind][] = [
    ['o1', 'ordinary'],
    ['o2', 'ordinary'],
    ['u1', 'urgent'],
    ['u2', 'urgent'],
    ['u3', 'urgent'],
  ]
  expect(await orderOf(wishes)).toEqual(['u1', 'o1', 'u2', 'o2', 'u3'])
  expect(await orderOf(wishes, 'urgent')).toEqual(['o1', 'u1', 'o2', 'u2', 'u3'])
})

test('nobody begins while another turn lasts', async () => {
  const turns = createTurns()
  await turns.begin('ordinary')
  let hasBegun = false
  const second = turns.begin('urgent').then(() => {
    hasBegun = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(hasBegun).toBe(false)
  turns.end()
  await second
  expect(hasBegun).toBe(true)
})
