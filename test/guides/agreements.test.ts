import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { AGREEMENTS as EVM } from '../../src/chains/evm/agreement.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/rpc-endpoints.md'), 'utf8')

describe('docs/rpc-endpoints.md', () => {
  test.each(Object.values(EVM))('has the row of "$value"', ({ value, call, rule, alone }) => {
    expect(page).toContain(`| ${value} | ${call} | ${rule.words} | ${alone} |`)
  })
})
