import { readFileSync } from 'node:fs'
import { type ParseArgsConfig, parseArgs } from 'node:util'

/**
 * Reads the options of the script that runs. `--help` prints the comment at its top, and ends it; so does an
 * option that it does not know, with exit code 2.
 */
export function readOptions<const T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  const args = process.argv.slice(2)
  if (args.includes('--help')) {
    process.stdout.write(`${topComment()}\n`)
    process.exit(0)
  }
  try {
    return parseArgs(config)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${topComment()}\n`)
    process.exit(2)
  }
}

function topComment(): string {
  const script = readFileSync(process.argv[1] ?? '', 'utf8')
  const [, comment = ''] = /^\/\*\*\n(.*?)\n \*\/$/ms.exec(script) ?? []
  return comment.replaceAll(/^ \* ?/gm, '')
}
