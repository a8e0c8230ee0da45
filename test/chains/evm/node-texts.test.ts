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

test('the table has each text of a source only once', () => {
  const keys = NODE_TEXTS.map(({ client, source, text, broadcast, estimate }) =>
    JSON.stringify([client, source, text, broadcast === undefined ? 'estimate' : 'broadcast', estimate && 1]),
  )
  expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([])
})
