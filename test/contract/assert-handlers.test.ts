import { expect, test } from 'vitest'
import { assertHandlers } from '../../src/contract/assert-handlers.ts'
import { loadContract } from '../../src/contract/document.ts'
import type { HandlerMap } from '../../src/contract/handler.ts'

const contract = await loadContract()
const ids = contract.operations.map(({ id }) => id)
const handlersFor = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, async () => ({})])) as unknown as HandlerMap

test('one handler for each operation is complete', () => {
  expect(() => assertHandlers(contract, handlersFor(ids))).not.toThrow()
})

test.each(ids)('a missing handler for %s is an error', (id) => {
  const handlers = handlersFor(ids.filter((other) => other !== id))
  expect(() => assertHandlers(contract, handlers)).toThrow(`No handler for ${id}`)
})

test('a handler without an operation is an error', () => {
  expect(() => assertHandlers(contract, handlersFor([...ids, 'teleport']))).toThrow('teleport')
})
