import { omitUndefined } from '../lib/omit-undefined.ts'
import type { Clock } from '../lib/time/clock.ts'
import { maskUrl } from '../networks/mask-url.ts'
import type { EndpointReport } from './answer.ts'
import type { PooledClient } from './rpc/rpc.ts'

interface ReportOptions {
  readonly clock: Clock
  readonly keepsHistory?: (url: string) => boolean | undefined
}

/** Reports the state of each endpoint without the path of its url, where providers put their keys. */
export function reportEndpoints(
  client: PooledClient,
  { clock, keepsHistory = () => undefined }: ReportOptions,
): EndpointReport[] {
  return client.states().map(({ url, restsForMs, ...state }) =>
    omitUndefined({
      ...state,
      host: new URL(url).host,
      maskedUrl: maskUrl(url),
      restsUntil: restsForMs === undefined ? undefined : new Date(clock.now() + restsForMs),
      keepsHistory: keepsHistory(url),
    }),
  )
}
