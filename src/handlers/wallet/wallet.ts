import { setImmediate as endOfTurn } from 'node:timers/promises'
import type { RpcCall, RpcReply } from '../../chains/rpc/rpc.ts'
import type { Schemas } from '../../contract/operations.ts'
import type { Db } from '../../database/db.ts'
import type { RequestContext } from '../../http/handler.ts'
import { omitUndefined } from '../../lib/object.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { RelayerRuntime } from '../../transactions/model/runtime.ts'
import type { TransactionWithAttempts } from '../../transactions/model/transaction.ts'
import type { Service } from '../service.ts'
import { createWalletMethods, isWalletMethod, SENDING } from './methods.ts'
import { countPending, isOwnPendingCount } from './nonce.ts'
import { invalidParams, RPC_CODES, RpcError, toRpcError } from './rpc-error.ts'
import { findByHash, includedAttempt } from './sending.ts'
import type { SigningOperations } from './signing.ts'
import type { WalletRequest } from './wallet-call.ts'

/** A relayer as a wallet, for one request. */
export interface Wallet {
  /**
   * Answers calls in their order. It never rejects: an accepted transaction is not forgotten because another
   * call fails.
   */
  answer(calls: readonly Schemas['RpcCall'][]): Promise<readonly WalletReply[]>
  /**
   * Looks up what replaced hashes that no node knows. It never rejects: on failure, the replies are those of
   * the network.
   */
  follow(calls: readonly RpcCall[], replies: readonly RpcReply[]): Promise<readonly RpcReply[]>
}

/** A result, or an error. */
export type WalletReply = Pick<Schemas['RpcReply'], 'result' | 'error'>

/**
 * The longest wait for a signature, in ms. A caller with a longer wait in a row of calls loses all answers to
 * the limit of the request.
 */
const MAX_WAIT_MS = 10_000

/** Creates the wallets of relayers; undefined for one whose policy does not let it be a wallet. */
export function createWallets(service: Service, operations: SigningOperations) {
  const methods = createWalletMethods(service, operations)
  const { db, clock, log } = service
  const waitMs = Math.min(MAX_WAIT_MS, service.requestTimeoutMs / 2)

  async function run(request: WalletRequest, { method, params }: Schemas['RpcCall']): Promise<WalletReply> {
    try {
      if (SENDING.has(method) && clock.monotonic() > request.deadline) throw tooLate()
      if (isOwnPendingCount({ method, params }, request.relayer.address))
        return { result: await countPending(service, request) }
      if (!isWalletMethod(method)) throw new Error(`${method} is not a wallet method`)
      const result = await methods[method](request, listOf(params))
      return { result }
    } catch (error) {
      const known = toRpcError(error)
      const { requestId } = request.context
      if (known === undefined) log.error({ err: error, requestId, method }, 'wallet method failed')
      return { error: presentError(known ?? fault()) }
    }
  }

  function answer(request: WalletRequest, calls: readonly Schemas['RpcCall'][]): Promise<WalletReply[]> {
    let sent: Promise<unknown> = Promise.resolve()
    let turn: Promise<unknown> = Promise.resolve()
    return Promise.all(
      calls.map((call) => {
        if (!SENDING.has(call.method)) {
          // Reading a document takes some 20 ms, so other requests have their turn between two of them.
          turn = turn.then(() => endOfTurn())
          return turn.then(() => run(request, call))
        }
        const reply = sent.then(() => run(request, call))
        sent = reply
        return reply
      }),
    )
  }

  return (relayer: Relayer, runtime: RelayerRuntime, context: RequestContext): Wallet | undefined => {
    const { network } = runtime
    const isWallet = 'walletRpc' in relayer.policies && relayer.policies.walletRpc === true
    if (!isWallet || !('chainId' in network)) return undefined
    const deadline = clock.monotonic() + waitMs
    const request = { relayer, runtime, chainId: network.chainId, context, deadline }
    return {
      answer: (calls) => answer(request, calls),
      follow: (calls, replies) =>
        followReplaced(db, request, { calls, replies }).catch((error: unknown) => {
          log.error({ err: error, requestId: context.requestId }, 'replaced transactions not followed')
          return replies
        }),
    }
  }
}

function listOf(params: Schemas['RpcCall']['params']): readonly unknown[] {
  if (params === undefined || params === null) return []
  if (Array.isArray(params)) return params
  throw invalidParams('params: a list is expected')
}

function presentError({ code, message, data }: RpcError): NonNullable<WalletReply['error']> {
  return omitUndefined({ code, message, data })
}

function tooLate(): RpcError {
  return new RpcError(
    RPC_CODES.limitExceeded,
    'The calls before this one took too long, so it was not executed. Send it again, in a separate request.',
  )
}

function fault(): RpcError {
  return new RpcError(
    RPC_CODES.internal,
    'Something went wrong in the service. The X-Request-Id header identifies the log entry. It may have taken effect; check before you repeat it.',
  )
}

/** Reads of a transaction by its hash, with the attempt to query instead of one that no node knows. */
const READS: Readonly<Record<string, (item: TransactionWithAttempts) => string | undefined>> = {
  eth_getTransactionReceipt: (item) => includedAttempt(item)?.signed.hash,
  eth_getTransactionByHash: (item) => (includedAttempt(item) ?? item.attempts.at(-1))?.signed.hash,
}

/**
 * Repeats a query if a node does not know the hash of an attempt, with the attempt that the chain includes
 * instead. Without the scope that shows transactions, the replies are unchanged.
 */
async function followReplaced(
  db: Db,
  request: WalletRequest,
  { calls, replies }: { readonly calls: readonly RpcCall[]; readonly replies: readonly RpcReply[] },
): Promise<readonly RpcReply[]> {
  if (!request.context.principal.may('transactions:read')) return replies
  const asked = calls.map((call, at) => (isNothing(replies[at]) ? hashOf(call) : undefined))
  const items = await findByHash(db, request.relayer, [
    ...new Set(asked.filter((hash) => hash !== undefined)),
  ])
  const further = calls.flatMap(({ method }, at) => {
    const hash = asked[at]
    const item = hash === undefined ? undefined : items.get(hash)
    const shown = item && READS[method]?.(item)
    return shown === undefined || shown === hash ? [] : [{ at, call: { method, params: [shown] } }]
  })
  if (further.length === 0) return replies
  const answers = await request.runtime.chain.forward(further.map(({ call }) => call))
  const answerAt = new Map(further.map(({ at }, index) => [at, answers[index]]))
  return replies.map((reply, at) => answerAt.get(at) ?? reply)
}

function isNothing(reply: RpcReply | undefined): boolean {
  return reply?.kind === 'result' && reply.result === null
}

function hashOf({ method, params }: RpcCall): string | undefined {
  if (!Object.hasOwn(READS, method) || !Array.isArray(params)) return undefined
  const [hash]: readonly unknown[] = params
  return typeof hash === 'string' && /^0x[0-9a-f]{64}$/i.test(hash) ? hash.toLowerCase() : undefined
}
