import { join } from 'node:path'
import type { Service } from '../../support/service.ts'
import { until } from '../../support/until.ts'

/** The entry of the plugin in the configuration file: it answers at `/x402`. */
export function pluginEntry(networks: readonly object[], more: object = {}): object {
  return {
    id: 'x402',
    path: join(import.meta.dirname, '../../../plugins/x402/index.ts'),
    mount: '/x402',
    raw_response: true,
    allow_get_invocation: true,
    scopes: ['relayers:read', 'transactions:read', 'transactions:write', 'rpc'],
    relayers: ['main'],
    config: { networks },
    ...more,
  }
}

/** Waits until the process of a plugin has started. */
export async function untilReady(service: Service, id = 'x402'): Promise<void> {
  await until(
    async () => (await service.api<{ state: { status: string } }>('GET', `/plugins/${id}`)).body.data,
    ({ state }) => state.status === 'ready',
  )
}
