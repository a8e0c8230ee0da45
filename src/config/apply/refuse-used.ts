import { ConfigError } from '../../lib/config-errors.ts'

interface Question {
  readonly what: 'signer' | 'notification'
  /** Returns the ids of the relayers that refer to the record. */
  readonly usersOf: (id: string) => Promise<readonly string[]>
}

/** @throws ConfigError when relayers that callers created refer to one of these ids */
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
