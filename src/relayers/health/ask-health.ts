import type { Answer } from '../../chains/answer.ts'
import type { Chain, SourceAccount } from '../../chains/chain.ts'
import type { SignerHealth } from '../../signers/signer.ts'
import type { HealthFacts, SourceAccountFacts } from './health.ts'
import type { HealthSubject } from './health-store.ts'
import type { HealthCheckerDeps } from './health-target.ts'

/** A relayer with the accounts whose nonces it takes. */
interface Asked extends Pick<HealthSubject, 'relayer' | 'confirmed'> {
  readonly sourceAccounts: readonly SourceAccount[]
}

/** Returns the facts of a check without any answer in time. */
export function nothingHeard(chain: Chain): HealthFacts {
  const network = { kind: 'unknown', detail: 'no answer in time' } as const
  return { network, endpoints: chain.endpoints(), balance: NOT_ASKED, ...NO_NONCES, signers: [] }
}

const NOT_ASKED = { kind: 'unknown', detail: 'not asked' } as const
const NO_NONCES = { sourceAccounts: [], unexplained: [], history: NOT_ASKED } as const

/**
 * Asks one chain about all of its relayers, in their order. Read the confirmed nonces before, so that the chain has included them.
 * The identity of the chain is asked first and once; the other questions go out in one turn, so that they share batches. Keys that other
 * services hold are checked meanwhile.
 */
export async function askHealth(
  chain: Chain,
  all: readonly Asked[],
  {
    findChainReset,
    findUnexplained,
    checkHistory,
  }: Pick<HealthCheckerDeps, 'findChainReset' | 'findUnexplained' | 'checkHistory'>,
): Promise<HealthFacts[]> {
  const [network, signers] = await Promise.all([
    verifyChain(chain, all, findChainReset),
    Promise.all(all.map(checkSigners)),
  ])
  const common = { network, endpoints: chain.endpoints() }
  if (network.kind !== 'ok')
    return signers.map((own) => ({ ...common, balance: NOT_ASKED, ...NO_NONCES, signers: own }))
  const answers = all.map(async (asked, index) => {
    const [balance, sourceAccounts, history] = await Promise.all([
      chain.balance(asked.relayer.address),
      askSourceAccounts(chain, asked),
      checkHistory(asked.relayer, chain),
    ])
    const unexplained = await findUnexplained(asked.relayer, readNonces(sourceAccounts))
    return { ...common, balance, sourceAccounts, unexplained, history, signers: signers[index] ?? [] }
  })
  // The head makes the height of every endpoint known, so that the pool ignores an endpoint that lags.
  const [facts] = await Promise.all([Promise.all(answers), chain.head()])
  return facts
}

/** Checks each key once that another service holds. */
async function checkSigners({ sourceAccounts }: Asked): Promise<SignerHealth[]> {
  const checks = new Set(sourceAccounts.flatMap(({ signer }) => signer?.check ?? []))
  return Promise.all([...checks].map((check) => check()))
}

/** Refuses an endpoint of another network, and a chain that was reset. */
async function verifyChain(
  chain: Chain,
  [first]: readonly Asked[],
  findChainReset: HealthCheckerDeps['findChainReset'],
): Promise<Answer<void>> {
  const verified = await chain.verify()
  if (verified.kind !== 'ok' || first === undefined) return verified
  const detail = await findChainReset(first.relayer)
  return detail === undefined ? verified : { kind: 'refused', refusal: { code: 'invalid_request', detail } }
}

async function askSourceAccounts(
  chain: Chain,
  { sourceAccounts, confirmed }: Asked,
): Promise<SourceAccountFacts[]> {
  if (chain.sequencing === undefined) return []
  const next = await chain.sequencing.nonces(sourceAccounts.map(({ address }) => address))
  return sourceAccounts.map(({ address }, index) => ({
    address,
    confirmed: confirmed.get(address),
    next: next[index] ?? NO_REPLY,
  }))
}

function readNonces(sourceAccounts: readonly SourceAccountFacts[]) {
  return sourceAccounts.flatMap(({ address, next }) =>
    next.kind === 'ok' ? [{ address, chainNonce: next.value }] : [],
  )
}

const NO_REPLY: Answer<never> = { kind: 'unknown', detail: 'no reply' }
