import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { builtFile } from '../lib/package-files.ts'

/**
 * The document as JSON, under the hash of the YAML text that it was made from. YAML of this length takes a quarter of a second and 50 MB to
 * read, JSON a tenth. `npm ci` and the image make the file; a start without it, or with one of another text, reads the YAML.
 */
const PREPARED_JSON = builtFile('openapi.json')

/** Returns the JSON that was made from this YAML text, or undefined. */
export function readPreparedJson(yaml: string, file: string = PREPARED_JSON): string | undefined {
  try {
    const text = readFileSync(file, 'utf8')
    const start = firstLine(yaml)
    return text.startsWith(start) ? text.slice(start.length) : undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Writes the file, which appears complete or not at all. */
export function writePreparedJson(
  { yaml, json }: { yaml: string; json: string },
  file = PREPARED_JSON,
): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(`${file}.new`, firstLine(yaml) + json)
  renameSync(`${file}.new`, file)
}

function firstLine(yaml: string): string {
  return `${createHash('sha256').update(yaml).digest('hex')}\n`
}
