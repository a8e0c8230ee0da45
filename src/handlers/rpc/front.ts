import type { TokenTransfer } from '../../chains/capabilities.ts'
import type { RawInput, Result, Schemas } from '../../contract/operations.ts'
import type { SendTerms } from '../../http/handler.ts'

// A front is a protocol on top of the operations, in this process, spoken over JSON-RPC. It translates: what a
// caller may do is decided by the operations that it calls. This file is all that it imports of the service,
// besides the types of the contract, errors and `lib`.

/** A call of a caller, as it arrived. */
export type RpcCall = Schemas['RpcCall']

/** A result, or an error. */
export type RpcAnswer = Pick<Schemas['RpcReply'], 'result' | 'error'>

/** The methods of a protocol that a relayer answers itself. */
export interface RpcFront<Client extends RelayerClient> {
  readonly methods: ReadonlySet<string>
  /**
   * Answers calls in their order. It never rejects: an accepted transaction is not forgotten because another
   * call fails.
   */
  answer(client: Client, calls: readonly RpcCall[]): Promise<readonly RpcAnswer[]>
}

/** A front that stands before the nodes of a network: it also improves what they answer. */
export interface WalletFront extends RpcFront<WalletClient> {
  /** Recognises a call that nodes answer, and the wallet of this address knows better. */
  answersInstead(call: RpcCall, address: string): boolean
  /** Counts the operations in a call, 1 at least, for the rate limit. */
  unitsOf(call: RpcCall): number
  /**
   * Looks up what replaced hashes that no node knows. It never rejects: on failure, the answers are those of
   * the network.
   */
  follow(
    client: WalletClient,
    calls: readonly RpcCall[],
    answers: readonly RpcAnswer[],
  ): Promise<readonly RpcAnswer[]>
}

/** The operations that fronts are made of. They have each rule, and write the audit log. */
export type FrontOperationId =
  | 'sendTransaction'
  | 'sendTransactionBatch'
  | 'signMessage'
  | 'signTypedData'
  | 'signTransaction'
  | 'quoteSponsoredTransaction'
  | 'buildSponsoredTransaction'

/** A relayer, as one caller sees it during one request. */
export interface RelayerClient {
  /** Identifies the request in the log. */
  readonly requestId: string
  readonly relayer: { readonly id: string; readonly address: string }
  /**
   * Calls an operation on the relayer as the caller: with the scopes, the validation and the handler of a
   * request of its own. The rate limit has counted it already.
   *
   * @throws AppError as the operation answers; NonceError
   */
  call<Id extends FrontOperationId>(
    operation: Id,
    input: Pick<RawInput, 'query' | 'body'>,
    terms?: SendTerms,
  ): Promise<Result<Id>>
}

/** A relayer on an EVM network, as its own account. What the contract has as an operation is in `call`. */
export interface WalletClient extends RelayerClient {
  /** The chain id of its network. */
  readonly chainId: number
  /**
   * Returns what finds transactions of the relayer. The operations read one at a time, and need
   * `transactions:read` also where a caller only sends.
   *
   * @param scope the one that a caller needs for the method
   * @throws AppError `insufficient_scope`
   */
  finder(scope: 'transactions:read' | 'transactions:write'): TransactionFinder
  /**
   * Calls nodes of the network with methods that read: for the front itself, so the policy
   * `allowed_rpc_methods`, which is for callers, does not count.
   */
  forward(calls: readonly Pick<RpcCall, 'method' | 'params'>[]): Promise<readonly RpcAnswer[]>
  /**
   * Returns the nonce that the next transaction of the account gets, with those that are accepted and not
   * numbered; undefined if no node answers. The status of a relayer shows what is numbered only.
   */
  nextNonce(): Promise<bigint | undefined>
}

/**
 * Finds transactions, each as `getTransactionById` shows it. Unknown ones are absent; of a batch by its name,
 * all are there or none.
 */
export type TransactionFinder = (wanted: Wanted) => Promise<readonly Schemas['TransactionWithAttempts'][]>

/** Names transactions: by hashes of attempts, by ids, or by the caller's name of their batch. */
export type Wanted =
  | { readonly hashes: readonly string[] }
  | { readonly ids: readonly string[] }
  | { readonly batchName: string }

/** A relayer on a network where users pay for fees in tokens, as far as the contract has no operation for it. */
export interface SponsoringClient extends RelayerClient {
  /** Users pay for the fees of what they sign. */
  readonly isPaidByUsers: boolean
  /** Returns the tokens that the relayer accepts. @throws AppError `network_unavailable` */
  tokens(): Promise<readonly AcceptedToken[]>
  /**
   * Composes a transfer of tokens between the conventional accounts of two owners, for
   * `buildSponsoredTransaction`: the wire format in base64.
   *
   * @throws AppError with the field that does not fit, or `network_unavailable`
   */
  composeTransfer(transfer: TokenTransfer): Promise<string>
}

/** A token that a relayer accepts. The fee is in base units of the token. */
export interface AcceptedToken {
  readonly id: string
  readonly symbol: string | undefined
  readonly decimals: number
  readonly maxAllowedFee: bigint | undefined
  readonly slippagePercentage: number | undefined
}

/** The nonce that a front named for a transaction is not the one that it would get. Nothing was stored. */
export class NonceError extends Error {
  override readonly name = 'NonceError'
  readonly problem: NonceProblem

  constructor(problem: NonceProblem) {
    super(`the nonce is not the next one: ${problem.kind}`)
    this.problem = problem
  }
}

/**
 * `taken`: a transaction with other content was sent with it · `other`: another nonce is the next one ·
 * `unknown`: no node tells the next one.
 */
export type NonceProblem =
  | { readonly kind: 'taken'; readonly transactionId: string }
  | { readonly kind: 'other'; readonly next: bigint }
  | { readonly kind: 'unknown' }
