import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadContract } from '../../src/contract/document.ts'
import { type Service, startService } from '../support/service.ts'

/** Names that every object of JavaScript has: a look-up in one finds them. */
const NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'valueOf',
  '__defineGetter__',
]

const METHODS = ['get', 'put', 'patch', 'delete', 'post'] as const

const { document } = await loadContract()

/** Every operation with parameters in its path, once for each of them. */
const CASES = Object.entries(document.paths as Record<string, object>).flatMap(([path, item]) =>
  METHODS.filter((method) => method in item).flatMap((method) =>
    (path.match(/\{\w+\}/g) ?? []).map((parameter) => [method, path, parameter] as const),
  ),
)

let service: Service

beforeAll(async () => {
  service = await startService({ rpcUrls: ['http://127.0.0.1:9'], env: { METRICS_ENABLED: 'true' } })
}, 60_000)
afterAll(() => service?.stop())

test.each(CASES)(
  '%s %s finds no record whose %s is a name of a prototype',
  async (method, path, parameter) => {
    for (const name of NAMES) {
      const others = path
        .replace(parameter, name)
        .replace('{relayer_id}', 'main')
        .replaceAll(/\{\w+\}/g, 'x')
      const at = others.replace(/^\/api\/v1/, '')
      const { status, body } = await service.api<never>(
        method.toUpperCase(),
        at,
        method === 'get' || method === 'delete' ? undefined : {},
      )
      expect([at, status]).toEqual([at, expect.toSatisfy((code: number) => [400, 404, 405].includes(code))])
      expect(body).toMatchObject({ success: false, error: expect.any(String) })
    }
  },
)
