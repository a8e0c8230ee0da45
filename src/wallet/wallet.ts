import { setImmediate as endOfTurn } from 'node:timers/promises'
import type { Logger } from 'pino'
import { AppError } from '../errors.ts'
import type {
  RpcAnswer,
  RpcCall,
  TransactionFinder,
  WalletClient,
  WalletFront,
} from '../handlers/rpc/front.ts'
import type { Clock } from '../lib/time.ts'
import { getCallsStatus, getCapabilities, MOST_CALLS, sendCalls } from './bundles.ts'
import { answerOf, invalidParams, RPC_CODES, RpcError } from './rpc-error.ts'
import {
  countPending,
  includedAttempt,
  isOwnPendingCount,
  type ShownTransaction,
  sendRawTransaction,
  sendTransaction,
} from './sending.ts'
import { personalSign, refuseToSignHashes, signTransaction, signTypedData } from './signing.ts'
import type { WalletMethod, WalletRequest } from './wallet-call.ts'

const accounts: WalletMethod = async ({ client }) => [client.relayer.address]

/** The methods that a relayer answers where its policy `wallet_rpc` is true. */
const WALLET_METHODS: ReadonlyMap<string, WalletMethod> = new Map([
  ['eth_accounts', accounts],
  ['eth_requestAccounts', accounts],
  ['eth_sendTransaction', sendTransaction],
  ['eth_sendRawTransaction', sendRawTransaction],
  ['eth_signTransaction', signTransaction],
  ['eth_signTypedData_v4', signTypedData],
  ['personal_sign', personalSign],
  ['eth_sign', refuseToSignHashes],
  ['wallet_sendCalls', sendCalls],
  ['wallet_getCallsStatus', getCallsStatus],
  ['wallet_getCapabilities', getCapabilities],
])

/**
 * The methods that send. Those of a batch run one after the other, so that their transactions have the order
 * of the calls.
 */
const SENDING: ReadonlySet<string> = new Set(['eth_sendTransaction', 'wallet_sendCalls'])

/** The parts of the service that a wallet uses besides its client. */
interface WalletParts {
  readonly clock: Clock
  readonly log: Logger
  /** The time limit of an HTTP request in ms. */
  readonly requestTimeoutMs: number
}

/**
 * The longest wait for a signature, in ms. A caller with a longer wait in a row of calls loses all answers to
 * the limit of the request.
 */
const MAX_WAIT_MS = 10_000

/** Creates the front that makes a relayer a wallet: EIP-1193, EIP-1474 and EIP-5792. */
export function createWallet({ clock, log, requestTimeoutMs }: WalletParts): WalletFront {
  const waitMs = Math.min(MAX_WAIT_MS, requestTimeoutMs / 2)

  async function run(request: WalletRequest, call: RpcCall): Promise<RpcAnswer> {
    const { requestId, relayer } = request.client
    const { method, params } = call
    try {
      if (SENDING.has(method) && clock.monotonic() > request.deadline) throw tooLate()
      if (isOwnPendingCount(call, relayer.address)) return { result: await countPending(request) }
      const answer = WALLET_METHODS.get(method)
      if (answer === undefined) throw new Error(`${method} is not a wallet method`)
      return { result: await answer(request, listOf(params)) }
    } catch (error) {
      return answerOf(error, (err) => log.error({ err, requestId, method }, 'wallet method failed'))
    }
  }

  return {
    methods: new Set(WALLET_METHODS.keys()),
    answersInstead: isOwnPendingCount,
    unitsOf,
    answer: (client, calls) => {
      const request = { client, deadline: clock.monotonic() + waitMs }
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
    },
    follow: (client, calls, answers) =>
      followReplaced(client, calls, answers).catch((err: unknown) => {
        log.error({ err, requestId: client.requestId }, 'replaced transactions not followed')
        return answers
      }),
  }
}

/** A bundle counts for its calls, because each of them is a transaction; a larger one is refused anyway. */
function unitsOf({ method, params }: RpcCall): number {
  const bundle: unknown = method === 'wallet_sendCalls' && Array.isArray(params) ? params[0] : undefined
  const { calls } = Object(bundle) as { readonly calls?: unknown }
  return Array.isArray(calls) ? Math.min(Math.max(calls.length, 1), MOST_CALLS) : 1
}

function listOf(params: RpcCall['params']): readonly unknown[] {
  if (params === undefined || params === null) return []
  if (Array.isArray(params)) return params
  throw invalidParams('params: a list is expected')
}

function tooLate(): RpcError {
  return new RpcError(
    RPC_CODES.limitExceeded,
    'The calls before this one took too long, so it was not executed. Send it again, in a separate request.',
  )
}

/** Reads of a transaction by its hash, with the attempt to query instead of one that no node knows. */
const READS: Readonly<Record<string, (item: ShownTransaction) => string | undefined>> = {
  eth_getTransactionReceipt: (item) => includedAttempt(item)?.hash,
  eth_getTransactionByHash: (item) => (includedAttempt(item) ?? item.attempts.at(-1))?.hash,
}

/**
 * Repeats a query if a node does not know the hash of an attempt, with the attempt that the chain includes
 * instead. Without the scope that shows transactions, the answers are unchanged.
 */
async function followReplaced(
  client: WalletClient,
  calls: readonly RpcCall[],
  answers: readonly RpcAnswer[],
): Promise<readonly RpcAnswer[]> {
  const asked = calls.map((call, at) => (isNothing(answers[at]) ? hashOf(call) : undefined))
  const hashes = new Set(asked.filter((hash) => hash !== undefined))
  const find = hashes.size === 0 ? undefined : finderOf(client)
  if (find === undefined) return answers
  const items = await find({ hashes: [...hashes] })
  const further = calls.flatMap(({ method }, at) => {
    const hash = asked[at]
    const item = items.find(({ attempts }) => attempts.some((attempt) => attempt.hash === hash))
    const shown = item && READS[method]?.(item)
    return shown === undefined || shown === hash ? [] : [{ at, call: { method, params: [shown] } }]
  })
  if (further.length === 0) return answers
  const found = await client.forward(further.map(({ call }) => call))
  const foundAt = new Map(further.map(({ at }, index) => [at, found[index]]))
  return answers.map((answer, at) => foundAt.get(at) ?? answer)
}

/** Undefined for a caller who may not read transactions. */
function finderOf(client: WalletClient): TransactionFinder | undefined {
  try {
    return client.finder('transactions:read')
  } catch (error) {
    if (error instanceof AppError && error.code === 'insufficient_scope') return undefined
    throw error
  }
}

function isNothing(answer: RpcAnswer | undefined): boolean {
  return answer?.error === undefined && answer?.result === null
}

function hashOf({ method, params }: RpcCall): string | undefined {
  if (!Object.hasOwn(READS, method) || !Array.isArray(params)) return undefined
  const [hash]: readonly unknown[] = params
  return typeof hash === 'string' && /^0x[0-9a-f]{64}$/i.test(hash) ? hash.toLowerCase() : undefined
}
