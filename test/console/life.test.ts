import { expect, test } from 'vitest'
import type { RelayerEvent, Transaction } from '../../clients/typescript/src/index.ts'
import { lifeOf } from '../../console/src/pages/transaction/life.ts'
import { layOutTimeline, ROW_HEIGHT } from '../../console/src/pages/transaction/timeline-layout.ts'

const at = (second: number) => `2026-11-20T10:00:${String(second).padStart(2, '0')}.000Z`

const ATTEMPT = {
  number: 1,
  kind: 'send',
  outcome: 'broadcast',
  nonce: 0n,
  hash: `0x${'1'.repeat(64)}`,
  value: '1',
  data: '0x',
  gas_limit: 21_000n,
  signed_at: at(1),
  broadcast_at: at(2),
} as const

const TRANSACTION: Transaction = {
  id: 't-1',
  relayer_id: 'main',
  network_type: 'evm',
  status: 'confirmed',
  created_at: at(0),
  confirmed_at: at(40),
  from: `0x${'1'.repeat(40)}`,
  value: '1',
  attempts: [
    ATTEMPT,
    {
      ...ATTEMPT,
      number: 2,
      kind: 'speed_up',
      outcome: 'refused',
      signed_at: at(10),
      broadcast_at: undefined,
      error: 'too cheap',
    },
  ] as never,
}

const update = (second: number, status: string): RelayerEvent => ({
  number: String(second),
  id: '7b6e1f0a-0f4e-4d43-9a63-1f8f0a3b2c4d',
  type: 'transaction_update',
  created_at: at(second),
  payload: { status } as never,
})

test('the life is told by events and attempts, in the order of time, and says when a block was dropped', () => {
  const events = [
    update(0, 'pending'),
    update(1, 'sent'),
    update(2, 'submitted'),
    update(20, 'mined'),
    update(25, 'submitted'),
    update(30, 'mined'),
    update(40, 'confirmed'),
  ]
  expect(lifeOf(TRANSACTION, events).map(({ label, tone }) => `${label} ${tone}`)).toEqual([
    'accepted busy',
    '#1 send: signed busy',
    '#1 broadcast busy',
    '#2 speed up: signed bad',
    'mined good',
    'reorganised: submitted again warn',
    'mined good',
    'confirmed good',
  ])
})

test('without events, the record tells the beginning and the end', () => {
  const labels = lifeOf(TRANSACTION, []).map(({ label }) => label)
  expect([labels[0], labels.at(-1)]).toEqual(['accepted', 'confirmed'])
})

test('each attempt has a lane, and many of them share lanes', () => {
  const moments = lifeOf(TRANSACTION, [])
  const { dots, lines, height } = layOutTimeline(moments)
  expect(height).toBe(moments.length * ROW_HEIGHT)
  expect(new Set(dots.map(({ x }) => x)).size).toBe(3)
  expect(lines).toHaveLength(3)
  const many = Array.from(
    { length: 40 },
    (_, index) => ({ at: index, label: 'x', tone: 'busy', attempt: index + 1 }) as const,
  )
  expect(layOutTimeline(many).width).toBeLessThan(130)
  expect(layOutTimeline([])).toMatchObject({ height: 0, dots: [], lines: [] })
})

test('an approval is told with who decided and why, and its wait as the past', () => {
  const waiting = update(0, 'pending')
  const payload = {
    status: 'pending',
    awaits_approval: true,
    status_reason: 'It waits for an approval until 2026-11-21T10:00:00.000Z.',
  } as never
  const events = [{ ...waiting, payload }, update(40, 'confirmed')]
  const approval = {
    transaction_id: 't-1',
    relayer_id: 'main',
    state: 'approved',
    requested_by: 'payouts',
    reasons: ['Rule require_approval of relayer main: every transaction needs an approval.'],
    created_at: at(0),
    expires_at: '2026-11-21T10:00:00.000Z',
    decided_by: 'treasurer',
    decided_at: at(1),
    decision_reason: 'Invoice 12',
  } as const
  const told = lifeOf({ ...TRANSACTION, attempts: [] }, events, approval)
  expect(told.map(({ label, detail }) => [label, detail])).toEqual([
    ['accepted', 'It required approval.'],
    ['approved by API key treasurer', 'Invoice 12'],
    ['confirmed', undefined],
  ])
  const open = { ...TRANSACTION, status: 'pending', awaits_approval: true, attempts: [] } as const
  expect(lifeOf(open, events.slice(0, 1))[0]?.detail).toContain('It waits for an approval until')
})
