import { expect, test } from 'vitest'
import { findContractViolations } from '../../scripts/contract/violations.ts'

/** A contract with one operation, whose description has this number of lines. */
const withProse = (lines: number) => `paths:
  /relayers:
    get:
      operationId: listRelayers
      description: |
${'        text\n'.repeat(lines)}
      responses: {}
`

test('an operation has a description of at most 25 lines', () => {
  expect(findContractViolations(withProse(25))).toEqual([])
  expect(findContractViolations(withProse(26))).toEqual([
    '3: the description of listRelayers has 26 lines; at most 25 are allowed',
  ])
})

test('the document has at most 10,800 lines', () => {
  expect(findContractViolations('- line\n'.repeat(10_800))).toEqual([])
  expect(findContractViolations('- line\n'.repeat(10_801))).toEqual([
    'openapi.yaml has 10801 lines; at most 10800 are allowed',
  ])
})

test('mappings have at most 50 aliases, and texts any number', () => {
  const texts = `first: &text words\nlist:\n${'  - *text\n'.repeat(51)}`
  const mappings = (count: number) => `first: &mapping { a: 1 }\nlist:\n${'  - *mapping\n'.repeat(count)}`
  expect(findContractViolations(texts)).toEqual([])
  expect(findContractViolations(mappings(50))).toEqual([])
  expect(findContractViolations(mappings(51))).toEqual([
    'openapi.yaml has 51 aliases of mappings and lists; at most 50 are allowed',
  ])
})

test('there are no merge keys', () => {
  expect(findContractViolations('first: &first { a: 1 }\nsecond:\n  <<: *first\n')).toEqual([
    '3: a merge key, which YAML 1.2 does not have',
  ])
})
