import type { Logger } from 'pino'
import type { Chain } from './chains/chain.ts'
import { createEvmChain } from './chains/evm/evm-chain.ts'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import type { Relayer } from './relayers/relayer.ts'
import type { Signer } from './signers/signer.ts'
import type { Operator } from './transactions/context.ts'

interface OperatorsOptions {
  readonly config: Config
  readonly signers: ReadonlyMap<string, Signer>
  readonly clock: Clock
  readonly log: Logger
}

export interface Operators {
  /** Where a relayer acts and with which key. */
  operatorOf(relayer: Relayer): Operator
  /** Names the endpoints that a relayer uses; relayers with the same key share them. */
  keyOf(relayer: Relayer): string
  /** Every set of endpoints in use. */
  readonly chains: ReadonlyMap<string, Chain>
}

/** One chain for each network, and one more for each relayer that has RPC urls of its own. */
export function createOperators({ config, signers, clock, log }: OperatorsOptions): Operators {
  const networks = new Map(config.networks.map((network) => [network.name, network]))
  const chains = new Map<string, Chain>()
  const keyOf = (relayer: Relayer) =>
    relayer.customRpcUrls ? `${relayer.network}/${relayer.id}` : relayer.network

  function operatorOf(relayer: Relayer): Operator {
    const configured = networks.get(relayer.network)
    const signer = signers.get(relayer.signerId)
    if (!configured || !signer)
      throw new Error(`relayer ${relayer.id} refers to something that is not configured`)
    const network = relayer.customRpcUrls ? { ...configured, rpcUrls: relayer.customRpcUrls } : configured
    const key = keyOf(relayer)
    const chain =
      chains.get(key) ?? createEvmChain({ network, rpcTimeoutMs: config.rpcTimeoutMs, clock, log })
    chains.set(key, chain)
    return { network, chain, signer }
  }

  return { operatorOf, keyOf, chains }
}
