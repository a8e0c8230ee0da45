import { setTimeout as sleep } from 'node:timers/promises'
import { CallError } from '../shared/call-error.ts'
import { apiFor, callerIn, createFairQueue } from '../shared/fair.ts'
import type { PluginCall } from '../shared/host.ts'
import { readSettings, type Settings } from './config.ts'
import { discovered } from './discovery.ts'
import { settle, verify } from './facilitator.ts'
import { type PaymentsCall, payments } from './payments.ts'
import { supported } from './supported.ts'

const queue = createFairQueue()

interface QueriedCall extends PluginCall {
  readonly query: PaymentsCall['query']
}

/** Answers x402's facilitator interface, and `GET /payments` besides. */
export async function handler(call: QueriedCall): Promise<unknown> {
  const { api: memory, kv, params, method, route, config, headers, query } = call
  const [caller = ''] = headers['x-relayer-api-key-id'] ?? []
  const clock = { now: Date.now, sleep }
  const api = apiFor(callerIn(headers), { api: memory, ...clock }, queue)
  const world = { api, memory, kv, ...clock }
  const path = route.replace(/\/+$/, '')
  const settings = settingsOf(config)
  switch (path) {
    case '/supported':
      expectMethod('GET', method, path)
      return supported(settings, world)
    case '/verify':
      expectMethod('POST', method, path)
      return verify({ body: params, caller }, settings, world)
    case '/settle':
      expectMethod('POST', method, path)
      return settle({ body: params, caller }, settings, world)
    case '/payments':
      expectMethod('GET', method, path)
      return payments({ query, caller }, settings, world)
    case '/discovery/resources':
      expectMethod('GET', method, path)
      return discovered(query, settings, world)
    default:
      throw new CallError(
        404,
        'not_found',
        'The facilitator has GET /supported, POST /verify, POST /settle, GET /payments and GET /discovery/resources.',
      )
  }
}

function expectMethod(expected: string, method: string, path: string): void {
  if (method !== expected) throw new CallError(405, 'method_not_allowed', `${path} answers ${expected}.`)
}

/** The newest configuration and what was read from it: the same object comes with many calls. */
let known: { readonly text: string; readonly settings: Settings } | undefined

function settingsOf(config: unknown): Settings {
  const text = JSON.stringify(config ?? {})
  if (known?.text !== text) known = { text, settings: readSettings(config) }
  return known.settings
}
