import { isPaidByUsers, tokenId } from '../../chains/sponsoring.ts'
import type { Schemas } from '../../contract/operations.ts'
import type { HandlerMap, RequestContext } from '../../http/handler.ts'
import { toInteger } from '../../lib/bigint.ts'
import { omitUndefined } from '../../lib/object.ts'
import { sponsoringPoliciesOf } from '../../relayers/policies/policy.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { requireAnswer } from '../../transactions/model/require-answer.ts'
import type { RelayerRuntime } from '../../transactions/model/runtime.ts'
import { requireTransaction } from '../../transactions/store/lookups-store.ts'
import type { CoreParts, Service, TransactionParts } from '../service.ts'
import { invalidParams, RPC_CODES, RpcError, toRpcError } from './rpc-error.ts'
import type { WalletReply } from './wallet.ts'
import { type Fields, readFields, readText } from './wallet-call.ts'

/** The methods that clients of OpenZeppelin Relayer call on Solana. */
const SOLANA_METHODS = [
  'feeEstimate',
  'prepareTransaction',
  'transferTransaction',
  'signTransaction',
  'signAndSendTransaction',
  'getSupportedTokens',
  'getFeaturesEnabled',
] as const

type SolanaMethodName = (typeof SOLANA_METHODS)[number]

/** Returns true if a Solana relayer answers the method itself. */
export function isSolanaMethod(method: string): method is SolanaMethodName {
  return SOLANA_METHODS.some((name) => name === method)
}

/** The operations that the methods are made of. They have each rule, and write the audit log. */
export type SponsoringOperations = Pick<
  HandlerMap,
  'quoteSponsoredTransaction' | 'buildSponsoredTransaction' | 'signTransaction' | 'sendTransaction'
>

interface SolanaCall {
  readonly relayer: Relayer
  readonly runtime: RelayerRuntime
  readonly context: RequestContext
}

type SolanaMethod = (call: SolanaCall, params: Fields) => Promise<unknown>

/**
 * Answers calls in their order, one after the other. It never rejects: what was sent is not forgotten because
 * another call fails.
 */
export type SolanaMethods = (
  call: SolanaCall,
  calls: readonly Schemas['RpcCall'][],
) => Promise<readonly WalletReply[]>

/** Creates the answers to the methods. */
export function createSolanaMethods(service: Service, operations: SponsoringOperations): SolanaMethods {
  const methods = createTable(service, operations)
  return async (call, calls) => {
    const replies: WalletReply[] = []
    for (const { method, params } of calls) {
      try {
        if (!isSolanaMethod(method)) throw new Error(`${method} is not a method of a Solana relayer`)
        replies.push({ result: await methods[method](call, readParams(params)) })
      } catch (error) {
        const known = toRpcError(error)
        const { requestId } = call.context
        if (known === undefined) service.log.error({ err: error, requestId, method }, 'solana method failed')
        const { code, message, data } = known ?? FAULT
        replies.push({ error: omitUndefined({ code, message, data }) })
      }
    }
    return replies
  }
}

const FAULT = new RpcError(
  RPC_CODES.internal,
  'Something went wrong in the service. The X-Request-Id header identifies the log entry. It may have taken effect; check before you repeat it.',
)

/** Parameters have names; a list with one object is the same. */
function readParams(params: Schemas['RpcCall']['params']): Fields {
  if (params === undefined || params === null) return {}
  return readFields(Array.isArray(params) ? (params[0] ?? {}) : params, 'params')
}

/** The longest wait for a signature, in seconds. */
const SIGNED_WITHIN_SECONDS = 10

/** The name of the feature that users pay for fees in tokens, as existing clients know it. */
const GASLESS = 'gasless'

function createTable(
  { db, admitCall, sponsors }: CoreParts & TransactionParts,
  operations: SponsoringOperations,
): Readonly<Record<SolanaMethodName, SolanaMethod>> {
  async function build({ relayer, context }: SolanaCall, body: unknown) {
    const call = { path: { relayer_id: relayer.id }, body }
    const input = admitCall('buildSponsoredTransaction', context.principal, call)
    return (await operations.buildSponsoredTransaction(input, context)).data
  }
  return {
    feeEstimate: async ({ relayer, context }, params) => {
      const call = { path: { relayer_id: relayer.id }, body: readWish(params) }
      const input = admitCall('quoteSponsoredTransaction', context.principal, call)
      return (await operations.quoteSponsoredTransaction(input, context)).data
    },
    prepareTransaction: async (call, params) => build(call, readWish(params)),
    transferTransaction: async (call, params) => {
      const amount = toInteger(params.amount, true)
      if (amount === undefined) throw invalidParams('amount: a whole number of base units is expected')
      const token = readText(params.token, 'token')
      const transfer = {
        token,
        amount,
        source: readText(params.source, 'source'),
        destination: readText(params.destination, 'destination'),
      }
      const answer = await call.runtime.chain.sponsoring?.transferOf?.(transfer)
      if (answer === undefined) throw new Error('a Solana network has token transfers')
      const content = requireAnswer(answer, NOTHING_BUILT)
      return build(call, { ...omitType(content), fee_token: token })
    },
    signTransaction: async ({ relayer, context }, params) => {
      const body = { transaction: readText(params.transaction, 'transaction') }
      const input = admitCall('signTransaction', context.principal, {
        path: { relayer_id: relayer.id },
        body,
      })
      return (await operations.signTransaction(input, context)).data
    },
    signAndSendTransaction: async ({ relayer, context }, params) => {
      const body = { transaction: readText(params.transaction, 'transaction') }
      const call = { path: { relayer_id: relayer.id }, body }
      const input = admitCall('sendTransaction', context.principal, call)
      const query = { ...input.query, wait: 'submitted', timeout: SIGNED_WITHIN_SECONDS } as const
      const sent = await operations.sendTransaction({ ...input, query }, context)
      if (!('id' in sent.data)) throw new Error('a transaction that is sent has an id')
      const { id } = sent.data
      const { transaction, attempts } = await requireTransaction(db, relayer, id)
      const [first] = attempts
      if (first !== undefined)
        return {
          transaction: Buffer.from(first.signed.raw).toString('base64'),
          signature: first.signed.hash,
          id,
        }
      throw new RpcError(
        RPC_CODES.resourceUnavailable,
        `Transaction ${id} is accepted and not signed yet. Do not send it again; look it up by its id.`,
        { transactionId: id, status: transaction.status },
      )
    },
    getSupportedTokens: async ({ relayer, runtime: { chain } }) => {
      const tokens = await sponsors.tokens({ relayer, chain })
      return {
        tokens: tokens.map(({ token, decimals }) =>
          omitUndefined({
            mint: tokenId(token),
            symbol: token.symbol ?? '',
            decimals,
            max_allowed_fee: token.max_allowed_fee,
            conversion_slippage_percentage: token.swap_config?.slippage_percentage,
          }),
        ),
      }
    },
    getFeaturesEnabled: async ({ relayer }) => ({
      features: isPaidByUsers(sponsoringPoliciesOf(relayer)) ? [GASLESS] : [],
    }),
  }
}

const NOTHING_BUILT = 'No node of the network answers, so nothing was built. Try again.'

function readWish(params: Fields): Fields {
  return {
    transaction: readText(params.transaction, 'transaction'),
    fee_token: readText(params.fee_token, 'fee_token'),
  }
}

function omitType({ type: _, ...fields }: { readonly type: string }): Fields {
  return fields
}
