import { suggest } from '../lib/suggest.ts'
import type { Command } from './command.ts'

/** A word like those of commands. Anything else that was typed may be a secret, so it is not repeated (I11). */
const WORD = /^[a-z][a-z-]{0,19}$/

/** Explains a command line that begins with no command, and names the commands that may be meant. */
export function unknownCommand(words: readonly string[], commands: readonly Command[]): string {
  const names = commands.map(({ name }) => name)
  const [first = ''] = words
  const group = names.filter((name) => name.startsWith(`${first} `))
  const typed = words.slice(0, group.length > 0 ? 2 : 1)
  const shown = typed.every((word) => WORD.test(word)) ? ` "${typed.join(' ')}"` : ''
  const near = suggest(words.slice(0, 2).join(' '), names) || suggest(first, names)
  const meant =
    near === '' && group.length > 0
      ? `; there ${group.length === 1 ? 'is' : 'are'} ${group.join(', ')}`
      : near
  return `There is no command${shown}${meant}. relayer --help lists all commands.`
}
