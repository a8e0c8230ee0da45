import { ALLOWED_NAMES, BANNED_WORDS } from './banned-words.ts'
import { exportedNames } from './exported-names.ts'

/** One sentence for each exported name under `root` with a banned word. */
export function findBannedNames(root: string): string[] {
  return exportedNames(root).flatMap(({ file, line, name }) => {
    const banned = ALLOWED_NAMES.has(name)
      ? undefined
      : wordsOf(name).find((word) => Object.hasOwn(BANNED_WORDS, word))
    return banned === undefined
      ? []
      : [`${file}:${line}: ${name} contains "${banned}"; the field says: ${BANNED_WORDS[banned]}`]
  })
}

/** `isExternallySigned` → is, externally, signed. */
function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[^A-Za-z0-9]+/g, ' ')
    .toLowerCase()
    .split(' ')
}
