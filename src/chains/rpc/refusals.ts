import type { Logger } from 'pino'
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { BroadcastResult } from '../answer.ts'
import type { PooledClient, RpcCall, RpcObserver, RpcReply, TextContext } from './rpc.ts'

interface Broadcasted {
  readonly calls: readonly RpcCall[]
  /** The result of each call. */
  readonly results: readonly BroadcastResult[]
  readonly read: (reply: RpcReply) => { readonly kind: string }
}

/**
 * Sends bytes that one endpoint refused, or wants later, to every endpoint before that counts: another one
 * may accept them, and one that received them earlier, and whose reply was lost, has them. Sending the same
 * bytes twice is harmless. Any other answer than a refusal leaves it in doubt (I6): silence, and a sequence
 * number that is used, possibly by these bytes.
 */
export async function confirmRefusals(
  client: PooledClient,
  { calls, results, read }: Broadcasted,
): Promise<BroadcastResult[]> {
  const doubtful = [...results.keys()].filter((index) => confirms((results[index] ?? NO_RESULT).kind))
  if (doubtful.length === 0 || client.states().length < 2) return [...results]
  const everywhere = await client.sendEverywhere(
    doubtful.flatMap((index) => calls[index] ?? []),
    ANY_HEIGHT,
  )
  return results.map((result, index) => {
    const position = doubtful.indexOf(index)
    if (position === -1) return result
    const kinds = everywhere.map((replies) => read(replies[position]?.reply ?? NO_RESULT).kind)
    if (kinds.includes('accepted')) return { kind: 'accepted', known: true }
    return markUnanswered(result, !kinds.every(confirms))
  })
}

/** A node that will accept the bytes later has not accepted them either. */
function confirms(kind: string): boolean {
  return kind === 'later' || isRefusal(kind)
}

const NO_RESULT = { kind: 'unknown', detail: 'no reply' } as const

/** A lagging node also knows the bytes that it received. */
const ANY_HEIGHT = 0n

type Refusing = Extract<BroadcastResult, { readonly unanswered?: true }>

const REFUSING: readonly string[] = [
  'underpriced',
  'too_cheap',
  'too_dear',
  'gas_limit',
  'refused',
  'unclear',
] satisfies Refusing['kind'][]

/**
 * Adds to a refusal that another endpoint received the bytes and did not answer: it may have accepted them
 * (I6). Other results stay as they are, because they end nothing. Pure.
 */
export function markUnanswered(result: BroadcastResult, unanswered: boolean | undefined): BroadcastResult {
  return unanswered === true && isRefusing(result) ? { ...result, unanswered } : result
}

/** Returns true for a result that can end an attempt. */
function isRefusing(result: BroadcastResult): result is Refusing {
  return isRefusal(result.kind)
}

/** Returns true for the kind of a result that can end an attempt. */
function isRefusal(kind: string): boolean {
  return REFUSING.includes(kind)
}

/** Receives the sentences of nodes that no table of the service knows, so that the tables can grow. */
export interface UnknownTexts {
  saw(context: TextContext, text: string): void
}

interface UnknownTextsOptions {
  readonly network: string
  readonly log: Logger
  readonly observer?: RpcObserver | undefined
}

/** Reports the results of a broadcast that are refusals in unknown wording. */
export function reportUnclear(
  unknownTexts: UnknownTexts,
  results: readonly { readonly kind: string; readonly detail?: string; readonly known?: true }[],
): void {
  for (const { kind, detail, known } of results)
    if (kind === 'unclear' && known !== true && detail !== undefined) unknownTexts.saw('broadcast', detail)
}

/** A text is cut to this length in the log, in characters: a node may echo the call. */
const MAX_LOGGED = 300

/** Each text is logged once, while it is among this many newest ones. */
const MAX_REMEMBERED = 200

/** Urls, and runs of characters that can be a key, a hash, an address or signed bytes. */
const URLS = /\b[a-z][a-z+.-]*:\/\/\S+/gi
const LONG_RUNS = /(0x)?[\w-]{20,}/g

/**
 * Creates a receiver that counts the texts in the metrics, and logs each once without what can be secret or
 * of one transaction.
 */
export function createUnknownTexts({ network, log, observer }: UnknownTextsOptions): UnknownTexts {
  const logged = new BoundedMap<string, true>(MAX_REMEMBERED)
  return {
    saw: (context, text) => {
      observer?.unknownText?.(context)
      const shown = cleaned(text)
      // Numbers differ with each transaction.
      const key = `${context} ${shown.replace(/\d+/g, '0')}`
      if (logged.has(key)) return
      logged.set(key, true)
      log.warn({ network, call: context, text: shown }, 'unknown error text of a node')
    },
  }
}

function cleaned(text: string): string {
  const masked = text.replace(URLS, '[url]').replace(LONG_RUNS, '[…]')
  return masked.length <= MAX_LOGGED ? masked : `${masked.slice(0, MAX_LOGGED)}…`
}
