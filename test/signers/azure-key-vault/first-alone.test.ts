import { expect, test } from 'vitest'
import { createFirstAlone } from '../../../src/signers/key-services/azure-key-vault.ts'

/** Work that ends when it is told, and a list of what has begun. */
function setUp() {
  const inTurn = createFirstAlone()
  const begun: string[] = []
  const start = (name: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const result = inTurn(() => {
      begun.push(name)
      return promise
    })
    result.catch(() => undefined)
    return { result, succeed: () => resolve(name), fail: () => reject(new Error(name)) }
  }
  return { begun, start }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('the others wait until the first has succeeded, and then run together', async () => {
  const { begun, start } = setUp()
  const [first, second, third] = [start('first'), start('second'), start('third')]
  await settled()
  expect(begun).toEqual(['first'])
  first.succeed()
  await settled()
  expect(begun).toEqual(['first', 'second', 'third'])
  second.succeed()
  third.succeed()
  expect(await Promise.all([first.result, second.result, third.result])).toEqual(['first', 'second', 'third'])
})

test('when the first fails, one other is the first', async () => {
  const { begun, start } = setUp()
  const [first, second] = [start('first'), start('second'), start('third')]
  first.fail()
  await settled()
  expect(begun).toEqual(['first', 'second'])
  second.succeed()
  await settled()
  expect(begun).toEqual(['first', 'second', 'third'])
  await expect(first.result).rejects.toThrow('first')
})
