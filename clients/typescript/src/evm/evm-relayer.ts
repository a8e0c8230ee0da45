import type { RelayerReference } from '../relayer-reference.ts'
import type { Hex } from './parameters.ts'
import { PROVIDER_CODES, ProviderRpcError } from './provider-rpc-error.ts'

/** A relayer on an EVM network, with what a provider asks of it. */
export interface EvmRelayer extends RelayerReference {
  /** The address of its account. */
  address(): Promise<Hex>
  /** The chain id of its network, as a quantity. */
  chainId(): Promise<Hex>
  /** Makes a JSON-RPC call to its network. */
  forward(method: string, params?: unknown): Promise<unknown>
  /** @throws ProviderRpcError unless the account of the relayer has this address */
  requireAccount(address: Hex, name: string): Promise<void>
  /** @throws ProviderRpcError with this code unless the network of the relayer has this chain id */
  requireChain(chainId: bigint, code: number): Promise<void>
}

/** Makes it. Its address and its chain id are asked for once. */
export function createEvmRelayer({ client, relayerId }: RelayerReference): EvmRelayer {
  const address = once(async () => {
    const relayer = await client.relayers.get(relayerId)
    if (relayer.network_type === 'evm') return relayer.address as Hex
    const problem = `relayerId: ${relayerId} is on a network of type ${relayer.network_type}, and evm is expected`
    throw new ProviderRpcError(PROVIDER_CODES.unsupportedMethod, problem)
  })
  const forward = async (method: string, params?: unknown) => {
    const call = { jsonrpc: '2.0', id: 1, method, ...(params === undefined ? {} : { params }) } as const
    const reply = await client.relayers.callRpc(
      relayerId,
      call as Parameters<typeof client.relayers.callRpc>[1],
    )
    if (!('jsonrpc' in reply)) throw new ProviderRpcError(PROVIDER_CODES.internal, 'one reply is expected')
    if (reply.error === undefined) return reply.result ?? null
    throw toNodeError(reply.error)
  }
  const chainId = once(async () => (await forward('eth_chainId')) as Hex)
  return {
    client,
    relayerId,
    address,
    chainId,
    forward,
    requireAccount: async (wanted, name) => {
      const own = await address()
      if (wanted.toLowerCase() === own.toLowerCase()) return
      const problem = `${name}: the account of relayer ${relayerId} is ${own}, not ${wanted}`
      throw new ProviderRpcError(PROVIDER_CODES.unauthorized, problem)
    },
    requireChain: async (wanted, code) => {
      const own = BigInt(await chainId())
      if (wanted === own) return
      throw new ProviderRpcError(code, `chainId: relayer ${relayerId} is on chain ${own}, not ${wanted}`)
    },
  }
}

/** The code of the service when no endpoint of the network answers. */
const NO_ENDPOINT = -33002

interface NodeError {
  readonly code: number
  readonly message: string
  readonly description?: string
  readonly data?: unknown
}

function toNodeError({ code, message, description, data }: NodeError): ProviderRpcError {
  const known = code === NO_ENDPOINT ? PROVIDER_CODES.disconnected : code
  return new ProviderRpcError(known, description ?? message, { data })
}

/** A failure is forgotten, so that the next call asks again. */
function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined
  return () => {
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined
      throw error
    })
    return loaded
  }
}
