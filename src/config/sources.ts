import { accessSync, constants, existsSync as exists, readFileSync, statSync } from 'node:fs'
import { dirname, isAbsolute, resolve } from 'node:path'
import { JsonError, parseJson } from '../contract/exact-integers.ts'
import { oneOf, openReader, type Reader, text, UnreadableConfigError } from '../lib/fields.ts'
import { createSecret, type Secret } from '../security/secrets.ts'

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
 * Reads a secret of the form `{ "type": "plain" | "env" | "file", "value": … }`: the text itself, the name of
 * an environment variable, or a file with the secret on its first line (for mounted secrets). Reports a
 * problem and returns undefined if the source does not have it.
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

/** Reads a field that holds such a secret; undefined if it is absent. */
export function readSecretField(reader: Reader, key: string, sources: Sources): Secret | undefined {
  if (typeof reader.raw(key) !== 'string') return readSecret(reader.object(key), sources)
  reader.problem(
    'must be an object such as { "type": "env", "value": "NAME_OF_A_VARIABLE" }, not the secret itself',
    key,
  )
  return undefined
}

/** The fields of an entry whose value is a URL, or a list of URLs. */
const URL_FIELDS = ['url', 'rpc_urls', 'custom_rpc_urls', 'private_rpc_urls', 'explorer_urls']

/** Stands for a URL that could not be read. The problem that was reported stops the start. */
const UNKNOWN_URL = 'https://unknown.invalid'

/**
 * Returns the entry with each URL that has the form of a secret replaced by its text, because URLs of
 * providers contain keys: `{ "type": "env", "value": "NAME" }`, alone or as the `url` of an endpoint. A text
 * with `${` is a problem: nothing is expanded inside texts.
 */
export function withUrls(
  entry: unknown,
  {
    path,
    sources,
    problems,
  }: { readonly path: string; readonly sources: Sources; readonly problems: string[] },
): unknown {
  if (!isObject(entry)) return entry
  const urlOf = (value: unknown, at: string): unknown => {
    if (Array.isArray(value)) return value.map((item, index) => urlOf(item, `${at}[${index}]`))
    if (typeof value === 'string') return checked(value, at)
    if (!isObject(value)) return value
    if (!('type' in value)) return withUrls(value, { path: at, sources, problems })
    return readSecret(openReader(value, at, problems), sources)?.reveal() ?? UNKNOWN_URL
  }
  const checked = (url: string, at: string): string => {
    if (!url.includes('${')) return url
    problems.push(
      `${at} contains \${…}, which is not expanded; use { "type": "env", "value": "NAME" } for the whole URL`,
    )
    return UNKNOWN_URL
  }
  const fields = Object.entries(entry)
  return Object.fromEntries(
    fields.map(([key, value]) => [key, URL_FIELDS.includes(key) ? urlOf(value, `${path}.${key}`) : value]),
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Resolves a relative path against the folder of the configuration file, so that the folder can move as a
 * whole. Existing files write paths from the working directory (`config/keys/x.json`), so a file there is the
 * fallback.
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

/**
 * Parses a JSON file, with integers beyond 2^53 as `bigint`. Text that is not JSON gives undefined and a
 * problem that never quotes the text.
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
    problems.push(
      `${name} is not JSON${where ? `: see ${where}` : ''}. Only JSON is taken, without comments and commas at the end of lists; YAML is not`,
    )
    return undefined
  }
}

/**
 * Reads a file of the configuration; undefined if it does not exist.
 * @throws UnreadableConfigError for a file that exists and cannot be read
 */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code = 'EIO' } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new UnreadableConfigError(`${path} cannot be read (${code})${reasonOf(path, code)}`)
  }
}

function reasonOf(path: string, code: string): string {
  if (code === 'EISDIR') return ': it is a folder, not a file.'
  const blocking = code === 'EACCES' || code === 'EPERM' ? blockingPart(path) : undefined
  if (blocking === undefined) return '.'
  const { uid, mode } = statSync(blocking)
  const shownMode = (mode & 0o7777).toString(8).padStart(4, '0')
  const user = process.getuid?.()
  return `: ${blocking} belongs to user ${uid} with mode ${shownMode}, and this process runs as user ${user}. Give it to that user: chown -R ${user} ${blocking}`
}

/** Finds the first part of the path, from the root, that this process may not open. */
function blockingPart(path: string): string | undefined {
  const parent = dirname(path)
  const above = parent === path ? undefined : blockingPart(parent)
  if (above !== undefined) return above
  try {
    accessSync(path, statSync(path).isDirectory() ? constants.X_OK : constants.R_OK)
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? path : undefined
  }
}
