import { expect, test } from 'vitest'
import type { Schemas } from '../../clients/typescript/src/index.ts'
import { payeesIn, refusalsIn } from '../../console/src/pages/plugins/payments.ts'
import { createRefusalLog } from '../../plugins/shared/refusals.ts'

const paid = (status: string, ...transfers: object[]) =>
  ({ relayer_id: 'main', status, transfers }) as unknown as Schemas['Transaction']

const USDC = { to: '0xb0b', asset: '0xusdc', symbol: 'USDC', decimals: 6 }

test('payees get what did not fail, exactly, and assets are not mixed', () => {
  const payees = payeesIn([
    paid('confirmed', { ...USDC, amount: '9007199254740993' }),
    paid('submitted', { ...USDC, amount: '1' }, { to: '0xb0b', asset: 'native', amount: '5' }),
    paid('failed', { ...USDC, amount: '1000' }),
    paid('confirmed', { asset: 'native', amount: '7' }),
  ])
  expect(payees.map(({ to, asset, amount, payments }) => [to, asset, amount, payments])).toEqual([
    ['0xb0b', '0xusdc', 9_007_199_254_740_994n, 2],
    ['0xb0b', 'native', 5n, 1],
  ])
})

test('the log of a plugin has each reason once a minute, with how often it was', () => {
  let now = 0
  const lines: string[] = []
  const log = createRefusalLog({ now: () => now, write: (line) => lines.push(line) })
  for (let time = 0; time < 5; time += 1) log('limit_exceeded', 'too\nmuch')
  log('payee_not_allowed', 'no')
  now = 60_000
  log('limit_exceeded', 'again')
  expect(lines).toEqual([
    'refused limit_exceeded: too much',
    'refused payee_not_allowed: no',
    'refused limit_exceeded (5 times): again',
  ])
  const logs = lines.map(
    (message, at) => ({ at: `2026-11-20T10:00:0${at}.000Z`, level: 'warn', message }) as const,
  )
  expect(refusalsIn([...logs, { at: '', level: 'log', message: 'refused' }])).toEqual([
    { reason: 'limit_exceeded', count: 6, sentence: 'again', at: '2026-11-20T10:00:02.000Z' },
    { reason: 'payee_not_allowed', count: 1, sentence: 'no', at: '2026-11-20T10:00:01.000Z' },
  ])
})
