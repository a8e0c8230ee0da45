import type { Hex } from 'viem'
import { callApi, isRecord, NodeError, type Rpc, rpcOf, Unavailable, type World } from '../shared/host.ts'
import type { Settings } from './config.ts'
import { RpcError } from './errors.ts'
import type { NetworkSettings } from './networks.ts'

/** The relayer of a chain. */
export interface Sender {
  readonly network: NetworkSettings
  readonly rpc: Rpc
  /** The account from which requests are simulated; one of `own`. */
  readonly address: Hex
  /** The accounts that may send, in lower case. */
  readonly own: ReadonlySet<Hex>
}

/** For so long, what the service tells about a relayer is remembered, in ms. */
const FRESH_MS = 60_000

interface Remembered {
  readonly at: number
  readonly address: Hex
  readonly own: ReadonlySet<Hex>
}

const remembered = new WeakMap<object, Map<string, Remembered>>()

/** Finds the settings of a chain. @throws RpcError */
export function networkOf(chainId: number, { networks }: Pick<Settings, 'networks'>): NetworkSettings {
  const network = networks.get(chainId)
  if (network !== undefined) return network
  throw new RpcError('unsupportedChain', `chainId: ${chainId} is not supported here.`)
}

/** Reads the relayer of a chain. Throws for a relayer on another chain. */
export async function senderOn(network: NetworkSettings, world: World): Promise<Sender> {
  const rpc = rpcOf(world, network.relayerId)
  const known = remembered.get(world.memory) ?? new Map<string, Remembered>()
  remembered.set(world.memory, known)
  const key = `${network.relayerId} ${network.chainId}`
  const before = known.get(key)
  if (before !== undefined && world.now() - before.at < FRESH_MS) return { network, rpc, ...before }
  const [record, chain] = await Promise.all([
    callApi(world, { method: 'GET', path: `/api/v1/relayers/${encodeURIComponent(network.relayerId)}` }),
    readChain(rpc),
  ])
  if (chain !== network.chainId)
    throw new Error(
      `config.networks: the relayer ${network.relayerId} is on the chain ${chain}, not on ${network.chainId}.`,
    )
  const { address, accounts } = isRecord(record) ? record : {}
  const others = Array.isArray(accounts) ? accounts.filter(isRecord).map((each) => each.address) : []
  const own = [address, ...others].filter((each) => typeof each === 'string')
  const [first] = own
  if (first === undefined) throw new Unavailable('The service does not tell the address of the relayer.')
  const found = {
    at: world.now(),
    address: first.toLowerCase() as Hex,
    own: new Set(own.map((each) => each.toLowerCase() as Hex)),
  }
  known.set(key, found)
  return { network, rpc, ...found }
}

async function readChain(rpc: Rpc): Promise<number> {
  try {
    return Number(await rpc<string>('eth_chainId', []))
  } catch (error) {
    throw error instanceof NodeError ? new Unavailable(error.message) : error
  }
}
