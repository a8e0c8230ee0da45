import { PostgresDialect, type PostgresPoolClient } from 'kysely'
import type { TurnKind, Turns } from '../../lib/concurrency/turns.ts'
import type { EngineClient } from './engine-client.ts'

interface EmbeddedDialectConfig {
  readonly engine: EngineClient
  /** Shared by all that use the engine. */
  readonly turns: Turns
  readonly kind: TurnKind
}

/** Kysely's dialect for the engine of this process, whose one session goes to one user at a time in the order of `turns`. */
export function createEmbeddedDialect({ engine, turns, kind }: EmbeddedDialectConfig): PostgresDialect {
  const session = {
    query: (text: string, parameters: readonly unknown[] = []) => engine.query(text, parameters),
    release: () => turns.end(),
  } as unknown as PostgresPoolClient
  return new PostgresDialect({
    pool: {
      options: {},
      connect: async () => {
        await turns.begin(kind)
        return session
      },
      end: async () => {},
    },
  })
}
