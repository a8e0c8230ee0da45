import { setTimeout as sleep } from 'node:timers/promises'
import type { World } from '../../../plugins/shared/host.ts'
import { API_KEY } from '../../support/service.ts'

/** What the plugin's host provides, over the service's real API. The values are in memory, and outlive the plugin as in the database. */
export interface TestWorld extends World {
  readonly values: Map<string, unknown>
  readonly held: Set<string>
}

/** Creates it for a service that runs. */
export function createWorld(url: string): TestWorld {
  const values = new Map<string, unknown>()
  const held = new Set<string>()
  return {
    memory: values,
    values,
    held,
    now: Date.now,
    sleep,
    api: {
      request: async ({ method, path, body, idempotencyKey }) => {
        const response = await fetch(`${url}${path}`, {
          method,
          headers: {
            authorization: `Bearer ${API_KEY}`,
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        })
        return { status: response.status, body: await response.json() }
      },
    },
    kv: {
      get: async (key) => values.get(named(key)) ?? null,
      set: async (key, value) => values.set(named(key), value),
      del: async (key) => values.delete(named(key)),
      withLock: async (key, work) => {
        named(key)
        if (held.has(key)) return null
        held.add(key)
        try {
          return await work()
        } finally {
          held.delete(key)
        }
      },
    },
  }
}

/** The host takes no other keys. */
function named(key: string): string {
  if (!/^[A-Za-z0-9:_-]{1,512}$/.test(key)) throw new Error(`KV_INVALID_KEY ${key}`)
  return key
}
