import type { Attempt } from '../../chains/attempt.ts'
import type { Chain } from '../../chains/chain.ts'

/** Every hash under which the chain can include one of these attempts, each once. */
export function hashesOfAll(chain: Chain, attempts: readonly Attempt[]): string[] {
  return [...new Set(attempts.flatMap((attempt) => hashesOf(chain, attempt)))]
}

/** Every hash under which the chain can include the attempt, its own first. */
export function hashesOf(chain: Chain, attempt: Attempt): readonly string[] {
  return chain.inclusionHashes?.of(attempt) ?? [attempt.signed.hash]
}
