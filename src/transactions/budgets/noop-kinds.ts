import type { AttemptKind } from '../../chains/attempt.ts'
import type { NoopPurpose } from '../model/purpose.ts'

/** Attempts that move nothing and only cost a fee. */
export const NOOP_KINDS: ReadonlySet<AttemptKind> = new Set([
  'cancel',
  'expire',
  'abandon',
  'gap_filler',
] satisfies (NoopPurpose & AttemptKind)[])
