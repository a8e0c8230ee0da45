import type { Plugin } from 'rolldown'
import { parseSync, Visitor } from 'rolldown/utils'

/** The part of a program from one position to before another one, in UTF-16 code units. */
interface Part {
  readonly start: number
  readonly end: number
}

/** An escape sequence with the character behind it, or a character that does not fit into one byte. */
const ESCAPE_OR_WIDE = /\\.|[^\0-\xff]/gs

/** After a backslash, the end of a line of the program is no character of the text. */
const LINE_ENDS = '\u2028\u2029'

const ONE_BYTE = 0xff

/**
 * Writes the program without characters above U+00FF. V8 keeps the text of a program as long as it runs, in two bytes for each character as
 * soon as a single one needs them.
 */
export function withOneByteText(): Plugin {
  return {
    name: 'one-byte-text',
    // The bundler writes the texts of a chunk once more after all hooks that see a single one.
    generateBundle: (_options, files) => {
      for (const file of Object.values(files))
        if (file.type === 'chunk') file.code = escapeWideCharacters(file.code, file.fileName)
    },
  }
}

/** Replaces the characters above U+00FF by escape sequences that mean the same. A place that has no such sequence keeps its characters. */
export function escapeWideCharacters(code: string, fileName: string): string {
  const pieces: string[] = []
  let done = 0
  for (const { start, end } of escapableParts(code, fileName)) {
    pieces.push(code.slice(done, start), code.slice(start, end).replaceAll(ESCAPE_OR_WIDE, toEscape))
    done = end
  }
  return [...pieces, code.slice(done)].join('')
}

/** Returns the comments, literals and templates in their order, without those whose tag reads them as they are written. */
function escapableParts(code: string, fileName: string): Part[] {
  const { program, comments } = parseSync(fileName, code)
  const parts: Part[] = [...comments]
  const tagged = new Set<number>()
  new Visitor({
    Literal: (node) => void parts.push(node),
    TemplateElement: (node) => void parts.push(node),
    TaggedTemplateExpression: ({ quasi }) => {
      for (const { start } of quasi.quasis) tagged.add(start)
    },
  }).visit(program)
  return parts.filter(({ start }) => !tagged.has(start)).sort((one, other) => one.start - other.start)
}

/** A backslash before a wide character has no meaning, so the escape sequence of the character replaces both. */
function toEscape(found: string): string {
  const character = found.at(-1) ?? ''
  const code = character.charCodeAt(0)
  if (code <= ONE_BYTE || (found.length > 1 && LINE_ENDS.includes(character))) return found
  return `\\u${code.toString(16).padStart(4, '0')}`
}
