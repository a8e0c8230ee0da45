import type { Service, Transaction } from '../../test/support/service.ts'
import { until } from '../../test/support/until.ts'

/** Creates a record with the key of the environment, and returns it. */
export async function create<Data>(service: Service, path: string, record: object): Promise<Data> {
  const { status, body } = await service.api<Data>('POST', path, record)
  if (status !== 201) throw new Error(`${path} refused ${JSON.stringify(record)}: ${body.error}`)
  return body.data
}

/** Creates a relayer on anvil. */
export async function createRelayer(service: Service, relayer: object): Promise<{ address: string }> {
  return await create(service, '/relayers', { network: 'anvil', network_type: 'evm', ...relayer })
}

/** Changes a relayer. */
export async function changeRelayer(service: Service, id: string, change: object): Promise<void> {
  const { status, body } = await service.api('PATCH', `/relayers/${id}`, change)
  if (status !== 200) throw new Error(`relayer ${id} refused ${JSON.stringify(change)}: ${body.error}`)
}

/** Sends a transaction. */
export async function send(service: Service, relayerId: string, request: object): Promise<Transaction> {
  const { status, body } = await service.api('POST', `/relayers/${relayerId}/transactions`, request)
  if (status !== 200) throw new Error(`the first transactions were refused: ${body.error}`)
  return body.data
}

/** Sends a transaction that waits for an approval, with a key of its own. */
export async function sendWaiting(
  service: Service,
  relayerId: string,
  request: object,
): Promise<Transaction> {
  const key = { name: 'Asks', scopes: ['transactions:write'], rules: { require_approval: {} } }
  const { secret } = await create<{ secret: string }>(service, '/api-keys', key)
  const { status, body } = await service.api('POST', `/relayers/${relayerId}/transactions`, request, {
    authorization: `Bearer ${secret}`,
  })
  if (status !== 200 || body.data.awaits_approval !== true)
    throw new Error(`the transaction does not wait for an approval: ${status} ${body.error}`)
  return body.data
}

/** A time that comes once in four years, so that a schedule with it sends nothing meanwhile. */
const RARELY = '0 0 29 2 *'

/** Creates a schedule that sends nothing soon, and returns its id. */
export async function schedule(service: Service, relayerId: string, transaction: object): Promise<string> {
  const record = { cron: RARELY, transaction }
  const { status, body } = await service.api<{ id: string }>(
    'POST',
    `/relayers/${relayerId}/schedules`,
    record,
  )
  if (status !== 200) throw new Error(`the schedule was refused: ${body.error}`)
  return body.data.id
}

/** Waits for at least this many deliveries of a notification, and returns their ids. No one receives them, so there are tries to look at. */
export async function deliveriesOf(
  service: Service,
  notificationId: string,
  atLeast: number,
): Promise<string[]> {
  const list = await until(
    () => service.api<{ id: string }[]>('GET', `/notifications/${notificationId}/deliveries`),
    ({ body }) => body.data.length >= atLeast,
  )
  return list.body.data.map(({ id }) => id)
}
