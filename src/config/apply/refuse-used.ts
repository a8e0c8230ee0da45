import { ConfigError } from '../../lib/config-errors.ts'

interface Question {
  readonly what: 'signer' | 'notification'
  /** Relayers that refer to it, by id. */
  readonly usersOf: (id: string) => Promise<readonly string[]>
}

/** @throws ConfigError when relayers refer to one of these: they were created over the API, the file knows nothing of them */
export async function refuseUsed(ids: readonly string[], { what, usersOf }: Question): Promise<void> {
  const problems: string[] = []
  for (const id of ids) {
    const users = await usersOf(id)
    const names = users.map((name) => `"${name}"`).join(', ')
    if (users.length > 0)
      problems.push(
        `${what} "${id}" cannot be removed: it is used by ${names}, created over the API; change that there first`,
      )
  }
  if (problems.length > 0) throw new ConfigError(problems)
}
