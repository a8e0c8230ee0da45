import type { Reader } from '../lib/fields/reader.ts'
import type { RelayerConfig } from '../relayers/relayer.ts'
import { readRelayer } from '../relayers/relayer-document.ts'

/** Reads the list `relayers`. */
export function readRelayers(file: Reader, problems: string[]): RelayerConfig[] {
  if (file.raw('relayers') === undefined) file.problem('relayers is missing: it must be a list')
  return file.items('relayers').flatMap((item) => readRelayer(item, problems) ?? [])
}
