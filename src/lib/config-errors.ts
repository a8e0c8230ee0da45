/** The configuration cannot be used. Every problem is one sentence that names its place; none contains a secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(['The configuration cannot be used:', ...problems.map((problem) => `  - ${problem}`)].join('\n'))
    this.problems = problems
  }
}

/** There is no configuration file at all: a newcomer needs directions, not a list. */
export class MissingConfigError extends Error {
  override readonly name = 'MissingConfigError'
  /** Where it was looked for, absolute. */
  readonly file: string

  constructor(file: string) {
    super(`There is no configuration file ${file}.`)
    this.file = file
  }
}
