/** Gives the name under which the spending of a relayer is counted. */
export function subjectOfRelayer(id: string): string {
  return `relayer:${id}`
}

/** Gives the name under which the spending of an API key is counted. */
export function subjectOfKey(id: string): string {
  return `key:${id}`
}
