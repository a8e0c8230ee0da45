import { expect, test } from 'vitest'
import { readBroadcast } from '../../../src/chains/evm/broadcast/failures.ts'
import { readSimulationError } from '../../../src/chains/evm/prepare/revert.ts'
import { NODE_TEXTS, type NodeText } from './node-texts.ts'

const replyOf = ({ code = -32000, text, data }: NodeText) =>
  ({ kind: 'error', code, message: text, ...(data !== undefined && { data }) }) as const

const broadcasts = NODE_TEXTS.filter(({ broadcast }) => broadcast !== undefined)
const estimates = NODE_TEXTS.filter(({ estimate }) => estimate !== undefined)

test.each(broadcasts)('a broadcast that $client refuses with "$text" is $broadcast ($source)', (row) => {
  expect(readBroadcast(replyOf(row)).kind).toBe(row.broadcast)
})

test.each(estimates)('an estimate that $client refuses with "$text" is $estimate ($source)', (row) => {
  expect(readSimulationError(replyOf(row))).toBe(row.estimate)
})

/** What may wait without a comparison: the chain, the balance and the pools show when it ends. */
const MAY_WAIT =
  /nonce|lower than|expected \d+|funds|balance|overdraft|overshot|payment|up-?front cost|pool|queue|full|room|limit reached for delegated|account limit|reserved|replace pending|spammer|dropped|conflict|pending transaction/i

test.each(broadcasts.filter(({ broadcast }) => broadcast === 'later'))(
  'only what is about the nonce, funds or room in a pool waits without a comparison: "$text"',
  ({ text }) => {
    expect(text).toMatch(MAY_WAIT)
  },
)

test('the table has each text of a source only once', () => {
  const keys = NODE_TEXTS.map(({ client, source, text, broadcast, estimate }) =>
    JSON.stringify([client, source, text, broadcast === undefined ? 'estimate' : 'broadcast', estimate && 1]),
  )
  expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([])
})
