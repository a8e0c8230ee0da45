import { expect, test } from 'vitest'
import { reportCsv } from '../../src/reports/report-rows.ts'

test('no field of the CSV makes a spreadsheet calculate', () => {
  const row = {
    day: '2026-11-20',
    relayer_id: '-2-3',
    requested_by: '-A1',
    network: 'evm:sepolia',
    asset: 'native',
    value: '5',
    fees: '1',
    transactions: 1,
    unknown_values: 0,
    unknown_fees: 0,
  }
  expect(reportCsv([row]).split('\r\n')[1]).toBe("2026-11-20,'-2-3,'-A1,evm:sepolia,native,5,1,1,0,0")
})
