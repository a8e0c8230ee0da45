/** Exit codes of every command. 2 means: what you gave cannot be used, change it; 1: it failed while working. */
export const EXIT = { ok: 0, failed: 1, unusable: 2 } as const

/** What was typed after the name of the command. */
export interface Arguments {
  readonly positionals: readonly string[]
  readonly options: Readonly<Record<string, string | undefined>>
  /** The flags that were given. */
  readonly flags: ReadonlySet<string>
}

/** Where a command prints. Each call is one line. */
export interface Terminal {
  out(line: string): void
  err(line: string): void
}

export interface Command {
  /** As typed: `keys create`. */
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** What follows the name: `[folder]`. */
  readonly usage: string
  /** The rest of the help, in lines. */
  readonly help: readonly string[]
  /** Names of options that take a value, without dashes. */
  readonly options: readonly string[]
  /** Names of options that take no value, without dashes; absent for none. */
  readonly flags?: readonly string[]
  readonly maxPositionals: number
  /** Gives the exit code. */
  run(args: Arguments, terminal: Terminal): Promise<number>
}

/** The command was called wrongly, or what it was given cannot be used. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
