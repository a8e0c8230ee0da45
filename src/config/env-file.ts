import { readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { ConfigError } from '../lib/fields.ts'
import { distrust } from '../lib/trusted-files.ts'
import { readText } from './sources.ts'

/** A line that sets a variable without quotes, or with a comment behind the quotes. */
const NAME = /^\s*(?:export\s+)?[A-Za-z_][A-Za-z0-9_.-]*\s*=[^\S\n]*/

/** A line without a variable. */
const EMPTY = /^\s*(?:#.*)?$/

/**
 * Characters that no text has: a file with them is something else, e.g. a database. The last one stands for
 * bytes that are no UTF-8.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const NO_TEXT = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufffd]/

const QUOTES = ['"', "'", '`']

/**
 * Reads a file of variables: lines `NAME=value`, comments and empty lines. A value in quotes may have several
 * lines, `export` may stand before a name. Anything else ends the start, because a program that can place a
 * file there must not be able to hide a variable in one of another kind.
 *
 * @param beside a file of the same folder, whose owner is trusted with this one too
 * @throws ConfigError for a file that has anything else, or that others can write
 */
export function readEnvFile(path: string, beside: string): Readonly<Record<string, string | undefined>> {
  const text = readText(path)
  if (text === undefined) return {}
  const reason = distrust(statSync(path), [statSync(beside).uid])
  if (reason !== undefined)
    throw new ConfigError([`${path} ${reason}, so anyone could set the variables of this service`])
  const line = firstBadLine(text)
  if (line === undefined) return parseEnv(text)
  throw new ConfigError([
    `${path} is no file of variables: line ${line} is neither NAME=value, nor a comment, nor empty`,
  ])
}

/**
 * Returns a problem if the `.env` of the working folder sets missing variables. OpenZeppelin Relayer reads
 * that file; here it may belong to the program whose folder this is.
 */
export function misplacedVariables(
  missing: readonly string[],
  { cwd, folder }: { readonly cwd: string; readonly folder: string },
): string[] {
  const path = join(cwd, '.env')
  if (resolve(folder) === resolve(cwd)) return []
  const set = variablesOf(path)
  const names = missing.filter((name) => set[name])
  if (names.length === 0) return []
  return [`${path} sets ${names.join(', ')}, but is not read: move the lines to ${join(folder, '.env')}`]
}

/** Some folders have something else of this name, e.g. a Python environment. */
function variablesOf(path: string): Readonly<Record<string, string | undefined>> {
  try {
    return parseEnv(readFileSync(path, 'utf8'))
  } catch {
    return {}
  }
}

/** Returns the number of the first line that is not allowed. Secrets are in the others, so none is shown. */
export function firstBadLine(text: string): number | undefined {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/)
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    if (NO_TEXT.test(line) || line.includes('\r')) return at + 1
    if (EMPTY.test(line)) continue
    const [name] = NAME.exec(line) ?? []
    if (name === undefined) return at + 1
    const value = line.slice(name.length)
    const quote = QUOTES.find((one) => value.startsWith(one))
    if (quote === undefined || value.indexOf(quote, 1) > 0) continue
    const end = lines.findIndex((later, index) => index > at && later.includes(quote))
    // Node.js reads a value whose quotes do not end as a line of its own.
    if (end < 0) continue
    const bad = lines.findIndex((later, index) => index > at && index <= end && NO_TEXT.test(later))
    if (bad >= 0) return bad + 1
    at = end
  }
  return undefined
}
