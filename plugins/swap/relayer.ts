import { callApi, isRecord, Unavailable, type World } from '../shared/host.ts'
import { Refusal } from './exchange.ts'

/**
 * Reads the id of the plugin's own API key. Any key may use any reference, so only what it sent is a swap.
 */
export async function ownKey(world: World): Promise<string> {
  const { id } = await read('/api/v1/current-api-key', world)
  if (typeof id === 'string') return id
  throw new Unavailable('The service does not tell the API key of the plugin.')
}

/** Reads the account of a relayer. @throws Refusal for one with several: the tokens are on one of them */
export async function accountOf(relayerId: string, world: World): Promise<string> {
  const { address, accounts } = await read(pathOf(relayerId), world)
  if (typeof address !== 'string')
    throw new Unavailable('The service does not tell the address of the relayer.')
  const others = Array.isArray(accounts) ? accounts.filter(isRecord) : []
  if (others.some((each) => each.address !== address))
    throw new Refusal(
      'several_accounts',
      `The relayer ${relayerId} has several accounts; a swap needs one with one.`,
    )
  return address
}

/** Reads the network of a relayer, as the configuration names it. */
export async function networkOf(relayerId: string, world: World): Promise<string> {
  const { network } = await read(pathOf(relayerId), world)
  if (typeof network === 'string') return network
  throw new Unavailable('The service does not tell the network of the relayer.')
}

/** Reads what a relayer can spend of its coin, in the smallest unit. */
export async function coinsOf(relayerId: string, world: World): Promise<bigint> {
  const { balance } = await read(`${pathOf(relayerId)}/balance`, world)
  if (typeof balance === 'number' || typeof balance === 'string') return BigInt(balance)
  throw new Unavailable('The service does not tell the balance of the relayer.')
}

function pathOf(relayerId: string): string {
  return `/api/v1/relayers/${encodeURIComponent(relayerId)}`
}

async function read(path: string, world: World): Promise<Readonly<Record<string, unknown>>> {
  const data = await callApi(world, { method: 'GET', path })
  return isRecord(data) ? data : {}
}
