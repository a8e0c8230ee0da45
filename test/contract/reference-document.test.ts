import { expect, test } from 'vitest'
import { loadContract, type Node } from '../../src/contract/document.ts'
import { stringifyJson } from '../../src/contract/exact-integers.ts'
import { referenceDocument } from '../../src/contract/reference-document.ts'

const { document, json } = await loadContract()
const reference = stringifyJson(referenceDocument(document))

test('the document of the reference page has no bound that a browser rounds', () => {
  const rounded = /"(minimum|maximum)":-?\d{16,}/
  expect(json).toMatch(rounded)
  expect(reference).not.toMatch(rounded)
})

test('the document of the reference page keeps everything else', () => {
  const wide = new Set(['U128', 'Int64', 'Quantity', 'Uint64', 'SignedInt64', 'ExactU128', 'ExactInt64'])
  const schemasOf = (from: Node) => Object.entries((from.components as { schemas: Node }).schemas)
  const others = (from: Node) =>
    schemasOf(from).filter(([name]) => !wide.has(name) && !['RelayerBalance'].includes(name))
  expect(others(referenceDocument(document))).toEqual(others(document))
  expect(referenceDocument(document).paths).toEqual(document.paths)
})
