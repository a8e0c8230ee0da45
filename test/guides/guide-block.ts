import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const GUIDES = resolve(import.meta.dirname, '../../docs')

/** Returns the shell block of a guide whose first line is this comment. */
function guideBlock(guide: string, comment: string): string {
  const text = readFileSync(join(GUIDES, guide), 'utf8')
  const blocks = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block)
  const found = blocks.find((block) => block.startsWith(`# ${comment}\n`))
  if (found === undefined) throw new Error(`${guide} has no block "# ${comment}"`)
  return found
}

/** Runs a block of the guide about backups as a reader would, with these variables. */
export async function runBackupBlock(
  comment: string,
  variables: Readonly<Record<string, string>>,
): Promise<void> {
  const block = guideBlock('backup-and-restore.md', comment)
  const env = { PATH: process.env.PATH, ...variables }
  await promisify(execFile)('bash', ['--norc', '-eu', '-c', block], { env })
}
