import type { Schemas } from '../../../../clients/typescript/src/index.ts'
import { FieldError } from '../../parts/fields.ts'

type Decision = Schemas['TransactionDecisionsRequest']['decisions'][number]

interface Listed extends Omit<Decision, 'included'> {
  readonly relayer_id: string
  readonly included: boolean | null
  readonly cancel?: boolean
}

/**
 * Reads the decisions about one relayer from a list of `relayer restore check`. Entries without a decision,
 * and those to be canceled first, are left out.
 * @throws FieldError
 */
export function decisionsIn(text: string, relayerId: string): Decision[] {
  const listed = listIn(text)
  const decisions = listed.flatMap(({ relayer_id, cancel, included, transaction_id, hash, reason }) =>
    relayer_id !== relayerId || included === null || cancel === true
      ? []
      : [{ transaction_id, included, reason, ...(hash !== undefined && { hash }) }],
  )
  if (decisions.length === 0) throw new FieldError('decisions', 'The list has no decision for this relayer.')
  return decisions
}

function listIn(text: string): readonly Listed[] {
  try {
    const { decisions } = JSON.parse(text) as { readonly decisions?: unknown }
    if (Array.isArray(decisions)) return decisions as Listed[]
  } catch {
    // The next line says it.
  }
  throw new FieldError('decisions', 'The file is not a list of decisions.')
}
