import type { Freshness, InclusionProof } from '../answer.ts'
import type { PooledClient } from '../rpc/rpc.ts'
import { proveAbsence } from './absence.ts'
import { readFinalized } from './head.ts'
import { type Life, lifeOf, spanOf } from './life.ts'
import type { EndpointSaid, ReceiptReader } from './receipts.ts'
import type { SolanaAttempt } from './types.ts'

interface ProverOptions {
  readonly client: PooledClient
  readonly receipts: ReceiptReader
}

/**
 * Proves whether any of the attempts is in the chain. Absence is proved by one endpoint that does not know their signatures and whose own
 * ledger holds every block that could hold them, while no other endpoint knows more and none is silent.
 */
export function createInclusionProver({ client, receipts }: ProverOptions) {
  return async (attempts: readonly SolanaAttempt[], { asOf }: Freshness = {}): Promise<InclusionProof> => {
    const hashes = attempts.map(({ signed }) => signed.hash)
    const { endpoints, everyone } = await receipts.askEach(hashes, asOf)
    const included = findIncluded(attempts, endpoints)
    if (included) return included
    if (endpoints.length === 0) return { kind: 'unknown', detail: 'No endpoint may be asked now.' }
    if (endpoints.some(({ said }) => said.some(({ kind }) => kind === 'unknown')))
      return { kind: 'unknown', detail: 'An endpoint did not tell whether it knows the transaction.' }
    const life = lifeOfAll(attempts)
    if (life === undefined) return { kind: 'unknown', detail: NO_SLOT, unprovable: true }
    const head = await readFinalized(client, asOf)
    if (head.kind !== 'ok') return { kind: 'unknown', detail: NO_HEAD }
    return proveAbsence(client, {
      life,
      asOf: asOf ?? head.value.slot,
      head: head.value,
      endpoints,
      everyone,
    })
  }
}

const NO_HEAD = 'No endpoint has come to the newest finalized slot that is known.'

const NO_SLOT =
  'It uses a durable nonce and was signed by a version of this service that did not keep when, so no history can be known to be long enough. Look its signatures up, and decide what became of it.'

function findIncluded(
  attempts: readonly SolanaAttempt[],
  endpoints: readonly EndpointSaid[],
): InclusionProof | undefined {
  for (const { said } of endpoints) {
    for (const [index, one] of said.entries()) {
      const attempt = attempts[index]
      if (one.kind === 'included' && attempt !== undefined)
        return { kind: 'included', number: attempt.number, receipt: one.receipt }
    }
  }
  return undefined
}

/** Those that lapsed before were proved to be out then. Undefined where one of the others does not tell its life. */
function lifeOfAll(attempts: readonly SolanaAttempt[]): Life | undefined {
  const open = attempts.filter(({ outcome }) => outcome !== 'lapsed')
  const lives = (open.length > 0 ? open : attempts).map(({ draft }) => lifeOf(draft))
  const known = lives.filter((life) => life !== undefined)
  return known.length === lives.length ? spanOf(known) : undefined
}
