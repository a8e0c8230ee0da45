import type { Chain } from '../chains/chain.ts'
import type { Db } from '../database/db.ts'
import type { Clock } from '../lib/time.ts'
import { findGenesis, rememberGenesis } from '../networks/chain-identity-store.ts'
import type { NetworkDirectory } from '../networks/directory.ts'
import { hasUntrustedEndpoints, type Network, networkId } from '../networks/network.ts'

/** Finds out whether the chain of a test network was reset. */
export interface ChainResetDetector {
  /**
   * Returns a sentence that says what to do when the chain was reset since the service first saw it;
   * undefined if that is not proved, and for a network whose endpoints are not the operator's of that name:
   * they may serve another chain, and must not replace the first block.
   */
  find(chain: Chain, network: Network): Promise<string | undefined>
}

/**
 * Time in ms for which one check counts. A node takes longer to restart, so nothing is signed for a new chain
 * because of a check of the old one.
 */
const LOOK_MS = 500

interface Look {
  /** The time of the start in ms of the monotonic clock. */
  readonly at: number
  readonly found: Promise<string | undefined>
  isUnderWay: boolean
}

interface DetectorDeps {
  readonly db: Db
  readonly clock: Clock
  /** The networks with the endpoints that all relayers share. */
  readonly networks: Pick<NetworkDirectory, 'find'>
}

/**
 * Creates the detector. The chains of main networks are never reset, so their first block is not queried: a
 * single lie about it would stop the network.
 */
export function createChainResetDetector({ db, clock, networks }: DetectorDeps): ChainResetDetector {
  const looks = new WeakMap<Chain, Look>()
  /** The first block of each chain as the database has it. A reset makes all chains again. */
  const known = new WeakMap<Chain, string>()

  async function look(
    chain: Chain,
    genesis: NonNullable<Chain['genesis']>,
    network: Network,
  ): Promise<string | undefined> {
    const told = await genesis.read()
    if (told.kind !== 'ok') return undefined
    const remembered = known.get(chain) ?? (await findGenesis(db, network))
    if (remembered !== undefined) known.set(chain, remembered)
    if (remembered === told.value) return undefined
    const agreed = await genesis.readEverywhere()
    if (agreed.kind !== 'ok') return undefined
    // The endpoints may have been pointed at another chain since they were verified. Its first block must
    // never become this chain's.
    if (remembered === undefined && (await chain.verify()).kind !== 'ok') return undefined
    const first = await rememberGenesis(db, network, agreed.value)
    if (first !== agreed.value) return sentence(network, { first, now: agreed.value })
    known.set(chain, first)
    return undefined
  }

  return {
    find: (chain, network) => {
      const { genesis } = chain
      const shared = networks.find(network.type, network.name)
      const isOperators = shared?.rpcUrls === network.rpcUrls && !hasUntrustedEndpoints(network)
      if (!network.isTestnet || genesis === undefined || !isOperators) return Promise.resolve(undefined)
      const now = clock.monotonic()
      const last = looks.get(chain)
      if (last !== undefined && (last.isUnderWay || now - last.at < LOOK_MS)) return last.found
      const started: Look = { at: now, found: look(chain, genesis, network), isUnderWay: true }
      const end = () => {
        started.isUnderWay = false
      }
      started.found.then(end, end)
      looks.set(chain, started)
      return started.found
    },
  }
}

function sentence(
  network: Network,
  { first, now }: { readonly first: string; readonly now: string },
): string {
  return `The chain of network ${network.name} was reset: its first block is ${now} now, and was ${first}. ${wayOut(network)}`
}

/** Says how to start over on the new chain. */
export function wayOut(network: Pick<Network, 'type' | 'name'>): string {
  return `Nothing is signed for it. To end its open transactions and start over: relayer reset ${network.name}, or POST /api/v1/networks/${networkId(network)}/reset.`
}
