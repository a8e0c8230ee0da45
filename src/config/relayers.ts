import { flag } from '../lib/fields/field-types.ts'
import { openReader, type Reader } from '../lib/fields/reader.ts'
import type { RelayerConfig } from '../relayers/relayer.ts'
import { readRelayer } from '../relayers/relayer-document.ts'

/** The relayers of the file, with what the file alone decides about them. */
interface FileRelayers {
  readonly relayers: readonly RelayerConfig[]
  /** The ids of the relayers whose policies callers of the API may relax. */
  readonly apiMayRelax: readonly string[]
}

/** The field of an entry that no request has. */
const MAY_RELAX = 'api_may_relax'

/** Reads the list `relayers`. */
export function readRelayers(file: Reader, problems: string[]): FileRelayers {
  if (file.raw('relayers') === undefined) file.problem('relayers is missing: it must be a list')
  const entries = file.items('relayers').flatMap(({ value, path }) => {
    const relayer = readRelayer({ value: without(value, MAY_RELAX), path }, problems)
    if (relayer === undefined) return []
    return [{ relayer, mayRelax: openReader(value, path, problems)?.find(MAY_RELAX, flag) ?? false }]
  })
  return {
    relayers: entries.map(({ relayer }) => relayer),
    apiMayRelax: entries.flatMap(({ relayer, mayRelax }) => (mayRelax ? [relayer.id] : [])),
  }
}

function without(value: unknown, field: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== field))
}
