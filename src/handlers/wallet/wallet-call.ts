import type { Scope } from '../../access/scope.ts'
import type { RequestContext } from '../../contract/operations.ts'
import type { EvmRelayer } from '../../relayers/relayer.ts'
import type { RelayerRuntime } from '../../transactions/model/runtime.ts'
import { RPC_CODES, RpcError } from './rpc-error.ts'

/** The facts of a request that all its calls share. */
export interface WalletRequest {
  readonly relayer: EvmRelayer
  readonly runtime: RelayerRuntime
  /** The chain id of its network. */
  readonly chainId: number
  readonly context: RequestContext
  /** The end of every wait, by the monotonic clock. */
  readonly deadline: number
}

/** A method of a wallet. Parameters come by their positions. */
export type WalletMethod = (request: WalletRequest, params: readonly unknown[]) => Promise<unknown>

/** @throws RpcError unless the account of the relayer has this address */
export function requireAccount({ relayer }: WalletRequest, address: string, name: string): void {
  if (address.toLowerCase() === relayer.address.toLowerCase()) return
  const problem = `${name}: the account of relayer ${relayer.id} is ${relayer.address}, not ${address}`
  throw new RpcError(RPC_CODES.unauthorized, problem)
}

/** @throws RpcError with this code unless the network of the relayer has this chain id */
export function requireChain({ relayer, chainId }: WalletRequest, wanted: bigint, code: number): void {
  if (wanted === BigInt(chainId)) return
  throw new RpcError(code, `chainId: relayer ${relayer.id} is on chain ${chainId}, not ${wanted}`)
}

/** @throws RpcError when the API key lacks the scope */
export function requireScope({ context: { principal } }: WalletRequest, scope: Scope): void {
  if (principal.may(scope)) return
  const problem = `API key ${principal.id} lacks the scope ${scope}.`
  throw new RpcError(RPC_CODES.unauthorized, problem, { code: 'insufficient_scope' })
}
