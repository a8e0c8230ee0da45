import { type LedgerOptions, startLedger, type TestLedger } from '../../../simulators/stellar/start-ledger.ts'
import type { StellarDraft, StellarPolicies, StellarRequest } from '../../../src/chains/stellar/content.ts'
import { createStellarChain } from '../../../src/chains/stellar/stellar-chain.ts'
import type { StellarChain } from '../../../src/chains/stellar/types.ts'
import type { Clock } from '../../../src/lib/time.ts'
import { createLogger } from '../../../src/log.ts'
import { type AdjustableClock, createAdjustableClock } from '../../support/clock.ts'
import { accountWith, known, NETWORK, OTHER, SELF, signingContextAt } from './build.ts'

/** Stroops of a lumen. */
export const XLM = 10_000_000n

/** A network made by hand, with two accounts of 100 lumens, and our chain on it. */
export interface Stage {
  readonly ledger: TestLedger
  /** The clock of our chain. */
  readonly clock: AdjustableClock
  readonly chain: StellarChain
  /** Our chain on other endpoints; the first is asked first. */
  chainAt(...urls: readonly string[]): StellarChain
  /** The draft of a request that has to pass. */
  prepare(request: StellarRequest, policies?: StellarPolicies): Promise<StellarDraft>
  nonce(address?: string): Promise<bigint>
  /** Sends a request from the relayer's own account, closes a ledger, and returns the hash. */
  run(request: StellarRequest): Promise<string>
}

export async function setStage(options: LedgerOptions = {}): Promise<Stage> {
  const ledger = await startLedger({ closeEveryMs: 'manual', ...options })
  ledger.fund(SELF, 100n * XLM)
  ledger.fund(OTHER, 100n * XLM)
  ledger.close()
  const clock = createAdjustableClock()
  const chainAt = (...urls: readonly string[]) => createChain(ledger, clock, urls)
  const chain = chainAt(ledger.url)

  async function prepare(request: StellarRequest, policies: StellarPolicies = {}) {
    const refusal = chain.check(request, accountWith(policies))
    if (refusal) throw new Error(refusal.detail)
    const answer = await chain.prepare(request, accountWith(policies))
    if (answer.kind === 'setup') throw new Error(answer.detail)
    return known(answer).draft
  }

  async function nonce(address = SELF) {
    const [answer] = await chain.sequencing.nonces([address])
    return known(answer ?? { kind: 'none' })
  }

  async function run(request: StellarRequest) {
    const signed = await chain.sign(await prepare(request), signingContextAt(await nonce()))
    const [sent] = await chain.broadcast([signed.raw])
    if (sent?.kind !== 'accepted') throw new Error(JSON.stringify(sent))
    ledger.close()
    return signed.hash
  }

  return { ledger, clock, chain, chainAt, prepare, nonce, run }
}

function createChain(ledger: TestLedger, clock: Clock, urls: readonly string[]): StellarChain {
  return createStellarChain({
    network: {
      type: 'stellar',
      name: NETWORK.name,
      passphrase: ledger.passphrase,
      isTestnet: true,
      averageBlocktimeMs: 1,
      requiredConfirmations: 0,
      rpcUrls: urls.map((url, index) => ({ url, weight: index === 0 ? 100 : 1e-9 })),
    },
    rpcTimeoutMs: 5_000,
    clock,
    log: createLogger({ level: 'silent' }),
  })
}
