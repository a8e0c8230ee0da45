import { emptyResource } from '@opentelemetry/resources'
import { NoopSpanProcessor } from '@opentelemetry/sdk-trace'
import { describe, expect, test } from 'vitest'
import type { SamplerSettings } from '../../src/telemetry/settings.ts'
import { createSpanSource } from '../../src/telemetry/span-source.ts'
import { requestLinks, rootIdsOf, rootOf, writeTraceParent } from '../../src/telemetry/transaction-tracer.ts'

const ID = '0d9ad9d8-3f39-4a39-9a4b-6a8e2c6d1a11'
const REQUEST = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }

function sourceOf(name: SamplerSettings['name'], ratio = 1) {
  const sampler = { name, ratio }
  return createSpanSource({ resource: emptyResource(), sampler, processor: new NoopSpanProcessor() })
}

const traceParent = (flags: string) => `00-${REQUEST.traceId}-${REQUEST.spanId}-${flags}`

test('the trace id of a transaction is its id, and that of an id of another form is a hash', () => {
  expect(rootIdsOf(ID)).toMatchObject({ traceId: '0d9ad9d83f394a399a4b6a8e2c6d1a11' })
  expect(rootIdsOf(ID)).toEqual(rootIdsOf(ID))
  expect(rootIdsOf('imported 1').traceId).toMatch(/^[0-9a-f]{32}$/)
  expect(rootIdsOf('imported 1')).not.toEqual(rootIdsOf('imported 2'))
  expect(rootIdsOf('00000000-0000-0000-0000-000000000000').traceId).not.toBe('0'.repeat(32))
})

describe('a transaction is sampled', () => {
  test.each([
    ['parentbased_always_on', traceParent('01'), 1],
    ['parentbased_always_on', traceParent('00'), 0],
    ['parentbased_always_on', undefined, 1],
    ['parentbased_always_off', traceParent('01'), 1],
    ['parentbased_always_off', undefined, 0],
    ['always_off', traceParent('01'), 0],
    ['always_on', traceParent('00'), 1],
    ['parentbased_always_on', 'nonsense', 1],
  ] as const)('by %s after the request %s: %s', (name, parent, flags) => {
    expect(rootOf({ id: ID, traceParent: parent }, sourceOf(name)).traceFlags).toBe(flags)
  })

  test('by its trace id, in every process alike, where there is no request', () => {
    const sampled = (source: ReturnType<typeof sourceOf>) =>
      Array.from({ length: 200 }, (_, index) => rootOf({ id: `imported ${index}` }, source).traceFlags)
    const first = sampled(sourceOf('parentbased_traceidratio', 0.5))
    expect(sampled(sourceOf('parentbased_traceidratio', 0.5))).toEqual(first)
    expect(new Set(first)).toEqual(new Set([0, 1]))
  })
})

test('a root span has the given ids, and the next span has others', () => {
  const source = sourceOf('always_off')
  const ids = rootIdsOf(ID)
  expect(source.startWithIds(ids, { name: 'transaction' }).spanContext()).toMatchObject({
    ...ids,
    traceFlags: 1,
  })
  expect(source.tracer.startSpan('other').spanContext().traceId).not.toBe(ids.traceId)
})

test('the link leads to the request, and a context that cannot be read gives none', () => {
  expect(requestLinks({ id: ID, traceParent: traceParent('01') })).toMatchObject([{ context: REQUEST }])
  expect(requestLinks({ id: ID, traceParent: 'nonsense' })).toEqual([])
  expect(requestLinks({ id: ID })).toEqual([])
  expect(writeTraceParent({ ...REQUEST, traceFlags: 1 })).toBe(traceParent('01'))
})
