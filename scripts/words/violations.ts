import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ALLOWED_NAMES, BANNED_PROSE, BANNED_WORDS } from './banned-words.ts'
import { declaredNames } from './declared-names.ts'

/** One sentence for each declared name under `root` with a banned word. */
export function findBannedNames(root: string): string[] {
  return declaredNames(root).flatMap(({ file, line, name }) => {
    const banned = ALLOWED_NAMES.has(name)
      ? undefined
      : wordsOf(name).find((word) => Object.hasOwn(BANNED_WORDS, word))
    return banned === undefined
      ? []
      : [`${file}:${line}: ${name} contains "${banned}"; the field says: ${BANNED_WORDS[banned]}`]
  })
}

/** One sentence for each line of these files, by path under `root`, with a word or a phrase that people do not write. */
export function findBannedProse(root: string, files: readonly string[]): string[] {
  return files.flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .flatMap((text, index) => {
        const banned = Object.keys(BANNED_PROSE).find((phrase) =>
          new RegExp(`\\b${phrase}\\b`, 'i').test(text),
        )
        return banned === undefined
          ? []
          : [`${file}:${index + 1}: "${banned}" is not what people write; write: ${BANNED_PROSE[banned]}`]
      }),
  )
}

/**
 * The name of a file of the project in a comment. Names of files elsewhere end otherwise, or stand in a
 * longer text.
 */
const FILE_NAME = /`(?:[\w.-]+\/)*([\w.-]+\.tsx?)`/g

/** One sentence for each comment in these files that names a file that does not exist. */
export function findMissingFiles(root: string, files: readonly string[]): string[] {
  const existing = new Set(files.map((file) => basename(file)))
  return files.flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .flatMap((text, index) => {
        const comment = /(?:^\s*\*|\/\/|\/\*).*/.exec(text)?.[0] ?? ''
        const named = [...comment.matchAll(FILE_NAME)].map(([, name = '']) => name)
        const missing = named.filter((name) => !existing.has(name))
        return missing.map((name) => `${file}:${index + 1}: there is no file ${name}`)
      }),
  )
}

/** `isExternallySigned` → is, externally, signed. */
function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[^A-Za-z0-9]+/g, ' ')
    .toLowerCase()
    .split(' ')
}
