/** The service cannot use the configuration. Every problem is one sentence that names the field; none contains a secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(['The configuration cannot be used:', ...problems.map((problem) => `  - ${problem}`)].join('\n'))
    this.problems = problems
  }
}

/** A file of the configuration exists, and this process may not read it. */
export class UnreadableConfigError extends Error {
  override readonly name = 'UnreadableConfigError'

  constructor(sentence: string) {
    super(sentence)
  }
}

/** The configuration file does not exist: a new user needs directions, not a list of problems. */
export class MissingConfigError extends Error {
  override readonly name = 'MissingConfigError'
  /** The absolute path of the missing file. */
  readonly file: string

  constructor(file: string) {
    super(`There is no configuration file ${file}.`)
    this.file = file
  }
}
