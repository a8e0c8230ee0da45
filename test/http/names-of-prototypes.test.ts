import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadContract } from '../../src/contract/document.ts'
import { stringifyJson } from '../../src/contract/exact-integers.ts'
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

interface Operation {
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { readonly examples?: Readonly<Record<string, { readonly value: object }>> }>
    >
  }
}

/**
 * Every operation with parameters in its path, once for each of them, with the first body that the contract
 * shows for it.
 */
const CASES = Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(
  ([path, item]) =>
    METHODS.filter((method) => method in item).flatMap((method) =>
      (path.match(/\{\w+\}/g) ?? []).map(
        (parameter) => [method, path, parameter, bodyOf(item[method])] as const,
      ),
    ),
)

function bodyOf(operation: Operation | undefined): string | undefined {
  const [example] = Object.values(operation?.requestBody?.content['application/json']?.examples ?? {})
  return example && stringifyJson(example.value)
}

/** Values of the parameters beside the one that has the name. */
const OTHERS: Readonly<Record<string, string>> = {
  '{relayer_id}': 'main',
  '{address}': `0x${'1'.repeat(40)}`,
  '{nonce}': '0',
}

/** Parameters that are no names: a 400 says what they are. */
const NOT_NAMES: readonly string[] = ['{address}', '{nonce}']

let service: Service

beforeAll(async () => {
  service = await startService({ rpcUrls: ['http://127.0.0.1:9'], env: { METRICS_ENABLED: 'true' } })
}, 60_000)
afterAll(() => service?.stop())

test.each(CASES)(
  '%s %s has no record whose %s is a name of a prototype',
  async (method, path, parameter, sent) => {
    const expected = NOT_NAMES.includes(parameter) ? 400 : 404
    for (const name of NAMES) {
      const at = path
        .replace(parameter, name)
        .replaceAll(/\{\w+\}/g, (other) => OTHERS[other] ?? 'x')
        .replace(/^\/api\/v1/, '')
      const { status, body } = await service.api<never>(method.toUpperCase(), at, sent)
      expect([at, status, body.error]).toEqual([at, expected, expect.any(String)])
      expect(body.success).toBe(false)
    }
  },
)
