import { JsonError, parseJson } from '../contract/exact-integers.ts'

/**
 * Parses a JSON file, with integers beyond 2^53 as `bigint`. Text that is not JSON gives undefined and a problem that never quotes
 * the text.
 */
export function parseFile(text: string, name: string, problems: string[]): unknown {
  if (text.trim() === '') {
    problems.push(`${name} is empty`)
    return undefined
  }
  try {
    return parseJson(text)
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    const where =
      error.cause instanceof Error ? /line \d+ column \d+/.exec(error.cause.message)?.[0] : undefined
    problems.push(`${name} is not JSON${where ? `: look at ${where}` : ''}`)
    return undefined
  }
}
