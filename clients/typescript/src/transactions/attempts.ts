import type { Schemas } from '../operation-types.ts'

type Transaction = Schemas['TransactionWithAttempts']
type Attempt = NonNullable<Transaction['attempts']>[number]

/** The attempts that take the place of what was asked for. */
const NO_OPS: ReadonlySet<Schemas['AttemptKind']> = new Set(['cancel', 'expire', 'abandon'])

/** Tells whether an attempt has a no-op in place of what was asked for. */
export function isNoOp({ kind }: Pick<Attempt, 'kind'>): boolean {
  return NO_OPS.has(kind)
}

/** The attempt that the chain includes; undefined while it includes none. */
export function includedAttempt({ attempts = [] }: Transaction): Attempt | undefined {
  return (attempts as readonly Attempt[]).find(({ outcome }) => outcome === 'mined' || outcome === 'reverted')
}

/** The first signed version of what was asked for; undefined while nothing of it is signed. */
export function firstAttempt({ attempts = [] }: Transaction): Attempt | undefined {
  return (attempts as readonly Attempt[]).find((attempt) => !isNoOp(attempt))
}
