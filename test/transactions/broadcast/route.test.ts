import { expect, test } from 'vitest'
import type { BroadcastResult } from '../../../src/chains/answer.ts'
import { broadcastByRoute, type Route, routeOf } from '../../../src/transactions/broadcast/route.ts'

const bytes = (route: Route, index: number) => ({ raw: Uint8Array.of(index), route, mayBeInPool: false })

/** Answers each item with its bytes, and remembers what it got. */
function recorder(name: string) {
  const got: number[] = []
  const broadcast = async (raws: readonly Uint8Array[]): Promise<BroadcastResult[]> => {
    got.push(...raws.map(([index = 0]) => index))
    return raws.map(([index]) => ({ kind: 'later', detail: `${name} ${index}` }))
  }
  return { got, broadcast }
}

test.each<[Parameters<typeof routeOf>[0], Route]>([
  [{}, 'public'],
  [{ madePublicAt: new Date(0) }, 'public'],
  [{ isPrivate: true }, 'private'],
  [{ isPrivate: true, madePublicAt: new Date(0) }, 'all'],
])('the route of %j is %s', (transaction, route) => {
  expect(routeOf(transaction)).toBe(route)
})

test('each item goes where it may, in order, and gets the answer of its own endpoints', async () => {
  const [open, hidden] = [recorder('public'), recorder('private')]
  const chain = {
    broadcast: open.broadcast,
    privateBroadcast: { broadcast: hidden.broadcast, forward: async () => [], endpoints: () => [] },
  }
  const items = [bytes('private', 1), bytes('public', 2), bytes('all', 3), bytes('private', 4)]
  const results = await broadcastByRoute(chain, items)
  expect([open.got, hidden.got]).toEqual([
    [2, 3],
    [1, 3, 4],
  ])
  expect(results.map((result) => 'detail' in result && result.detail)).toEqual([
    'private 1',
    'public 2',
    'public 3',
    'private 4',
  ])
})

test.each<[string, BroadcastResult, BroadcastResult, BroadcastResult['kind']]>([
  [
    'refuses the content and takes the no-op',
    { kind: 'unclear', detail: '' },
    { kind: 'accepted' },
    'accepted',
  ],
  ['refuses both', { kind: 'unclear', detail: '' }, { kind: 'unclear', detail: '' }, 'unclear'],
  ['takes the content now', { kind: 'accepted' }, { kind: 'accepted' }, 'underpriced'],
])('content that a no-op is compared with goes first: a node that %s', async (_name, content, noop, want) => {
  const got: number[] = []
  const broadcast = async (raws: readonly Uint8Array[]) => {
    got.push(...raws.map(([index = 0]) => index))
    return raws.map(([index]) => (index === 1 ? content : noop))
  }
  const items = [
    bytes('public', 7),
    { ...bytes('public', 2), compared: Uint8Array.of(1) },
    bytes('public', 8),
  ]
  const results = await broadcastByRoute({ broadcast }, items)
  expect(got).toEqual([7, 1, 2, 8])
  expect(results.map(({ kind }) => kind)).toEqual([noop.kind, want, noop.kind])
})

test('without private endpoints private bytes go nowhere', async () => {
  const open = recorder('public')
  const [kept, sent] = await broadcastByRoute({ broadcast: open.broadcast }, [
    bytes('private', 1),
    bytes('all', 2),
  ])
  expect(open.got).toEqual([2])
  expect([kept?.kind, sent?.kind]).toEqual(['withheld', 'later'])
})
