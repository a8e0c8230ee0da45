/**
 * Exit codes of all commands. `unusable`: the command line or the configuration is wrong · `failed`: the
 * command failed while working.
 */
export const EXIT = { ok: 0, failed: 1, unusable: 2 } as const

/** The command line after the name of the command. */
export interface Arguments {
  readonly positionals: readonly string[]
  readonly options: Readonly<Record<string, string | undefined>>
  /** The flags on the command line. */
  readonly flags: ReadonlySet<string>
}

/** The output of a command. Each call prints one line. */
export interface Terminal {
  out(line: string): void
  err(line: string): void
}

/** A command of the command line. */
export interface Command {
  /** The name on the command line: `keys create`. */
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** The arguments after the name: `[folder]`. */
  readonly usage: string
  /** The rest of the help, in lines. */
  readonly help: readonly string[]
  /** Names of options that take a value, without dashes. */
  readonly options: readonly string[]
  /** Names of options without a value, without dashes; absent for none. */
  readonly flags?: readonly string[]
  /** A message for likely mistakes in the arguments; absent for none. */
  readonly hint?: string
  readonly maxPositionals: number
  /** Runs the command and returns the exit code. */
  run(args: Arguments, terminal: Terminal): Promise<number>
}

/** The arguments of a command, or its inputs, are wrong. The exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
