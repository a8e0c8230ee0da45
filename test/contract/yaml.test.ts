import { expect, test } from 'vitest'
import { isCollection, isScalar, parse, parseDocument, visit } from 'yaml'
import { loadContract } from '../../src/contract/document.ts'

const { yaml } = await loadContract()

test('openapi.yaml means the same in YAML 1.1, which has more booleans, numbers and times', () => {
  expect(parse(yaml, { version: '1.1', intAsBigInt: true })).toEqual(parse(yaml, { intAsBigInt: true }))
})

test('openapi.yaml has no plain text in braces that readers of YAML 1.1 end at a question mark', () => {
  const ended: string[] = []
  visit(parseDocument(yaml), (_key, node, path) => {
    if (!isScalar(node) || node.type !== 'PLAIN' || typeof node.value !== 'string') return
    if (path.some((parent) => isCollection(parent) && parent.flow) && node.value.includes('?'))
      ended.push(node.value)
  })
  expect(ended).toEqual([])
})
