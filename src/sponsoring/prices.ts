import type { Answer } from '../chains/answer.ts'
import type { Sponsoring } from '../chains/capabilities.ts'
import { createRecentAnswer, type RecentAnswer } from '../chains/rpc/balance-reader.ts'
import { type AllowedToken, type PriceSource, type TokenPrice, tokenId } from '../chains/sponsoring.ts'
import { BoundedMap } from '../lib/bounded-map.ts'
import { canonicalJson } from '../lib/hash.ts'
import type { HttpClient } from '../lib/http/http-client.ts'
import type { Clock } from '../lib/time.ts'
import { readJupiterPrice, readPythPrice } from './dollar-prices.ts'
import { readHttpPrice } from './http-price.ts'
import { agreedPrice, type Price, type PriceSample, parseDecimal } from './price.ts'

/** The questions that sources ask a chain. */
type PricedChain = Pick<Sponsoring, 'oraclePrice' | 'blockAge'>

/** Reads the prices of tokens. */
export interface PriceReader {
  /**
   * Reads the price of a token, from all its sources. Unknown when a source does not answer, a price is too
   * old, or two sources differ by more than they may: without a price nothing is sponsored. `network` is the
   * one whose oracles `chain` asks.
   */
  read(network: string, chain: PricedChain, token: AllowedToken): Promise<Answer<Price>>
}

interface PriceReaderOptions {
  /** Reaches only addresses that callers may name. */
  readonly http: HttpClient
  readonly clock: Clock
}

/**
 * The sources are asked at most once in this time for all callers, in ms. A longer time lets prices age; the
 * age of each still counts.
 */
const FRESH_FOR_MS = 5_000

/** The prices that are remembered. A configuration has a few. */
const MAX_KNOWN = 1_000

/** Creates a reader that asks each source at most once in a few seconds. */
export function createPriceReader({ http, clock }: PriceReaderOptions): PriceReader {
  const known = new BoundedMap<string, RecentAnswer<readonly PriceSample[]>>(MAX_KNOWN)
  return {
    async read(network, chain, token) {
      const rules = token.price ?? ownPrice(token)
      if (rules === undefined)
        return { kind: 'unknown', detail: `no price is configured for ${tokenId(token)}` }
      const { mint } = token
      const key = `${network} ${mint} ${canonicalJson(rules.sources)}`
      const recent =
        known.get(key) ??
        createRecentAnswer({
          ask: () => askAll(rules.sources, { chain, mint, http, clock }),
          clock,
          freshForMs: FRESH_FOR_MS,
        })
      known.set(key, recent)
      const samples = await recent.read()
      return samples.kind === 'ok' ? agreedPrice(samples.value, rules, clock.now()) : samples
    },
  }
}

/** Lumens pay for lumens. */
function ownPrice({ asset }: AllowedToken): TokenPrice | undefined {
  return asset === 'native' ? { sources: [{ type: 'fixed', price: '1' }] } : undefined
}

interface Sources extends PriceReaderOptions {
  readonly chain: PricedChain
  readonly mint: string | undefined
}

async function askAll(
  sources: readonly PriceSource[],
  tools: Sources,
): Promise<Answer<readonly PriceSample[]>> {
  const answers = await Promise.all(sources.map((source) => ask(source, tools)))
  const failed = answers.find(({ kind }) => kind !== 'ok')
  if (failed !== undefined && failed.kind !== 'ok') return failed
  return { kind: 'ok', value: answers.flatMap((answer) => (answer.kind === 'ok' ? [answer.value] : [])) }
}

async function ask(source: PriceSource, { chain, mint, http, clock }: Sources): Promise<Answer<PriceSample>> {
  switch (source.type) {
    case 'fixed': {
      const price = parseDecimal(source.price)
      if (price === undefined) return { kind: 'unknown', detail: 'the fixed price is not a positive number' }
      return { kind: 'ok', value: { ...price, at: new Date(clock.now()) } }
    }
    case 'oracle':
      return chain.oraclePrice(source)
    case 'http':
      return readHttpPrice(http, source, clock.now())
    case 'jupiter':
      return readJupiterPrice(source, mint, { http, chain, now: clock.now() })
    case 'pyth':
      return readPythPrice(source, { http, now: clock.now() })
  }
}
