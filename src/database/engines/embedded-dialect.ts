import type { PGlite } from '@electric-sql/pglite'
import { type DatabaseConnection, PGliteAdapter, PGliteDialect, PGliteDriver } from 'kysely'
import type { TurnKind, Turns } from '../../lib/concurrency/turns.ts'

interface EmbeddedDialectConfig {
  readonly pglite: PGlite
  /** Shared by all that use the engine. */
  readonly turns: Turns
  readonly kind: TurnKind
}

/** Kysely's dialect for the engine in this process, whose one connection goes to one user at a time in the order of `turns`. */
export class EmbeddedDialect extends PGliteDialect {
  readonly #config: EmbeddedDialectConfig

  constructor(config: EmbeddedDialectConfig) {
    super(config)
    this.#config = config
  }

  override createDriver(): PGliteDriver {
    return new EmbeddedDriver(this.#config)
  }

  override createAdapter(): PGliteAdapter {
    return new EmbeddedAdapter()
  }
}

class EmbeddedDriver extends PGliteDriver {
  readonly #turns: Turns
  readonly #kind: TurnKind

  constructor({ pglite, turns, kind }: EmbeddedDialectConfig) {
    super({ pglite })
    this.#turns = turns
    this.#kind = kind
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    await this.#turns.begin(this.#kind)
    return super.acquireConnection()
  }

  override async releaseConnection(): Promise<void> {
    this.#turns.end()
  }
}

class EmbeddedAdapter extends PGliteAdapter {
  /** Kysely would put its own lock, which knows no order, around a single connection. */
  override get supportsMultipleConnections(): boolean {
    return true
  }
}
