import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
const read = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'))
const manifest = read('clients/typescript/package.json')

/** The packages that a file loads, itself or through another file. */
function packagesOf(file: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(file)) return new Set()
  seen.add(file)
  const source = readFileSync(file, 'utf8')
  const imported = [...source.matchAll(/^(?:import|export)\b(?! type)[^;]*? from '([^']+)'/gm)].map(
    ([, path = '']) => path,
  )
  const own = imported.filter((path) => !path.startsWith('.'))
  const others = imported.filter((path) => path.startsWith('.'))
  return new Set([...own, ...others.flatMap((path) => [...packagesOf(join(dirname(file), path), seen)])])
}

test.each([
  ['index', ['openapi-fetch']],
  ['eip1193', []],
  ['viem', ['viem', 'viem/actions']],
  ['ethers', ['ethers']],
  ['solana-kit', ['@solana/kit']],
  ['stellar', ['@stellar/stellar-sdk']],
])('the entry %s loads no library but %j', (entry, packages) => {
  expect([...packagesOf(join(ROOT, `clients/typescript/src/${entry}.ts`))].sort()).toEqual(packages)
})

test('each entry is exported, and its library is a peer of the version with which it is tested', () => {
  const { dependencies, devDependencies } = read('package.json')
  const tested = { ...dependencies, ...devDependencies }
  const names = ['@solana/kit', '@stellar/stellar-sdk', 'ethers', 'viem']
  expect(manifest.peerDependencies).toEqual(
    Object.fromEntries(names.map((name) => [name, `^${tested[name]}`])),
  )
  expect(manifest.peerDependenciesMeta).toEqual(
    Object.fromEntries(names.map((name) => [name, { optional: true }])),
  )
  const entries = ['.', './eip1193', './viem', './ethers', './solana-kit', './stellar', './package.json']
  expect(Object.keys(manifest.exports)).toEqual(entries)
})
