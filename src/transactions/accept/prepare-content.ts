import type { Answer } from '../../chains/answer.ts'
import type { Chain } from '../../chains/chain.ts'
import type { Prepared, SetupRequired } from '../../chains/prepared.ts'
import type { ChainRequest } from '../../chains/request.ts'
import type { ErrorCode } from '../../errors.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { isForLater } from '../model/due.ts'
import { accountOf } from '../model/runtime.ts'

/** Refusals that another state of the chain can lift. */
const OF_PRESENT_STATE: ReadonlySet<ErrorCode> = new Set([
  'execution_reverted',
  'insufficient_balance',
  'account_not_found',
])

/** The content of a transaction that nobody has signed yet. */
export interface NewContent {
  readonly relayer: Relayer
  readonly request: ChainRequest
  readonly chain: Chain
  /** In ms since the epoch. */
  readonly now: number
}

/**
 * Prepares content for its acceptance. The state of the chain at `valid_from` is not known, so a request with a later one is refused for
 * nothing that may change until then, and no estimate is kept for it.
 */
export async function prepareContent({
  relayer,
  request,
  chain,
  now,
}: NewContent): Promise<Answer<Prepared> | SetupRequired> {
  const answer = await chain.prepare(request, accountOf(relayer))
  if (request.validFrom === undefined || !isForLater(request, now)) return answer
  if (answer.kind === 'ok') {
    const { knownGas: _, ...prepared } = answer.value
    return { kind: 'ok', value: { ...prepared, logs: [waitLog(request.validFrom), ...prepared.logs] } }
  }
  if (answer.kind !== 'refused' || !OF_PRESENT_STATE.has(answer.refusal.code)) return answer
  return { kind: 'unknown', detail: `at present it would be refused (${withoutStop(answer.refusal.detail)})` }
}

function waitLog(start: Date): string {
  return `It waits until ${start.toISOString()}; nothing is signed or reserved before.`
}

function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '')
}
