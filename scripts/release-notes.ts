/** `node scripts/release-notes.ts v1.2.0`: prints what CHANGELOG.md says about a release, or fails when the files do not agree with the tag. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { releaseNotes, versionOfTag } from './release/release-notes.ts'

const read = (file: string) => readFileSync(join(import.meta.dirname, '..', file), 'utf8')
const lock = JSON.parse(read('package-lock.json'))

try {
  const version = versionOfTag(process.argv[2] ?? '', {
    'package.json': JSON.parse(read('package.json')).version,
    'package-lock.json': lock.version,
    'clients/typescript in package-lock.json': lock.packages['clients/typescript'].version,
    'clients/typescript/package.json': JSON.parse(read('clients/typescript/package.json')).version,
    'openapi.yaml': parse(read('openapi.yaml')).info.version,
  })
  process.stdout.write(releaseNotes(read('CHANGELOG.md'), version))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
