import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { AGREEMENTS as EVM } from '../../src/chains/evm/agreement.ts'
import { SOLANA_AGREEMENT } from '../../src/chains/solana/prepare/agreement.ts'
import { STELLAR_AGREEMENT } from '../../src/chains/stellar/prepare/agreement.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/rpc-endpoints.md'), 'utf8')

describe('docs/rpc-endpoints.md', () => {
  test.each(Object.values(EVM))('has the row of "$value"', ({ value, call, rule, alone }) => {
    expect(page).toContain(`| ${value} | ${call} | ${rule.words} | ${alone} |`)
  })

  test.each([...Object.entries(SOLANA_AGREEMENT), ...Object.entries(STELLAR_AGREEMENT)])(
    'has the row of "%s"',
    (value, { told, asked, agreed, alone }) => {
      const calls = told.map((method) => `\`${method}\``).join(', ')
      expect(page).toContain(`| ${value} | ${calls} | ${asked} | ${agreed} | ${alone} |`)
    },
  )
})
