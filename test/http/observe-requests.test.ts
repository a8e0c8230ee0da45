import { expect, test } from 'vitest'
import type { RequestObserver } from '../../src/http/observability/observe-requests.ts'
import { ask, call, startStub } from './stub-server.ts'

test('the observer receives the operation, never the path', async () => {
  const seen: unknown[] = []
  const observer: RequestObserver = {
    begun: () => void seen.push('begun'),
    answered: ({ seconds, ...answer }) => void seen.push(answer),
    ended: () => void seen.push('ended'),
  }
  const { port } = await startStub({ observer })
  await call(port, 'GET', '/api/v1/relayers/r-1/transactions/t-1')
  await ask(port, { path: '/api/v1/relayers/r-1/transactions/t-1' })
  await call(port, 'GET', '/no/such/path')
  const rest = { method: 'GET' }
  expect(seen).toEqual([
    'begun',
    { operation: 'getTransactionById', status: 200, ...rest },
    'ended',
    'begun',
    { operation: 'getTransactionById', status: 401, ...rest },
    'ended',
    'begun',
    { operation: undefined, status: 404, ...rest },
    'ended',
  ])
})
