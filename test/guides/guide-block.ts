import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { program } from '../support/program.ts'

const GUIDES = resolve(import.meta.dirname, '../../docs')

/** Returns the shell block of a guide whose first line is this comment. */
export function guideBlock(guide: string, comment: string): string {
  const text = readFileSync(join(GUIDES, guide), 'utf8')
  const blocks = [...text.matchAll(/^( *)```sh\n([\s\S]*?)```/gm)].map(([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )
  const found = blocks.find((block) => block.startsWith(`# ${comment}\n`))
  if (found === undefined) throw new Error(`${guide} has no block "# ${comment}"`)
  return found
}

/** Runs a block of the guide about backups as a reader would, with these variables. Returns what it prints; a command may exit with 0 or 1. */
export async function runBackupBlock(
  comment: string,
  variables: Readonly<Record<string, string>>,
): Promise<string> {
  const block = guideBlock('backup-and-restore.md', comment)
  const env = { PATH: process.env.PATH, ...variables }
  const script = `relayer() { "${process.execPath}" "${program()}" "$@"; }\n${block}`
  const run = promisify(execFile)('bash', ['--norc', '-eu', '-c', script], { env })
  const { stdout } = await run.catch((error: { code: unknown; stdout: string }) => {
    if (error.code === 1 && error.stdout !== '') return error
    throw error
  })
  return stdout
}
