import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BoundedMap } from '../../src/lib/bounded-map.ts'

test('a map with too many entries forgets the one that was set the longest ago', () => {
  const map = new BoundedMap<string, number>(2).set('a', 1).set('b', 2).set('a', 3).set('c', 4)
  expect([...map]).toEqual([
    ['a', 3],
    ['c', 4],
  ])
})

test('an entry that was deleted leaves its place', () => {
  const map = new BoundedMap<string, number>(2).set('a', 1).set('b', 2)
  map.delete('a')
  expect([...map.set('c', 3).keys()]).toEqual(['b', 'c'])
})

const SRC = join(import.meta.dirname, '../../src')

/** What a map that is bounded by hand looks like: its first key is dropped, or all of them at once. */
const BY_HAND = /\.keys\(\)\.next\(\)|const \[oldest\] = |\.size >=? \w+\) \w+\.clear\(\)/

/** They tell the server what they forget, or count anew. */
const OTHER = [
  'lib/bounded-map.ts',
  'database/engines/embedded/prepared-statements.ts',
  'database/engines/postgres/statements.ts',
]

test('no other file bounds a map by hand', () => {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  expect(files.filter((name) => BY_HAND.test(readFileSync(join(SRC, name), 'utf8'))).sort()).toEqual(
    [...OTHER].sort(),
  )
})
