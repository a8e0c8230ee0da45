import { type Anvil, anvilNetwork } from '../../../test/support/anvil.ts'
import type { ServiceProcess } from '../../../test/support/process.ts'
import { callService } from '../../../test/support/service.ts'
import { drive, times } from './load.ts'
import { manyRelayers } from './many-relayers.ts'
import { becomes, portOf, sendRequest, transactionsOf } from './stage.ts'

/** The accounts that share a load. */
export const ACCOUNTS = 20

/** Names the relayers of this many accounts, one each. */
export function relayersOf(accounts: number): string[] {
  return Array.from({ length: accounts }, (_, index) => `relayer-${index}`)
}

/** The relayer of each account. */
export const RELAYERS = relayersOf(ACCOUNTS)

/** Connections of the load, however many accounts and processes share it. */
const CONNECTIONS = 80

/** What each account has, in wei. */
const BALANCE = '0x56bc75e2d63100000'

/** The configuration file of the relayers. */
export function configOfAccounts({ url }: Anvil, accounts = ACCOUNTS) {
  return manyRelayers(accounts, [anvilNetwork([url])])
}

/** The relayers have no money at the start, so the service disables them until their next health check. The first process is asked. */
export async function giveMoney(
  anvil: Anvil,
  [service]: readonly ServiceProcess[],
  relayers: readonly string[] = RELAYERS,
): Promise<void> {
  for (const relayer of relayers) {
    const { data } = await ask<{ address: string }>(service, `/relayers/${relayer}`)
    await anvil.rpc('anvil_setBalance', [data.address, BALANCE])
  }
  const enabled = async (relayer: string) =>
    !(await ask<{ system_disabled: boolean }>(service, `/relayers/${relayer}`)).data.system_disabled
  for (const relayer of relayers) await becomes(() => enabled(relayer), 200)
}

/** Sends so many in all, for every relayer and through every process alike. */
export async function sendTo(
  services: readonly ServiceProcess[],
  count: number,
  relayers: readonly string[] = RELAYERS,
): Promise<void> {
  const more = times(count)
  const connections = Math.max(1, CONNECTIONS / (relayers.length * services.length))
  const loads = services.flatMap((service) =>
    relayers.map((relayer) =>
      drive({ port: portOf(service), request: sendRequest(relayer), connections, more }),
    ),
  )
  await Promise.all(loads)
}

/** Waits until nothing is on its way, by the first process. */
export async function settled(
  [service]: readonly ServiceProcess[],
  relayers: readonly string[] = RELAYERS,
): Promise<void> {
  for (const relayer of relayers) {
    const total = async (filter: string) =>
      (await ask(service, `${transactionsOf(relayer)}?per_page=1${filter}`)).pagination?.total_items
    await becomes(async () => (await total('&status=confirmed')) === (await total('')), 200)
  }
}

async function ask<Data>(service: ServiceProcess | undefined, path: string) {
  if (service === undefined) throw new Error('There is no process.')
  return (await callService<Data>(service.url, { method: 'GET', path })).body
}
