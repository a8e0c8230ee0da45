import type { Logger } from 'pino'
import type { Chain, Line } from './chains/chain.ts'
import { createEvmChain } from './chains/evm/evm-chain.ts'
import type { RpcObserver } from './chains/rpc/observer.ts'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import type { Network } from './networks/network.ts'
import type { Relayer } from './relayers/relayer.ts'
import type { Key } from './signers/key.ts'
import type { Ed25519Signer } from './signers/signer.ts'
import type { Operator } from './transactions/context.ts'

interface OperatorsOptions {
  readonly config: Config
  readonly keys: ReadonlyMap<string, Key>
  readonly clock: Clock
  readonly log: Logger
  /** Who is told of the calls to a network. Absent: nobody. */
  readonly rpcObserver?: ((network: string) => RpcObserver) | undefined
}

export interface Operators {
  /** Where a relayer acts and with which keys. */
  operatorOf(relayer: Relayer): Operator
  /** Names the endpoints that a relayer uses; relayers with the same key share them. */
  keyOf(relayer: Relayer): string
  /** Every set of endpoints in use. */
  readonly chains: ReadonlyMap<string, Chain>
}

/** One chain for each network, and one more for each relayer that has RPC urls of its own. */
export async function createOperators({
  config,
  keys,
  clock,
  log,
  rpcObserver,
}: OperatorsOptions): Promise<Operators> {
  const networks = new Map(config.networks.map((network) => [`${network.type}:${network.name}`, network]))
  const chains = new Map<string, Chain>()
  const lines = new Map<string, readonly [Line, ...Line[]]>()
  const [solana, stellar] = await Promise.all([loadSolana(config), loadStellar(config)])

  function chainOf(key: string, network: Network): Chain {
    const chain = chains.get(key) ?? createChain(network)
    chains.set(key, chain)
    return chain
  }

  function createChain(network: Network): Chain {
    const observer = rpcObserver?.(network.name)
    const options = { rpcTimeoutMs: config.rpcTimeoutMs, clock, log, observer }
    switch (network.type) {
      case 'evm':
        return createEvmChain({ network, ...options })
      case 'solana':
        return solana.createSolanaChain({ network, ...options })
      case 'stellar':
        return stellar.createStellarChain({ network, ...options })
    }
  }

  function linesOf(relayer: Relayer): readonly [Line, ...Line[]] {
    const key = demand(keys.get(relayer.signerId), relayer)
    if (relayer.networkType === 'evm') return [{ address: relayer.address, signer: key.secp256k1 }]
    const channels = channelSigners(relayer, key.ed25519)
    return [
      { address: relayer.address, signer: key.ed25519 },
      ...channels.map((signer) => ({ address: stellar.stellarAddress(signer.publicKey), signer })),
    ]
  }

  function channelSigners(relayer: Relayer, own: Ed25519Signer): Ed25519Signer[] {
    const channels = relayer.networkType === 'stellar' ? (relayer.channels ?? 0) : 0
    if (typeof channels !== 'number') return channels.map((id) => demand(keys.get(id), relayer).ed25519)
    return Array.from({ length: channels }, (_, index) => own.derive(`channel/${index + 1}`))
  }

  return {
    chains,
    keyOf,
    operatorOf: (relayer) => {
      const configured = demand(networks.get(`${relayer.networkType}:${relayer.network}`), relayer)
      const network = relayer.customRpcUrls ? { ...configured, rpcUrls: relayer.customRpcUrls } : configured
      const account = `${relayer.id} ${relayer.address}`
      const own = lines.get(account) ?? linesOf(relayer)
      lines.set(account, own)
      return { network, chain: chainOf(keyOf(relayer), network), account: own[0], lines: own }
    },
  }
}

function keyOf(relayer: Relayer): string {
  const network =
    relayer.networkType === 'evm' ? relayer.network : `${relayer.networkType}:${relayer.network}`
  return relayer.customRpcUrls ? `${network}/${relayer.id}` : network
}

/** Only where a relayer needs it: its library takes a tenth of a second to load. */
async function loadSolana({ relayers }: Config) {
  if (!relayers.some(({ networkType }) => networkType === 'solana')) return NOT_LOADED
  return import('./chains/solana/solana-chain.ts')
}

/** Only where a relayer needs it: its library takes a third of a second to load. */
async function loadStellar({ relayers }: Config) {
  if (!relayers.some(({ networkType }) => networkType === 'stellar')) return NOT_LOADED
  const { createStellarChain } = await import('./chains/stellar/stellar-chain.ts')
  const { stellarAddress } = await import('./signers/stellar-address.ts')
  return { createStellarChain, stellarAddress }
}

const NOT_LOADED = {
  createSolanaChain: (): Chain => {
    throw new Error('no relayer is on a Solana network')
  },
  createStellarChain: (): Chain => {
    throw new Error('no relayer is on a Stellar network')
  },
  stellarAddress: (): string => {
    throw new Error('no relayer is on a Stellar network')
  },
}

function demand<T>(found: T | undefined, { id }: Relayer): T {
  if (found === undefined) throw new Error(`relayer ${id} refers to something that is not configured`)
  return found
}
