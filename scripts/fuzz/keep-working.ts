import type { Service } from '../../test/support/service.ts'
import { changeRelayer } from './starting-data.ts'

/** How often what the fuzzer did to the relayers that it needs is taken back, in ms. */
const KEEP_EVERY_MS = 500

// Apart, so that the one is taken back where the other cannot be.
const AS_BEFORE = [{ paused: false, policies: null, custom_rpc_urls: null }, { notification_id: 'ops' }]

/**
 * Takes back, until its result is called, what the fuzzer does to relayers that it needs: it pauses them, or gives them endpoints that
 * lead nowhere, and then they would refuse whatever it tries next. All of them tell `ops`, so that it is in use and cannot be deleted
 * with its deliveries.
 */
export async function keepWorking(service: Service, ids: readonly string[]): Promise<() => void> {
  const changes = ids.flatMap((id) => AS_BEFORE.map((change) => ({ id, change })))
  // Before the fuzzer begins: from then on they keep each other's notification.
  for (const { id, change } of changes) await changeRelayer(service, id, change)
  const takeBack = () =>
    Promise.all(changes.map(({ id, change }) => service.api('PATCH', `/relayers/${id}`, change)))
  const timer = setInterval(() => void takeBack(), KEEP_EVERY_MS)
  return () => clearInterval(timer)
}
