import type { Logger } from 'pino'
import type { RpcObserver, TextContext } from './rpc/observer.ts'

/** Receives the sentences of nodes that no table of the service knows, so that the tables can grow. */
export interface UnknownTexts {
  saw(context: TextContext, text: string): void
}

interface UnknownTextsOptions {
  readonly network: string
  readonly log: Logger
  readonly observer?: RpcObserver | undefined
}

/** Reports the results of a broadcast that are refusals in unknown words. */
export function reportUnclear(
  unknownTexts: UnknownTexts,
  results: readonly { readonly kind: string }[],
): void {
  for (const result of results)
    if (result.kind === 'unclear' && 'detail' in result) unknownTexts.saw('broadcast', String(result.detail))
}

/** A text is cut to this length in the log, in characters: a node may echo the call. */
const MAX_LOGGED = 300

/** Each text is logged once, as long as it is among this many newest ones. */
const MAX_REMEMBERED = 200

/** Urls, and runs of characters that can be a key, a hash, an address or signed bytes. */
const URLS = /\b[a-z][a-z+.-]*:\/\/\S+/gi
const LONG_RUNS = /(0x)?[\w-]{20,}/g

/** Creates a receiver that counts the texts in the metrics, and logs each once without what can be secret or of one transaction. */
export function createUnknownTexts({ network, log, observer }: UnknownTextsOptions): UnknownTexts {
  const logged = new Set<string>()
  return {
    saw: (context, text) => {
      observer?.unknownText?.(context)
      const shown = cleaned(text)
      // Numbers differ with each transaction.
      const key = `${context} ${shown.replace(/\d+/g, '0')}`
      if (logged.has(key)) return
      logged.add(key)
      const [oldest] = logged
      if (logged.size > MAX_REMEMBERED && oldest !== undefined) logged.delete(oldest)
      log.warn({ network, call: context, text: shown }, 'unknown error text of a node')
    },
  }
}

function cleaned(text: string): string {
  const masked = text.replace(URLS, '[url]').replace(LONG_RUNS, '[…]')
  return masked.length <= MAX_LOGGED ? masked : `${masked.slice(0, MAX_LOGGED)}…`
}
