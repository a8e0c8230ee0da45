import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { EVM_AGREEMENT } from '../../src/chains/evm/agreement.ts'
import type { AgreementTable } from '../../src/chains/rpc/agreement.ts'
import { SOLANA_AGREEMENT } from '../../src/chains/solana/prepare/agreement.ts'
import { STELLAR_AGREEMENT } from '../../src/chains/stellar/prepare/agreement.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/rpc-endpoints.md'), 'utf8')

describe('docs/rpc-endpoints.md', () => {
  test.each([EVM_AGREEMENT, SOLANA_AGREEMENT, STELLAR_AGREEMENT].flatMap(rowsOf))(
    'has the row of "%s"',
    (value, { told, asked, agreed, alone }) => {
      const calls = told.map((method) => `\`${method}\``).join(', ')
      const rule = typeof agreed === 'string' ? agreed : agreed.words
      expect(page).toContain(`| ${value} | ${calls} | ${asked} | ${rule} | ${alone} |`)
    },
  )
})

function rowsOf(table: AgreementTable) {
  return Object.entries(table)
}
