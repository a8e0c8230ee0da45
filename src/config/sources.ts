import { existsSync as exists, readFileSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { oneOf, text } from '../lib/fields/field-types.ts'
import type { Reader } from '../lib/fields/reader.ts'
import { createSecret, type Secret } from '../security/secret.ts'

/** The sources that values of the file can refer to. */
export interface Sources {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The folder of the configuration file. */
  readonly folder: string
  readonly cwd: string
  /** The environment variables that the file refers to; reading fills the set. */
  readonly referred: Set<string>
}

/**
 * Reads a secret of the form `{ "type": "plain" | "env" | "file", "value": … }`: the text itself, the name of an environment
 * variable, or a file with the secret on its first line (for mounted secrets). Reports a problem and returns undefined when the
 * source does not have it.
 */
export function readSecret(reader: Reader | undefined, sources: Sources): Secret | undefined {
  if (!reader) return undefined
  const type = reader.get('type', oneOf('plain', 'env', 'file'))
  const value = reader.get('value', text)
  reader.finish()
  if (value === '') return undefined
  if (type === 'plain') return createSecret(value)
  if (type === 'file') return readSecretFile(reader, resolveFile(value, sources))
  sources.referred.add(value)
  const found = sources.env[value]
  if (found) return createSecret(found)
  // The message shows only a text that looks like a name: someone may have put the secret itself here.
  const name = /^[A-Z][A-Z0-9_]*$/.test(value) ? ` ${value}` : ''
  reader.problem(`refers to the environment variable${name}, which is not set`)
  return undefined
}

/**
 * Resolves a relative path against the folder of the configuration file, so that the folder can move as a whole. Existing files
 * write paths from the working directory (`config/keys/x.json`), so a file there is the fallback.
 */
export function resolveFile(path: string, { folder, cwd }: Pick<Sources, 'folder' | 'cwd'>): string {
  if (isAbsolute(path)) return path
  const beside = resolve(folder, path)
  return exists(beside) || !exists(resolve(cwd, path)) ? beside : resolve(cwd, path)
}

/** A key in PEM has several lines; of other files the first one is the secret. */
const PEM = '-----BEGIN '

function readSecretFile(reader: Reader, path: string): Secret | undefined {
  try {
    const content = readFileSync(path, 'utf8')
    const secret = content.startsWith(PEM) ? content : content.split(/\r?\n/, 1)[0]
    if (secret) return createSecret(secret)
    reader.problem('refers to a file whose first line is empty')
  } catch (error) {
    reader.problem(`refers to a file that cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  return undefined
}
