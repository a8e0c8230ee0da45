import type { Actor } from '../../access/principal.ts'
import type { Effects } from '../../chains/effects.ts'
import type { ChainRequest } from '../../chains/request.ts'
import { AppError } from '../../errors.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { RuleResult } from '../../spending/rule.ts'

/** Content that a caller wants to send or to have signed. Its rules allow it. */
export interface ProposedContent {
  readonly action: 'send' | 'replace' | 'sign_transaction' | 'sign_authorization'
  readonly relayer: Relayer
  readonly actor: Actor
  /** Absent if no request can express what is signed. */
  readonly request?: ChainRequest | undefined
  readonly effects: Effects
  /** The transaction that it replaces. */
  readonly transactionId?: string | undefined
  readonly lane?: string | undefined
  /** Nothing is accepted or signed, whatever the answer. */
  readonly isDryRun?: boolean | undefined
}

/**
 * Asks the programs of the operator about content, besides its rules, and returns their answers in the form
 * of rules. It can take seconds, so no database transaction may be open.
 * @throws AppError `plugin_unavailable` if one of them does not answer, and then refuses
 */
export type BeforeSend = (content: ProposedContent) => Promise<readonly RuleResult[]>

interface Asking {
  /** Absent if there are no such programs. */
  readonly beforeSend?: BeforeSend | undefined
}

/** The answers about content. */
interface Answers {
  readonly results: readonly RuleResult[]
  /** The error of a program that does not answer and then refuses. */
  readonly failure?: AppError | undefined
}

/** Asks about content. Its effects are read only if someone is asked. */
export async function askBeforeSend(
  { beforeSend }: Asking,
  content: Omit<ProposedContent, 'effects'> & { readonly effects: () => Effects },
): Promise<Answers> {
  if (beforeSend === undefined) return { results: [] }
  try {
    return { results: await beforeSend({ ...content, effects: content.effects() }) }
  } catch (error) {
    if (error instanceof AppError) return { results: [], failure: error }
    throw error
  }
}
