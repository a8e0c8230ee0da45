import { requireScope } from '../../access/principal.ts'
import { isPaidByUsers, tokenId } from '../../chains/sponsoring.ts'
import type { AdmitCall, HandlerMap, RequestContext, SendTerms } from '../../http/handler.ts'
import { sponsoringPoliciesOf } from '../../relayers/policies/policy.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { requireAnswer } from '../../transactions/model/require-answer.ts'
import type { RelayerRuntime } from '../../transactions/model/runtime.ts'
import { findHashOwners } from '../../transactions/store/attempts-store.ts'
import { findTransactions } from '../../transactions/store/lookups-store.ts'
import { presentWithAttempts } from '../present/transaction.ts'
import type { CoreParts, RelayerParts, TransactionParts } from '../service.ts'
import { findNamedBatch, nextNonce } from '../transactions/terms.ts'
import type { FrontOperationId, RelayerClient, SponsoringClient, WalletClient, Wanted } from './front.ts'
import { forward } from './nodes.ts'

/** The parts of the service that clients in the process are made of. */
export interface ClientParts extends CoreParts, RelayerParts, TransactionParts {
  readonly admitCall: AdmitCall
  readonly operations: Pick<HandlerMap, FrontOperationId>
}

/** A request to a relayer. */
export interface RelayerRequest {
  readonly relayer: Relayer
  readonly runtime: RelayerRuntime
  readonly context: RequestContext
}

/**
 * Creates the client of a front. Every call is to the relayer of the request, which its caller has been found
 * to see.
 */
function createClient({ admitCall, operations }: ClientParts, request: RelayerRequest): RelayerClient {
  const { relayer, context } = request
  const path = { relayer_id: relayer.id }
  return {
    requestId: context.requestId,
    relayer: { id: relayer.id, address: relayer.address },
    call: async <Id extends FrontOperationId>(
      id: Id,
      input: Parameters<RelayerClient['call']>[1],
      terms?: SendTerms,
    ) => {
      const handler = operations[id] as HandlerMap[Id]
      return handler(admitCall(id, context.principal, { ...input, path }), new CallContext(context, terms))
    },
  }
}

/** Creates the client of a wallet. The network of the relayer has this chain id. */
export function createWalletClient(
  parts: ClientParts,
  request: RelayerRequest,
  chainId: number,
): WalletClient {
  const { relayer, runtime, context } = request
  return {
    ...createClient(parts, request),
    chainId,
    finder: (scope) => {
      requireScope(context.principal, scope)
      return async (wanted) => {
        const ids = await idsOf(parts, request, wanted)
        if (ids.length === 0) return []
        const found = await findTransactions(parts.db, relayer.id, ids)
        if ('batchName' in wanted && found.length < ids.length) return []
        const byId = new Map(found.map((item) => [item.transaction.id, item]))
        const items = ids.flatMap((id) => byId.get(id) ?? [])
        return items.map((item) => presentWithAttempts(item, runtime.chain))
      }
    },
    forward: (calls) => forward(runtime.chain, calls),
    nextNonce: () => nextNonce(parts, relayer),
  }
}

/** Hashes are compared in lower case. */
async function idsOf(
  { db }: CoreParts,
  { relayer, context }: RelayerRequest,
  wanted: Wanted,
): Promise<readonly string[]> {
  if ('ids' in wanted) return wanted.ids
  if ('batchName' in wanted)
    return findNamedBatch(db, relayer.id, { name: wanted.batchName, maker: context.actor.keyId })
  const owners = await findHashOwners(
    db,
    wanted.hashes.map((hash) => hash.toLowerCase()),
  )
  return [...new Set(owners.values())]
}

const NOTHING_BUILT = 'No node of the network answers, so nothing was built. Try again.'

/** Creates the client of a front for users who pay for fees in tokens. */
export function createSponsoringClient(parts: ClientParts, request: RelayerRequest): SponsoringClient {
  const { relayer, runtime } = request
  const { chain } = runtime
  return {
    ...createClient(parts, request),
    isPaidByUsers: isPaidByUsers(sponsoringPoliciesOf(relayer)),
    tokens: async () => {
      const tokens = await parts.sponsors.tokens({ relayer, chain })
      return tokens.map(({ token, decimals }) => ({
        id: tokenId(token),
        symbol: token.symbol,
        decimals,
        maxAllowedFee: token.max_allowed_fee,
        slippagePercentage: token.swap_config?.slippage_percentage,
      }))
    },
    composeTransfer: async (transfer) => {
      const answer = await chain.sponsoring?.transferOf?.(transfer)
      if (answer === undefined) throw new Error('the network of this relayer composes no transfers')
      const content = requireAnswer(answer, NOTHING_BUILT)
      if (!('transaction' in content)) throw new Error('a composed transfer is a transaction')
      return content.transaction
    },
  }
}

/**
 * The context of a call inside a request: the same caller and the same time. The units of the request are
 * counted already. A class, because the signal is made when it is first read (`HandlerContext`).
 */
class CallContext implements RequestContext {
  readonly requestId: string
  readonly principal: RequestContext['principal']
  readonly actor: RequestContext['actor']
  readonly mediaType: string
  readonly headers: RequestContext['headers']
  readonly bytes: RequestContext['bytes']
  readonly terms: SendTerms | undefined
  readonly #outer: RequestContext

  constructor(outer: RequestContext, terms: SendTerms | undefined) {
    this.requestId = outer.requestId
    this.principal = outer.principal
    this.actor = outer.actor
    this.mediaType = outer.mediaType
    this.headers = outer.headers
    this.bytes = outer.bytes
    this.terms = terms
    this.#outer = outer
  }

  get signal(): AbortSignal {
    return this.#outer.signal
  }

  timeLeft(): number {
    return this.#outer.timeLeft()
  }

  allow(ms: number): void {
    this.#outer.allow(ms)
  }

  countFurther(): void {}
}
