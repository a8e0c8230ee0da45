import { omitUndefined } from '../lib/omit-undefined.ts'
import type { EndpointReport } from './answer.ts'
import type { PooledClient } from './rpc/rpc.ts'

/** Reports the state of each endpoint without the path of its url, where providers put their keys. */
export function reportEndpoints(
  client: PooledClient,
  keepsHistory: (url: string) => boolean | undefined = () => undefined,
): EndpointReport[] {
  return client
    .states()
    .map(({ url, ...state }) =>
      omitUndefined({ ...state, host: new URL(url).host, keepsHistory: keepsHistory(url) }),
    )
}
